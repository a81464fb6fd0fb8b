import {
  AgentBusyError,
  AgentForbiddenError,
  AgentNotFoundError,
  AgentRejectedError,
  undefinedIfNotFound,
} from '../../agent/errors.ts';
import { fixedChoicesNote } from '../../render/messages/button-notes.ts';
import * as strings from '../../render/strings/index.ts';
import type { FileNote, Message, TaskChoices, Thread, Turn } from '../../store/schema.ts';
import type { TaskIntent } from '../../store/threads/threads.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import { AccountGone, ensureCurrentAccount } from '../installations/service-accounts.ts';
import { choicesIn } from '../reading/message-flags.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import type { FailingTime } from '../runtime/patience.ts';
import { trySendEphemeral } from '../runtime/private-messages.ts';
import { TurnEnded } from '../runtime/turn-interruptions.ts';
import { type Attachments, type UploadProgressListener, uploadAttachments } from './attachments.ts';
import { ensureThreadProject, findProject, forgetMissingProject } from './channel-project.ts';
import { type DeliveredMessage, deliverOnce, lastMessageId } from './delivery.ts';
import { NO_LINKS } from './linked-messages.ts';
import { findResentMessage, messageOfTurn, readOutgoingMessage } from './outgoing-message.ts';
import { recordSentContent, type SentAlong } from './sent-content.ts';
import { type SharedItem, sharedItemsOf } from './shared-items.ts';
import { ensureThreadTask, type TaskOptions } from './thread-task.ts';

/** The service's status for a value that it does not know. */
const HTTP_UNPROCESSABLE = 422;

/** What the thread shows while a message is sent, and how steps are retried. */
export interface SenderOptions {
  /** The thread as it was when the turn began here. */
  thread?: Thread | undefined;
  /** The channel's model for new tasks. */
  channelModel: string | null;
  onUploadProgress: UploadProgressListener;
  onFileNotes(notes: readonly FileNote[]): void;
  onStep(step: 'uploading' | 'working'): void;
  /** Records that the thread's task is about to be started. */
  recordTaskIntent(intent: TaskIntent): Promise<void>;
  /** Aborted if the message must not be sent. Its reason is thrown. */
  stopSignal: AbortSignal;
  /** Runs a step, and retries it after transient errors. */
  withRetry: <T>(step: () => Promise<T>) => Promise<T>;
}

/** Sends one turn's message to the service in recorded steps: project, task, files, message. */
export class Sender {
  readonly #work: ThreadWork;
  readonly #options: SenderOptions;
  #turn: Turn;
  /** The thread and the message as this run knows them; read again after an error, because a wait follows. */
  #thread: Thread | undefined;
  /** Whether the turn has been read since the last attempt to deliver it. */
  #isTurnRead = true;
  #message: Message | undefined;
  /** The task that this run has started, until it is recorded. */
  #startedTaskId: string | null = null;
  /** Whether this run has recorded, or may have recorded, that it starts a task, and has not called the service. */
  #hasUnusedTaskIntent = false;
  /** Whether the intent to send was recorded just now, and nothing was sent since. */
  #isIntended = false;
  /** Set once this run has left the thread's task or project, so that a service that contradicts itself causes no loop. */
  #hasLeftTask = false;
  #hasForgottenProject = false;
  readonly #failingFiles = new Map<string, FailingTime>();

  constructor(work: ThreadWork, turn: Turn, options: SenderOptions) {
    this.#work = work;
    this.#turn = turn;
    this.#options = options;
    this.#thread = options.thread;
  }

  /** Takes the remaining steps. Throws TurnEnded if the message must not be sent. */
  async send(): Promise<DeliveredMessage & { account_id: string }> {
    const wasTaskStarted = await this.#beforeSending(async (thread) => isTaskStarted(thread));
    const isFresh = this.#turn.prompt === null;
    return this.#withProject(async (projectId) => {
      const taskId = await this.#beforeSending((thread) => this.#ensureTask(thread, projectId));
      while (this.#turn.prompt === null) {
        const attachments = await this.#uploadFiles();
        await this.#beforeSending((thread) => this.#freeze(thread, taskId, attachments));
      }
      await this.#recordTask();
      if (isFresh && wasTaskStarted) await this.#notifyFixedOptions();
      this.#options.onStep('working');
      const delivered = await this.#options.withRetry(() => this.#deliver(taskId));
      return { ...delivered, account_id: (await this.#threadUnderAccount(delivered.turn)).account_id };
    });
  }

  /** Takes steps that need the thread's project. Repeats them all if the thread gets another project meanwhile. */
  async #withProject<T>(steps: (projectId: string) => Promise<T>): Promise<T> {
    for (;;) {
      const projectId = await this.#beforeSending((thread) => findProject(this.#work, thread, this.#turn.id));
      try {
        return await steps(projectId);
      } catch (error) {
        this.#forget();
        if (!(error instanceof RestartSending) && !(await this.#leaveLost(projectId, error))) throw error;
        this.#forget();
      }
    }
  }

  /** Takes a step before the message is sent, with retries, each time under the current account. A stop ends the turn. */
  async #beforeSending<T>(step: (thread: Thread) => Promise<T>): Promise<T> {
    return this.#options.withRetry(async () => {
      if (this.#turn.send_intended_at === null) this.#options.stopSignal.throwIfAborted();
      try {
        return await step(await this.#threadUnderAccount(this.#turn));
      } catch (error) {
        this.#forget();
        await this.#recordTask();
        throw error;
      }
    });
  }

