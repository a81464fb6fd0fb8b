import type { AgentClient } from '../agent/client.ts';
import { AgentBusyError, AgentNotFoundError } from '../agent/errors.ts';
import type { Message as AgentMessage } from '../agent/schema.ts';
import * as words from '../reply/words.ts';
import { StoreError } from '../store/errors.ts';
import type { Thread, Turn, TurnOutcome } from '../store/tables.ts';
import { isDirect } from './arrivals.ts';
import { skippedNotes, uploadAttachments } from './attachments.ts';
import type { RelayParts, Workspace } from './context.ts';
import { leaveThread } from './departure.ts';
import type { Lease } from './dispatcher.ts';
import { Follow, isSettledTask } from './follow.ts';
import { HandOver, TurnEnds } from './interruption.ts';
import { hasNoPlace, LiveReply } from './live-reply.ts';
import { patiently, pause } from './patience.ts';
import { channelProject } from './project.ts';
import { asksNothing, freezeQuestion, readQuestion } from './question.ts';
import type { ReadRate } from './read-rate.ts';
import { ReplyState } from './reply-state.ts';
import { postResults } from './results.ts';
import { type Delivered, deliver } from './sending.ts';
import { threadTask } from './task.ts';
import { ThreadPosts } from './thread-posts.ts';
import { ending, lineOutcome, outcomeOf, systemLines } from './turn-end.ts';

/** How often a task that still works in the background is asked (ms). */
const backgroundEveryMs = 2_000;
/** A turn that took longer (ms) ends with a post that mentions the asker: edits notify nobody. */
const longTurnMs = 120_000;

/**
 * One turn, from the waiting message to the posted results. Every step is recorded before and after its side effect,
 * so that another process goes on from the last one.
 */
export class TurnRun {
  readonly #parts: RelayParts;
  readonly #workspace: Workspace;
  readonly #lease: Lease;
  readonly #rate: ReadRate;
  readonly #state: ReplyState;
  readonly #reply: LiveReply;
  #turn: Turn;
  #follow: Follow | undefined;
  /** The reply, where the answer to the send told it. */
  #known: AgentMessage | null = null;

  constructor(parts: RelayParts, workspace: Workspace, turn: Turn, lease: Lease, rate: ReadRate) {
    this.#parts = parts;
    this.#workspace = workspace;
    this.#turn = turn;
    this.#lease = lease;
    this.#rate = rate;
    this.#state = new ReplyState(turn, parts.settings.fileLimitBytes, () => this.#reply.changed());
    this.#reply = new LiveReply(parts, workspace, turn, this.#source(), lease);
  }

