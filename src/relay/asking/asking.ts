import type { AgentClient } from '../../agent/client.ts';
import { AgentBusyError, AgentNotFoundError, AgentRejectedError } from '../../agent/errors.ts';
import { fixedNote } from '../../reply/notes.ts';
import * as words from '../../reply/words.ts';
import type { Choices, FileNote, Thread, Turn } from '../../store/tables.ts';
import { AccountGone, underAccount } from '../accounts/standing.ts';
import type { RelayParts, Workspace } from '../context.ts';
import { type Attachments, type UploadProgress, uploadAttachments } from '../files/attachments.ts';
import { TurnEnds } from '../interruption.ts';
import type { Lease } from '../lease.ts';
import { tryToTell } from '../telling.ts';
import { forgetLostProject, threadProject } from './project.ts';
import { choicesIn, freezeQuestion, messageOf, readQuestion } from './question.ts';
import { sentBefore } from './resending.ts';
import { type Delivered, deliver } from './sending.ts';
import { type TaskStart, threadTask } from './task.ts';

/** The service's answer to a value that it does not know. */
const unprocessable = 422;

const nothingAttached: Attachments = { attached: [], notes: [], bytesUp: 0 };

/** What the thread is told while a message is brought to the service, and how patiently that is tried. */
export interface AskingManner {
  uploading: UploadProgress;
  files(notes: readonly FileNote[]): void;
  step(step: 'uploading' | 'working'): void;
  /** Aborted where the message is not to be sent any more; the reason is what is thrown then. */
  stop: AbortSignal;
  /** Runs a step, again and again where its error passes by itself. */
  patiently: <T>(step: () => Promise<T>) => Promise<T>;
}

/** Brings one turn's message to the service: project, task, files, message; each step is recorded. */
export class Asking {
  readonly #parts: RelayParts;
  readonly #workspace: Workspace;
  readonly #lease: Lease;
  readonly #manner: AskingManner;
  #turn: Turn;
  /** Whether this run gave the thread's task up, or its project: a service that contradicts itself ends there. */
  #hasLeft = false;
  #hasForgotten = false;

  constructor(parts: RelayParts, workspace: Workspace, turn: Turn, lease: Lease, manner: AskingManner) {
    this.#parts = parts;
    this.#workspace = workspace;
    this.#turn = turn;
    this.#lease = lease;
    this.#manner = manner;
  }