  async #recordTask(): Promise<void> {
    if (this.#startedTaskId === null) return;
    await this.#work.deps.store.threads.bindTask(this.#turn, this.#startedTaskId);
    this.#startedTaskId = null;
  }

  async #freeze(thread: Thread, taskId: string, attachments: SentAlong): Promise<void> {
    // Delivery reads it again where it cannot be read now.
    const read = () => lastMessageId(this.#work.deps.agent(thread.account_id), taskId).catch(() => undefined);
    this.#turn = await recordSentContent(this.#work, thread, this.#turn, {
      attachments,
      known: this.#message,
      lastMessageId: this.#startedTaskId === null ? await read() : '',
      taskId,
      startedTaskId: this.#startedTaskId,
      stopSignal: this.#options.stopSignal,
    });
    if (this.#turn.prompt === null) return this.#forget();
    this.#startedTaskId = null;
    this.#isIntended = this.#turn.send_intended_at !== null;
  }

  #forget(): void {
    this.#thread = undefined;
    this.#message = undefined;
  }

  async #currentMessage(): Promise<Message> {
    this.#message ??= await messageOfTurn(this.#work.deps, this.#turn);
    return this.#message;
  }

  async #ensureTask(thread: Thread, projectId: string): Promise<string> {
    if (thread.task_id !== null) return thread.task_id;
    if (thread.project_id !== null && thread.project_id !== projectId) throw new RestartSending();
    const message = await this.#currentMessage();
    const outgoing = await readOutgoingMessage(this.#work, thread, message, this.#options.stopSignal);
    const taskOptions = this.#newTaskOptions(outgoing);
    try {
      const record = async (intent: TaskIntent) => {
        this.#hasUnusedTaskIntent = true;
        await this.#options.recordTaskIntent(intent);
        this.#hasUnusedTaskIntent = false;
      };
      const known = this.#hasUnusedTaskIntent ? { ...thread, task_intended_at: null } : thread;
      const task = await ensureThreadTask(this.#work, known, projectId, taskOptions, record);
      const { taskId: task_id, isRecorded } = task;
      if (!isRecorded) this.#startedTaskId = task_id;
      this.#thread = { ...thread, project_id: projectId, task_id, task_intended_at: null };
      return task_id;
    } catch (error) {
      if (error instanceof AgentForbiddenError)
        throw new TurnEnded('refused', strings.projectForbidden(projectId), error);
      if (
        error instanceof AgentRejectedError &&
        error.status === HTTP_UNPROCESSABLE &&
        taskOptions.model !== undefined
      )
        throw new TurnEnded(
          'refused',
          strings.unknownModel(taskOptions.model, error.reason),
          error,
          'choose',
        );
      throw error;
    }
  }

  #newTaskOptions({ title, choices }: { title: string; choices: TaskChoices }): TaskOptions {
    return {
      title,
      model: choices.model ?? this.#options.channelModel ?? undefined,
      noFallback: choices.noFallback,
      autoMode: choices.mode === 'auto' ? true : undefined,
      planMode: choices.mode === 'plan' ? true : undefined,
    };
  }

  /** Options of a whole task are fixed when it starts: a note says so and offers a new thread. */
  async #notifyFixedOptions(): Promise<void> {
    const { content, resends_turn_id } = await messageOfTurn(this.#work.deps, this.#turn);
    if (content === null || resends_turn_id !== null) return;
    const { skill: _, ...fixed } = choicesIn(
      content,
      this.#work.workspace.bot.userId,
      this.#work.deps.settings.supportedTaskOptions,
    );
    if (Object.keys(fixed).length === 0) return;
    const { workspace, channel, thread_ts: threadTs, asked_by: person, id } = this.#turn;
    const note = fixedChoicesNote(id, Object.hasOwn(fixed, 'model'));
    trySendEphemeral(this.#work.deps, { workspace, channel, person, threadTs }, note);
  }

  /** Uploads files that were shared without text. They are kept for the thread's next message. */
  async keepFiles(): Promise<Attachments> {
    return this.#withProject(() => this.#uploadFiles());
  }

  async #uploadFiles(): Promise<SentAlong> {
    const message = await this.#currentMessage();
    const made = { editedTs: message.edited_ts, links: NO_LINKS };
    const none: SentAlong = { attached_file_ids: [], notes: [], uploadedBytes: 0, ...made };
    if (message.content === null) return none;
    // A resent message goes with the files that are at the service already.
    if ((await findResentMessage(this.#work.deps.store, message)) !== undefined) return none;
    const { withFiles, notes, links } = await this.#beforeSending((thread) =>
      readOutgoingMessage(this.#work, thread, message, this.#options.stopSignal),
    );
    const scope = { people: this.#work.workspace.people, channel: message.channel };
    const items = await this.#beforeSending(() => sharedItemsOf(scope, withFiles));
    if (![items, notes, this.#turn.file_notes].some((list) => list?.length)) return { ...none, links };
    const uploaded = items.length === 0 ? none : await this.#upload(items);
    const attachments = { ...none, ...uploaded, notes: [...uploaded.notes, ...notes], links };
    this.#options.onFileNotes(attachments.notes);
    this.#turn = await this.#work.deps.store.turns.record(this.#turn, {
      file_notes: attachments.notes,
      uploaded_bytes: attachments.uploadedBytes,
    });
    return attachments;
  }

  async #upload(items: readonly SharedItem[]): Promise<Attachments> {
    await this.#recordTask();
    this.#options.onStep('uploading');
    return this.#beforeSending(async (thread) => {
      const projectId = await ensureThreadProject(this.#work, thread, this.#turn.id);
      return uploadAttachments({
        ...this.#work,
        thread,
        turn: this.#turn,
        projectId,
        items,
        failing: this.#failingFiles,
        stopSignal: this.#options.stopSignal,
        onProgress: this.#options.onUploadProgress,
      });
    });
  }

  async #deliver(taskId: string): Promise<DeliveredMessage> {
    const { store } = this.#work.deps;
    const turn = this.#isTurnRead ? this.#turn : await store.turns.get(this.#turn.workspace, this.#turn.id);
    this.#isTurnRead = false;
    if (turn === undefined) throw new TurnEnded('withdrawn', null);
    if (turn.send_intended_at === null) {
      this.#options.stopSignal.throwIfAborted();
      if (turn.stop_requested_at !== null) throw new TurnEnded('cancelled', null);
    }
    const agent = this.#work.deps.agent((await this.#threadUnderAccount(turn)).account_id);
    try {
      const isIntended = this.#isIntended;
      this.#isIntended = false;
      return await deliverOnce({ ...this.#work, agent, taskId }, turn, this.#options.stopSignal, isIntended);
    } catch (error) {
      if (error instanceof AgentBusyError) {
        const { status } = await agent.getTask(taskId);
        // A busy task becomes free again, but an ended task may never take another message.
        if (status === 'failed' || status === 'cancelled') {
          if (await this.#leaveTask(taskId)) throw new RestartSending();
          throw new TurnEnded('refused', strings.taskClosed, error);
        }
      }
      const skill = turn.skill ?? this.#work.deps.settings.skill;
      if (
        error instanceof AgentNotFoundError &&
        skill !== undefined &&
        (await undefinedIfNotFound(() => agent.getTask(taskId))) !== undefined
      ) {
        if (skill === this.#work.deps.settings.skill)
          throw new TurnEnded('refused', strings.unknownSkill(skill), error);
        throw new TurnEnded('refused', strings.unknownChosenSkill(skill), error, 'choose');
      }
      throw error;
    }
  }

  /**
   * Leaves what a step failed for because the service no longer knows it: the thread's project, once, or its task. False
   * if there is nothing to leave.
   */
  async #leaveLost(projectId: string, error: unknown): Promise<boolean> {
    if (!(error instanceof AgentNotFoundError) || error instanceof AccountGone) return false;
    return this.#options.withRetry(async () => {
      const thread = await this.#threadUnderAccount(this.#turn);
      if (thread.task_id !== null) return this.#leaveTask(thread.task_id);
      if (this.#hasForgottenProject) return false;
      const lost = { ...thread, project_id: thread.project_id ?? projectId };
      this.#hasForgottenProject = await forgetMissingProject(this.#work.deps, lost);
      return this.#hasForgottenProject;
    });
  }

  /**
   * Leaves the thread's task where a person retries a message: the message starts another task, once, and is frozen anew,
   * because what was said in this one goes with it.
   */
  async #leaveTask(taskId: string): Promise<boolean> {
    const { store, log } = this.#work.deps;
    const { resends_turn_id } = await messageOfTurn(this.#work.deps, this.#turn);
    if (resends_turn_id === null || this.#hasLeftTask) return false;
    this.#turn = await store.transaction(async ({ threads, messages, turns }) => {
      await threads.leaveTask(this.#turn, taskId);
      await messages.leaveUnsent(messageKeyOf(this.#turn), 'waiting');
      return turns.record(this.#turn, { prompt: null, quotation_length: 0, send_intended_at: null });
    });
    this.#hasLeftTask = true;
    log.info({ turn: this.#turn.id, left: taskId }, 'the thread continues in another task');
    return true;
  }

  async #threadUnderAccount(turn: Turn): Promise<Thread> {
    const { store, accountOf } = this.#work.deps;
    const thread = this.#thread ?? (await store.threads.getOrThrow(turn));
    this.#thread = await ensureCurrentAccount(store, accountOf, thread, turn);
    return this.#thread;
  }
}

/** The thread has another project or task now: sending starts over. */
class RestartSending extends Error {}

/** Whether an earlier message started the thread's task: options of the whole task are fixed. */
function isTaskStarted({ task_id, participant_ids }: Thread): boolean {
  return task_id !== null && participant_ids.length > 0;
}