  /** Takes all steps that are left. Throws HandOver, or the lease's reason once it is lost. */
  async go(): Promise<void> {
    try {
      await this.#steps();
    } catch (error) {
      if (error instanceof HandOver || error instanceof StoreError || this.#lease.signal.aborted) throw error;
      if (!hasNoPlace(error)) return await this.#endEarly(error);
      this.#parts.log.warn({ err: error, turn: this.#turn.id }, 'the reply has no place in Slack any more');
      await leaveThread(this.#parts, this.#workspace, this.#turn, this.#lease);
      await this.#close('abandoned');
    } finally {
      await this.#reply.close();
    }
  }

  /** Ends a turn that came no further for too many takeovers. */
  async abandon(): Promise<void> {
    this.#parts.log.error({ turn: this.#turn.id }, 'turn abandoned: too many attempts without progress');
    try {
      await this.#endEarly(new TurnEnds('abandoned', words.abandoned));
    } finally {
      await this.#reply.close();
    }
  }

  async #steps(): Promise<void> {
    await this.#open();
    if (this.#turn.user_message_id === null) {
      await this.#ask();
    }
    await this.#answer();
    await this.#finish();
  }

  /** The first reply, before any call to the service. */
  async #open(): Promise<void> {
    const message = await this.#message();
    if (this.#turn.content === null && message.words !== null) {
      if (asksNothing(message.words, this.#workspace.bot.userId))
        throw new TurnEnds('helped', isDirect(this.#turn.channel) ? words.helpInDm : words.help);
    }
    await this.#patiently(() => this.#reply.open());
    if (this.#turn.first_visible_at === null) await this.#record({ first_visible_at: new Date() });
  }

  /** Brings the question to the service: project, task, files, message. */
  async #ask(): Promise<void> {
    const projectId = await this.#patiently(async () =>
      channelProject(this.#parts, this.#workspace, await this.#thread(), this.#turn.id, this.#lease),
    );
    const taskId = await this.#patiently(async () => {
      const thread = await this.#thread();
      if (thread.task_id !== null) return thread.task_id;
      const message = await this.#message();
      const { title } = await readQuestion(this.#parts, this.#workspace, thread, message, this.#lease);
      return threadTask(this.#parts, thread, projectId, title, this.#lease);
    });
    if (this.#turn.content === null) {
      const attached = await this.#attach((await this.#thread()).project_id ?? projectId);
      this.#turn = await this.#patiently(async () =>
        freezeQuestion(
          this.#parts,
          this.#workspace,
          await this.#thread(),
          this.#turn,
          { attached },
          this.#lease,
        ),
      );
    }
    this.#state.step('working');
    const agent = await this.#agent();
    const delivered = await this.#patiently(() => this.#deliver(agent, taskId));
    this.#turn = delivered.turn;
    this.#known = delivered.reply;
    // A stop that was asked for while the message was on its way found nothing to cancel yet.
    if (delivered.turn.stop_asked_at !== null) await this.#patiently(() => agent.cancelTask(taskId));
  }

  async #deliver(agent: AgentClient, taskId: string): Promise<Delivered> {
    const turn = await this.#parts.store.turns.get(this.#turn.workspace, this.#turn.id);
    if (turn === undefined) throw new TurnEnds('withdrawn', null);
    if (turn.stop_asked_at !== null && turn.send_intended_at === null) throw new TurnEnds('cancelled', null);
    try {
      return await deliver(this.#parts, agent, taskId, turn, this.#lease);
    } catch (error) {
      if (error instanceof AgentBusyError) {
        const { status } = await agent.getTask(taskId);
        // Busy passes by itself, but a task that has ended may take no more at all.
        if (status === 'failed' || status === 'cancelled') {
          throw new TurnEnds('refused', words.taskTakesNoMore, error);
        }
      }
      const { skill } = this.#parts.settings;
      if (error instanceof AgentNotFoundError && skill !== undefined && (await exists(agent, taskId))) {
        throw new TurnEnds('refused', words.unknownSkill(skill), error);
      }
      throw error;
    }
  }

  async #attach(projectId: string): Promise<string[]> {
    const { words: said } = await this.#message();
    if (said === null || (said.files ?? []).length === 0) return [];
    this.#state.step('uploading');
    const done = await this.#patiently(async () =>
      uploadAttachments(
        this.#parts,
        this.#workspace,
        await this.#thread(),
        this.#turn,
        projectId,
        said,
        this.#lease,
        (progress) => this.#state.uploading(progress),
      ),
    );
    this.#state.files(done.notes);
    await this.#record({ file_notes: done.notes, bytes_up: done.bytesUp });
    return done.attached;
  }

  /** Follows the reply until it and its task have settled, and shows its final state. */
  async #answer(): Promise<void> {
    const agent = await this.#agent();
    const { task_id } = await this.#thread();
    if (task_id === null || this.#turn.user_message_id === null) throw new Error('A turn without its task.');
    this.#state.files(this.#turn.file_notes ?? []);
    this.#state.step('working');
    const follow = new Follow({
      agent,
      taskId: task_id,
      userMessageId: this.#turn.user_message_id,
      rate: this.#rate,
      lease: this.#lease,
      onRead: (message) => {
        if (this.#reply.lost !== undefined) throw this.#reply.lost;
        this.#state.read(message, this.#parts.settings.silenceMs);
      },
    });
    this.#follow = follow;
    const reply = await this.#patiently(() => follow.find(this.#known));
    if (reply === undefined) throw new TurnEnds('failed', words.noAnswer);
    if (this.#turn.assistant_message_id === null) await this.#record({ assistant_message_id: reply.id });
    const settled = await this.#patiently(() => follow.toEnd());
    this.#state.files(skippedNotes(this.#turn, settled.input?.fileIds ?? null));
    const working = await this.#patiently(() => this.#background(agent, task_id));
    const system = await this.#patiently(() => systemLines(agent, task_id, settled));
    const outcome = outcomeOf(settled);
    const phase = outcome === 'completed' ? (working ? 'background' : 'done') : outcome;
    this.#state.settle(settled, { system, stoppedBy: await this.#stopper(), phase });
    await this.#reply.settle();
    if (this.#turn.settled_at === null) await this.#record({ settled_at: new Date(), outcome });
  }

  /** The name of who asked for a stop, if somebody did. */
  async #stopper(): Promise<string | undefined> {
    const current = await this.#parts.store.turns.get(this.#turn.workspace, this.#turn.id);
    const person = current?.stop_asked_by ?? undefined;
    return person === undefined ? undefined : this.#workspace.people.personName(person);
  }

  /**
   * A reply may be complete while its task still works: results and the next message wait for it, but not long. The
   * answer is whether it still works.
   */
  async #background(agent: AgentClient, taskId: string): Promise<boolean> {
    const until = performance.now() + this.#parts.settings.backgroundWaitMs;
    for (;;) {
      const task = await agent.getTask(taskId, { signal: this.#lease.signal });
      if (isSettledTask(task.status)) return false;
      this.#state.step('working', words.background);
      if (performance.now() >= until) return true;
      await pause(backgroundEveryMs, this.#lease);
    }
  }

  /** Posts the results and ends the turn. */
  async #finish(): Promise<void> {
    const thread = await this.#thread();
    const posts = new ThreadPosts(this.#parts, this.#workspace, this.#turn, this.#lease);
    if (this.#turn.results_at === null && thread.task_id !== null) {
      const agent = await this.#agent();
      const taskId = thread.task_id;
      const count = await this.#patiently(() =>
        postResults(this.#parts, agent, posts, this.#turn, taskId, this.#lease),
      );
      const tookMs = Date.now() - this.#turn.started_at.getTime();
      if (count === 0 && tookMs > longTurnMs) {
        await posts.load();
        const asker = isDirect(this.#turn.channel) ? undefined : this.#turn.asker;
        const text = words.askerLine(asker, lineOutcome(this.#turn.outcome), tookMs);
        await this.#patiently(() => posts.post('end', { text }, '', 'notice'));
      }
      await this.#record({ results_at: new Date() });
    }
    await this.#close('completed');
  }

  /** The turn ends before its reply has settled: the thread is told why. */
  async #endEarly(error: unknown): Promise<void> {
    const end = ending(error);
    if (end.outcome === 'cancelled') end.sentence = words.cancelled((await this.#stopper()) ?? '');
    const { store, log } = this.#parts;
    if (end.outcome === 'refused' || end.outcome === 'abandoned') {
      log.error({ err: error, turn: this.#turn.id }, 'turn ended by an error');
    }
    const key = { workspace: this.#turn.workspace, channel: this.#turn.channel, ts: this.#turn.message_ts };
    if (end.sentence === null) {
      await this.#patiently(() => this.#reply.remove());
    } else {
      this.#state.end(end.outcome, end.sentence);
      await this.#patiently(() => this.#reply.open());
      await this.#reply.settle();
    }
    const message = await store.messages.get(key);
    if (message?.state === 'waiting' || message?.state === 'sending')
      await store.messages.setState(key, 'closed');
    const thread = await this.#thread();
    if (end.outcome === 'helped' && thread.task_id === null) await store.threads.rest(thread);
    await this.#close(end.outcome);
  }

  async #close(outcome: TurnOutcome): Promise<void> {
    await this.#reply.close();
    await this.#parts.store.turns.finish(this.#turn, outcome);
    this.#parts.log.info({ turn: this.#turn.id, outcome: this.#turn.outcome ?? outcome }, 'turn finished');
  }

  async #patiently<T>(step: () => Promise<T>): Promise<T> {
    return patiently(this.#lease, step, (trouble, error) => {
      if (trouble !== undefined)
        this.#parts.log.warn({ err: error, turn: this.#turn.id, trouble }, 'a step waits');
      this.#state.trouble(trouble);
    });
  }

  async #record(values: Parameters<RelayParts['store']['turns']['record']>[1]): Promise<void> {
    this.#turn = await this.#parts.store.turns.record(this.#turn, values);
  }

  async #thread(): Promise<Thread> {
    return this.#parts.store.threads.expect(this.#turn);
  }

  async #message() {
    const { workspace, channel, message_ts: ts } = this.#turn;
    const message = await this.#parts.store.messages.get({ workspace, channel, ts });
    if (message === undefined) throw new TurnEnds('withdrawn', null);
    return message;
  }

  async #agent(): Promise<AgentClient> {
    return this.#parts.agent((await this.#thread()).account);
  }

  #source() {
    return {
      render: () => this.#state.render(),
      refresh: async () => this.#follow?.freshen(),
      blank: () => this.#state.blank,
    };
  }
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
