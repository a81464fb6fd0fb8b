import type { AgentClient } from '../agent/client.ts';
import type { Message as AgentMessage } from '../agent/schema.ts';
import * as words from '../reply/words.ts';
import { isLasting } from '../slack/errors.ts';
import { StoreError } from '../store/errors.ts';
import type { Thread, Turn, TurnOutcome } from '../store/tables.ts';
import { placeOf } from '../store/turns.ts';
import { tellShared } from './admitting/shared-channel.ts';
import { type AnsweringManner, followAnswer, type SettledAnswer } from './answering.ts';
import { Asking } from './asking/asking.ts';
import { AsksNothing, endIfNothingAsked, endIfOnlyFiles } from './asking/asks-nothing.ts';
import { closeAsRead, closeMessage, putBack } from './asking/unsent.ts';
import type { RelayParts, Workspace } from './context.ts';
import { sayHeldAndFinish } from './controls/holding.ts';
import type { Marks } from './controls/marks.ts';
import { carryOutStop, stopperName } from './controls/stopping.ts';
import { skippedNotes } from './files/attachments.ts';
import { HandOver, Held, TurnEnds } from './interruption.ts';
import type { Lease } from './lease.ts';
import { losePlace } from './lost-place.ts';
import { patiently } from './patience.ts';
import { endNotes } from './showing/end-notes.ts';
import { LiveReply } from './showing/live-reply.ts';
import type { ReadRate } from './showing/read-rate.ts';
import { hasNoPlace } from './showing/reply-messages.ts';
import { ReplyReader, type ReplyReaderOptions, worksOn } from './showing/reply-reader.ts';
import { ReplyState } from './showing/reply-state.ts';
import { shareRest } from './showing/rest-file.ts';
import { ThreadPosts } from './showing/thread-posts.ts';
import { ending, outcomeOf, postEnd, systemLines, toolsIn } from './turn-end.ts';

/**
 * One turn, from the waiting message to the posted results. Every step is recorded before and after its side effect,
 * so that another process goes on from the last one.
 */
export class TurnRun {
  readonly #parts: RelayParts;
  readonly #workspace: Workspace;
  readonly #lease: Lease;
  readonly #rateOf: (account: string) => ReadRate;
  readonly #marks: Pick<Marks, 'tidy' | 'waiting'>;
  readonly #state: ReplyState;
  readonly #reply: LiveReply;
  /** Aborted when somebody asked for a stop. */
  readonly #stop = new AbortController();
  #turn: Turn;
  #reader: ReplyReader | undefined;
  /** The reply, where the answer to the send told it. */
  #known: AgentMessage | null = null;

  constructor(
    parts: RelayParts,
    workspace: Workspace,
    turn: Turn,
    lease: Lease,
    rateOf: (account: string) => ReadRate,
    marks: Pick<Marks, 'tidy' | 'waiting'>,
  ) {
    this.#marks = marks;
    this.#parts = parts;
    this.#workspace = workspace;
    this.#turn = turn;
    this.#lease = lease;
    this.#rateOf = rateOf;
    this.#state = new ReplyState(turn, parts.settings, () => this.#reply.changed());
    this.#reply = new LiveReply(parts, workspace, placeOf(turn), this.#source(), lease);
  }

  /** Somebody asked for the stop of this turn: it is told below the reply, and what is not sent never is. */
  stopAsked(): void {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort(new TurnEnds('cancelled', null));
    stopperName(this.#parts, this.#workspace, this.#turn).then(
      (name) => this.#state.stopping(name),
      () => this.#state.stopping(''),
    );
  }