  /** Takes the steps that are left. Throws TurnEnds where the message is not to be sent. */
  async go(): Promise<Delivered> {
    const isBegun = await this.#before(async (thread) => isBegunIn(thread));
    const isFresh = this.#turn.content === null;
    return this.#inProject(async () => {
      const taskId = await this.#before((thread) => this.#task(thread));
      while (this.#turn.content === null) {
        const brought = await this.#attach();
        this.#turn = await this.#before((thread) =>
          freezeQuestion(this.#parts, this.#workspace, thread, this.#turn, brought, this.#lease),
        );
      }
      if (isFresh && isBegun) await this.#tellWhatIsFixed();
      this.#manner.step('working');
      return this.#manner.patiently(() => this.#deliver(taskId));
    });
  }

  /** Takes steps that need the thread's project; all of them again where it gets another one meanwhile. */
  async #inProject<T>(steps: () => Promise<T>): Promise<T> {
    for (;;) {
      await this.#before((thread) =>
        threadProject(this.#parts, this.#workspace, thread, this.#turn.id, this.#lease),
      );
      try {
        return await steps();
      } catch (error) {
        if (!(error instanceof BeginsAgain)) throw error;
      }
    }
  }

  /** A step before the message is sent, taken patiently, each time under the account of now: a stop ends the turn there. */
  async #before<T>(step: (thread: Thread) => Promise<T>): Promise<T> {
    return this.#manner.patiently(async () => {
      if (this.#turn.send_intended_at === null) this.#manner.stop.throwIfAborted();
      return step(await this.#threadOf(this.#turn));
    });
  }

  async #task(thread: Thread): Promise<string> {
    if (thread.task_id !== null) return thread.task_id;
    const projectId = projectOf(thread);
    const message = await messageOf(this.#parts, this.#turn);
    const question = await readQuestion(this.#parts, this.#workspace, thread, message, this.#lease);
    const start = await this.#startOf(question);
    try {
      return await threadTask(this.#parts, thread, projectId, start, this.#lease);
    } catch (error) {
      if (error instanceof AgentRejectedError && error.status === unprocessable && start.model !== undefined)
        throw new TurnEnds('refused', words.unknownModel(start.model, error.words), error, 'choose');
      return this.#unlessLost(thread, error);
    }
  }

  async #startOf({ title, choices }: { title: string; choices: Choices }): Promise<TaskStart> {
    const { workspace, channel } = this.#turn;
    const usual =
      choices.model === undefined ? await this.#parts.store.channels.get(workspace, channel) : null;
    return {
      title,
      model: choices.model ?? usual?.model ?? undefined,
      noFallback: choices.noFallback,
      autoMode: choices.mode === 'auto' ? true : undefined,
      planMode: choices.mode === 'plan' ? true : undefined,
    };
  }

  /** What holds for a whole task is fixed at its start: a note says so, and offers a new thread. */
  async #tellWhatIsFixed(): Promise<void> {
    const { words: said, resends } = await messageOf(this.#parts, this.#turn);
    if (said === null || resends !== null) return;
    const { skill: _, ...fixed } = choicesIn(said, this.#workspace.bot.userId, this.#parts.settings.offers);
    if (Object.keys(fixed).length === 0) return;
    const { workspace, channel, root: threadTs, asker: person, id } = this.#turn;
    const note = fixedNote(id, Object.hasOwn(fixed, 'model'));
    tryToTell(this.#parts, { workspace, channel, person, threadTs }, note);
  }

  /** Brings files that were shared without words to the service: they wait there for the thread's next message. */
  async keep(): Promise<Attachments> {
    return this.#inProject(() => this.#attach());
  }

  async #attach(): Promise<Attachments> {
    const message = await messageOf(this.#parts, this.#turn);
    const said = message.words;
    if (said === null || (said.files ?? []).length === 0) return nothingAttached;
    // What is sent again takes the files along that are at the service already.
    if ((await sentBefore(this.#parts.store, message)) !== undefined) return nothingAttached;
    this.#manner.step('uploading');
    const brought = await this.#before((thread) =>
      uploadAttachments({
        parts: this.#parts,
        workspace: this.#workspace,
        thread,
        turn: this.#turn,
        projectId: projectOf(thread),
        words: said,
        lease: this.#lease,
        stop: this.#manner.stop,
        onProgress: this.#manner.uploading,
      }).catch((error: unknown) => this.#unlessLost(thread, error)),
    );
    this.#manner.files(brought.notes);
    this.#turn = await this.#parts.store.turns.record(this.#turn, {
      file_notes: brought.notes,
      bytes_up: brought.bytesUp,
    });
    return brought;
  }

  async #deliver(taskId: string): Promise<Delivered> {
    const turn = await this.#parts.store.turns.get(this.#turn.workspace, this.#turn.id);
    if (turn === undefined) throw new TurnEnds('withdrawn', null);
    if (turn.send_intended_at === null) {
      this.#manner.stop.throwIfAborted();
      if (turn.stop_asked_at !== null) throw new TurnEnds('cancelled', null);
    }
    const agent = this.#parts.agent((await this.#threadOf(turn)).account);
    try {
      return await deliver(this.#parts, agent, taskId, turn, this.#lease, this.#manner.stop);
    } catch (error) {
      if (error instanceof AgentBusyError) {
        const { status } = await agent.getTask(taskId);
        // Busy passes by itself, but a task that has ended may take no more at all.
        if (status === 'failed' || status === 'cancelled') {
          await this.#leave(taskId);
          throw new TurnEnds('refused', words.taskTakesNoMore, error);
        }
      }
      const skill = turn.skill ?? this.#parts.settings.skill;
      if (error instanceof AgentNotFoundError && skill !== undefined && (await exists(agent, taskId))) {
        if (skill === this.#parts.settings.skill)
          throw new TurnEnds('refused', words.unknownSkill(skill), error);
        throw new TurnEnds('refused', words.unknownChosenSkill(skill), error, 'choose');
      }
      if (error instanceof AgentNotFoundError) await this.#leave(taskId);
      throw error;
    }
  }

  /**
   * Throws the error of a step, unless it failed because the service does not know the thread's project any more: then
   * the message begins again in another one, once.
   */
  async #unlessLost(thread: Thread, error: unknown): Promise<never> {
    if (!(error instanceof AgentNotFoundError) || error instanceof AccountGone) throw error;
    if (thread.task_id !== null) await this.#leave(thread.task_id);
    else if (!this.#hasForgotten && (await forgetLostProject(this.#parts, thread))) {
      this.#hasForgotten = true;
      throw new BeginsAgain();
    }
    throw error;
  }

  /** Gives the thread's task up where somebody tries again: the message begins another, once. */
  async #leave(taskId: string): Promise<void> {
    const { resends } = await messageOf(this.#parts, this.#turn);
    if (resends === null || this.#hasLeft) return;
    await this.#parts.store.threads.leaveTask(this.#turn, taskId);
    this.#hasLeft = true;
    this.#parts.log.info({ turn: this.#turn.id, left: taskId }, 'the thread goes on in another task');
    throw new BeginsAgain();
  }

  async #threadOf(turn: Turn): Promise<Thread> {
    const { store, accountOf } = this.#parts;
    return underAccount(store, accountOf, await store.threads.expect(turn), turn);
  }
}

/** The thread has another project or another task by now: the message's way begins again where that is needed first. */
class BeginsAgain extends Error {}

/** The project that the thread had when its steps began; throws BeginsAgain where it has left that since. */
function projectOf({ project_id: projectId }: Thread): string {
  if (projectId === null) throw new BeginsAgain();
  return projectId;
}

/** Whether the thread's task was begun by an earlier message: what holds for the whole of it is fixed. */
function isBegunIn({ task_id, writers }: Thread): boolean {
  return task_id !== null && writers.length > 0;
}

async function exists(agent: AgentClient, taskId: string): Promise<boolean> {
  try {
    await agent.getTask(taskId);
    return true;
  } catch (error) {
    if (error instanceof AgentNotFoundError) return false;
    throw error;
  }
}