  /** Takes all steps that are left. Throws HandOver, or the lease's reason once it is lost. */
  async go(): Promise<void> {
    if (this.#turn.stop_asked_at !== null) this.stopAsked();
    await this.#toAnEnd(() => this.#steps(), hasNoPlace);
  }

  /** Ends a turn that came no further for too many takeovers. */
  async abandon(): Promise<void> {
    this.#parts.log.error({ turn: this.#turn.id }, 'turn abandoned: too many attempts without progress');
    const end = () => this.#endEarly(new TurnEnds('abandoned', words.abandoned));
    await this.#toAnEnd(end, (error) => hasNoPlace(error) || isLasting(error));
  }

  /** Takes steps; those that fail for good end the turn, in its thread or, where that `isLost`, without it. */
  async #toAnEnd(steps: () => Promise<void>, isLost: (error: unknown) => boolean): Promise<void> {
    try {
      await steps().catch((error: unknown) => this.#endOtherwise(error));
    } catch (error) {
      if (!isLost(error)) throw error;
      this.#parts.log.warn({ err: error, turn: this.#turn.id }, 'the reply has no place in Slack any more');
      await losePlace(this.#parts, this.#workspace, this.#turn, this.#lease);
      await closeMessage(this.#parts, this.#turn);
      await this.#reply.close();
      await this.#parts.store.turns.finish(this.#turn, 'abandoned');
    } finally {
      await this.#reply.close();
    }
  }

  async #endOtherwise(error: unknown): Promise<void> {
    if (error instanceof HandOver || error instanceof StoreError || this.#lease.remainingMs() <= 0)
      throw error;
    if (hasNoPlace(error)) throw error;
    if (!(error instanceof Held)) return this.#endEarly(error);
    await this.#patiently(() => putBack(this.#parts, this.#turn, this.#reply));
  }

  async #steps(): Promise<void> {
    const { workspace, channel } = this.#turn;
    if (!(await this.#parts.store.channels.get(workspace, channel)).show_steps) this.#state.hideSteps();
    if (await this.#wasAnsweredThere()) return await this.#close('completed');
    await endIfNothingAsked(this.#parts, this.#workspace, this.#turn);
    await this.#open();
    if (this.#turn.user_message_id === null) {
      await this.#patiently(() => tellShared(this.#parts, this.#workspace, this.#turn, this.#lease));
      await endIfOnlyFiles(this.#parts, this.#workspace, this.#turn, () => this.#asking());
      await this.#ask();
    }
    await this.#answer();
    await this.#finish();
  }

  /** Whether the message was passed on by the turn before, and got its answer in that one's reply. */
  async #wasAnsweredThere(): Promise<boolean> {
    if (this.#turn.passed_on_by === null || this.#turn.user_message_id === null) return false;
    if (this.#turn.first_visible_at !== null) return false;
    const { account, task_id } = await this.#thread();
    if (task_id === null) return false;
    const reader = this.#readerOf(account, task_id, this.#turn.user_message_id, () => undefined);
    this.#known = (await this.#patiently(() => reader.find(null))) ?? null;
    return this.#known === null;
  }

  #readerOf(
    account: string,
    taskId: string,
    userMessageId: string,
    onRead: ReplyReaderOptions['onRead'],
  ): ReplyReader {
    const agent = this.#parts.agent(account);
    return new ReplyReader({
      agent,
      taskId,
      userMessageId,
      rate: this.#rateOf(account),
      lease: this.#lease,
      onRead,
    });
  }

  /** The first reply, before any call to the service. */
  async #open(): Promise<void> {
    await this.#patiently(() => this.#reply.open());
    if (this.#turn.first_visible_at === null) await this.#record({ first_visible_at: new Date() });
  }

  #asking(): Asking {
    return new Asking(this.#parts, this.#workspace, this.#turn, this.#lease, {
      step: (step) => this.#state.step(step),
      uploading: (progress) => this.#state.uploading(progress),
      files: (notes) => this.#state.files(notes),
      stop: this.#stop.signal,
      patiently: (step) => this.#patiently(step),
    });
  }

  /** Brings the question to the service. */
  async #ask(): Promise<void> {
    const chosen = this.#turn.message_ts;
    const delivered = await this.#asking().go();
    if (delivered.turn.message_ts !== chosen) this.#marks.waiting(delivered.turn);
    this.#turn = delivered.turn;
    this.#known = delivered.reply;
    if (delivered.turn.stop_asked_at === null) return;
    // A stop that was asked for while the message was on its way found nothing to cancel yet.
    const stopped = delivered.turn;
    await this.#patiently(() => carryOutStop(this.#parts, stopped));
  }

  /** Follows the reply until it and its task have settled, and shows its final state. */
  async #answer(): Promise<void> {
    const { account, task_id } = await this.#thread();
    if (task_id === null || this.#turn.user_message_id === null) throw new Error('A turn without its task.');
    this.#state.files(this.#turn.file_notes ?? []);
    this.#state.step('working');
    const { reply, passed } = await this.#readToEnd(account, task_id, this.#turn.user_message_id);
    this.#state.files(skippedNotes(this.#turn, reply.input?.fileIds ?? null));
    await this.#settle(this.#parts.agent(account), task_id, reply, passed);
  }

  async #readToEnd(account: string, taskId: string, userMessageId: string): Promise<SettledAnswer> {
    const manner: AnsweringManner = {
      state: this.#state,
      reply: this.#reply,
      marks: this.#marks,
      stop: this.#stop.signal,
      reader: (onRead) => {
        this.#reader = this.#readerOf(account, taskId, userMessageId, onRead);
        return this.#reader;
      },
      found: async (replyId) => {
        if (this.#turn.assistant_message_id === null) await this.#record({ assistant_message_id: replyId });
      },
      patiently: (step) => this.#patiently(step),
    };
    const turn = placeOf(this.#turn);
    return followAnswer(this.#parts, this.#workspace, turn, this.#lease, manner, this.#known);
  }

  /** Waits for the task of a settled reply, and shows the reply's final state. */
  async #settle(agent: AgentClient, taskId: string, settled: AgentMessage, passed: boolean): Promise<void> {
    // What the task works on after another message is that message's turn.
    const after =
      !passed &&
      (await this.#patiently(() =>
        worksOn(agent, taskId, this.#parts.settings.backgroundWaitMs, this.#lease, () =>
          this.#state.step('working', words.background),
        ),
      ));
    const system = await this.#patiently(() => systemLines(agent, taskId, settled));
    const stoppedBy = await stopperName(this.#parts, this.#workspace, this.#turn);
    const outcome = outcomeOf(settled, after === 'cancelled' && stoppedBy !== '');
    const phase = outcome === 'completed' ? (after === 'working' ? 'background' : 'done') : outcome;
    const notes = [...(await endNotes(this.#parts, this.#turn, phase)), ...system];
    this.#state.settle(settled, { notes, stoppedBy, phase });
    await this.#settleReply();
    if (this.#turn.settled_at === null)
      await this.#record({ settled_at: new Date(), outcome, tools: toolsIn(settled) });
  }

  /** Shows the reply's final state, and attaches what of the answer it has no room for. */
  async #settleReply(): Promise<void> {
    await this.#reply.settle();
    const rest = this.#state.rest();
    const room = { slackFiles: this.#parts.store.slackFiles, uploads: this.#workspace.uploads };
    const { log } = this.#parts;
    if (rest === undefined) return;
    if (await this.#patiently(() => shareRest({ ...room, log }, this.#turn, rest, this.#lease))) return;
    this.#state.showAll();
    await this.#reply.settle();
  }

  /** Posts the results and ends the turn. */
  async #finish(): Promise<void> {
    const thread = await this.#thread();
    const posts = new ThreadPosts(this.#parts, this.#workspace, this.#turn, this.#lease);
    if (this.#turn.results_at === null && thread.task_id !== null) {
      const lookedAt = { agent: await this.#agent(), turn: this.#turn, taskId: thread.task_id };
      const here = { parts: this.#parts, workspace: this.#workspace, lease: this.#lease };
      await postEnd({ ...here, ...lookedAt }, posts, (step) => this.#patiently(step));
      await this.#record({ results_at: new Date() });
    }
    await this.#reply.tidy();
    await this.#close('completed');
  }

  /** The turn ends before its reply has settled: the thread is told why. */
  async #endEarly(error: unknown): Promise<void> {
    const { task_id: task } = await this.#thread();
    const end = ending(error, { task: task !== null, message: this.#turn.user_message_id !== null });
    if (end.outcome === 'cancelled')
      end.sentence = words.cancelled(await stopperName(this.#parts, this.#workspace, this.#turn));
    const { store, log } = this.#parts;
    if (end.outcome === 'refused' || end.outcome === 'abandoned') {
      log.error({ err: error, turn: this.#turn.id }, 'turn ended by an error');
    }
    if (end.sentence === null) {
      await this.#patiently(() => this.#reply.remove());
    } else {
      this.#state.end(end.outcome, end.sentence, end.offer);
      await this.#patiently(() => this.#reply.open());
      await this.#settleReply();
      await this.#reply.tidy();
    }
    if (error instanceof AsksNothing) {
      const read = await closeAsRead(this.#parts, this.#turn, error.read);
      if (read !== 'closed') return await this.#unshow(read);
    } else await closeMessage(this.#parts, this.#turn);
    if (end.outcome === 'helped' && task === null) await store.threads.rest(this.#turn);
    await this.#close(end.outcome);
  }

  /** People changed a message that asked nothing: what was said of it goes, and the message has its own way. */
  async #unshow(read: 'changed' | 'withdrawn'): Promise<void> {
    if (read === 'changed') {
      await this.#patiently(() => putBack(this.#parts, this.#turn, this.#reply));
      return;
    }
    await this.#patiently(() => this.#reply.remove());
    await this.#close('withdrawn');
  }

  async #close(outcome: TurnOutcome): Promise<void> {
    await this.#reply.close();
    const posts = new ThreadPosts(this.#parts, this.#workspace, this.#turn, this.#lease);
    await this.#patiently(() => sayHeldAndFinish(this.#parts, posts, this.#turn, outcome));
  }

  async #patiently<T>(step: () => Promise<T>): Promise<T> {
    return patiently(
      this.#lease,
      step,
      (trouble, error) => {
        if (trouble !== undefined)
          this.#parts.log.warn({ err: error, turn: this.#turn.id, trouble }, 'a step waits');
        this.#state.trouble(trouble);
      },
      { wake: this.#stop.signal },
    );
  }

  async #record(values: Parameters<RelayParts['store']['turns']['record']>[1]): Promise<void> {
    this.#turn = await this.#parts.store.turns.record(this.#turn, values);
  }

  async #thread(): Promise<Thread> {
    return this.#parts.store.threads.expect(this.#turn);
  }

  async #agent(): Promise<AgentClient> {
    return this.#parts.agent((await this.#thread()).account);
  }

  #source() {
    return {
      render: () => this.#state.render(),
      forget: () => this.#state.forget(),
      answer: () => this.#state.answer,
      breakAt: async (at: number) => {
        const breaks = [...this.#turn.breaks, at].sort((a, b) => a - b);
        await this.#record({ breaks });
        this.#state.breaks(breaks);
      },
      refresh: async () => this.#reader?.freshen(),
      blank: () => this.#state.blank,
    };
  }
}
