import type { AgentClient } from '../../agent/agent-client.ts';
import type { Message as AgentMessage } from '../../agent/service-schema.ts';
import * as strings from '../../render/strings/index.ts';
import { isLastingRefusal } from '../../slack/errors.ts';
import { StoreError } from '../../store/errors.ts';
import type { Thread, Turn, TurnOutcome } from '../../store/schema.ts';
import { turnLocationOf } from '../../store/threads/turns.ts';
import { postPausedNoticeAndFinish } from '../controls/paused-messages.ts';
import { sendStop, stopRequesterName } from '../controls/stop-control.ts';
import type { WaitingReactions } from '../controls/waiting-reactions.ts';
import { LiveReply } from '../replies/live-reply.ts';
import { attachOverflow } from '../replies/overflow-file.ts';
import { isThreadUnreachable } from '../replies/reply-messages.ts';
import { ReplyReader, type ReplyReaderOptions, waitForBackgroundWork } from '../replies/reply-reader.ts';
import { ReplyState } from '../replies/reply-state.ts';
import { ThreadPosts } from '../replies/thread-posts.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import type { Lease } from '../runtime/lease.ts';
import type { ReadRate } from '../runtime/read-rate.ts';
import { withRetry } from '../runtime/retry.ts';
import { HandOver, MessagesPaused, TurnEnded } from '../runtime/turn-errors.ts';
import { EmptyMessage, endTurnIfEmpty, endTurnIfFilesOnly } from '../sending/empty-turn.ts';
import { withSkippedFiles } from '../sending/file-notes.ts';
import { closeIfUnchanged, closeMessage, putBack } from '../sending/put-back.ts';
import { Sender } from '../sending/sender.ts';
import { endNotes } from './end-notes.ts';
import { type FollowReplyOptions, followReply, type SettledReply } from './reply-follower.ts';
import { postSharedChannelNotice } from './shared-channel-notice.ts';
import {
  countTools,
  outcomeOfError,
  outcomeOfReply,
  postResultsOrEndLine,
  systemMessages,
} from './turn-end.ts';
import { handleUnreachableThread } from './unreachable-thread.ts';

/**
 * One turn, from the waiting message to the posted results. Every step is recorded before and after its side effect,
 * so that another process goes on from the last one.
 */
export class TurnRun {
  readonly #deps: RelayDeps;
  readonly #workspace: WorkspaceClient;
  readonly #lease: Lease;
  readonly #readRateFor: (account: string) => ReadRate;
  readonly #waitingReactions: Pick<WaitingReactions, 'cleanUp' | 'addToWaiting'>;
  readonly #state: ReplyState;
  readonly #reply: LiveReply;
  /** Aborted when somebody asked for a stop. */
  readonly #stopController = new AbortController();
  #turn: Turn;
  #reader: ReplyReader | undefined;
  /** The reply, where the answer to the send told it. */
  #knownReply: AgentMessage | null = null;

  constructor(
    deps: RelayDeps,
    workspace: WorkspaceClient,
    turn: Turn,
    lease: Lease,
    readRateFor: (account: string) => ReadRate,
    waitingReactions: Pick<WaitingReactions, 'cleanUp' | 'addToWaiting'>,
  ) {
    this.#waitingReactions = waitingReactions;
    this.#deps = deps;
    this.#workspace = workspace;
    this.#turn = turn;
    this.#lease = lease;
    this.#readRateFor = readRateFor;
    this.#state = new ReplyState(turn, deps.settings, () => this.#reply.onChanged());
    this.#reply = new LiveReply(deps, workspace, turnLocationOf(turn), this.#replySource(), lease);
  }

  /** Somebody asked for the stop of this turn: it is told below the reply, and what is not sent never is. */
  requestStop(): void {
    if (this.#stopController.signal.aborted) return;
    this.#stopController.abort(new TurnEnded('cancelled', null));
    stopRequesterName(this.#deps, this.#workspace, this.#turn).then(
      (name) => this.#state.onStopRequested(name),
      () => this.#state.onStopRequested(''),
    );
  }

  /** Takes all steps that are left. Throws HandOver, or the lease's reason once it is lost. */
  async run(): Promise<void> {
    if (this.#turn.stop_asked_at !== null) this.requestStop();
    await this.#runToEnd(() => this.#takeSteps(), isThreadUnreachable);
  }

  /** Ends a turn that came no further for too many takeovers. */
  async abandon(): Promise<void> {
    this.#deps.log.error({ turn: this.#turn.id }, 'turn abandoned: too many attempts without progress');
    const end = () => this.#endEarly(new TurnEnded('abandoned', strings.retriesExhausted));
    await this.#runToEnd(end, (error) => isThreadUnreachable(error) || isLastingRefusal(error));
  }

  /** Takes steps; those that fail for good end the turn, in its thread or, where that `isLost`, without it. */
  async #runToEnd(steps: () => Promise<void>, isUnreachable: (error: unknown) => boolean): Promise<void> {
    try {
      await steps().catch((error: unknown) => this.#handleStepError(error));
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      this.#deps.log.warn({ err: error, turn: this.#turn.id }, 'the reply has no place in Slack any more');
      await handleUnreachableThread(this.#deps, this.#workspace, this.#turn, this.#lease);
      await closeMessage(this.#deps, this.#turn);
      await this.#reply.close();
      await this.#deps.store.turns.finish(this.#turn, 'abandoned');
    } finally {
      await this.#reply.close();
    }
  }

  async #handleStepError(error: unknown): Promise<void> {
    if (error instanceof HandOver || error instanceof StoreError || this.#lease.remainingMs() <= 0)
      throw error;
    if (isThreadUnreachable(error)) throw error;
    if (!(error instanceof MessagesPaused)) return this.#endEarly(error);
    await this.#withRetry(() => putBack(this.#deps, this.#turn, this.#reply));
  }

  async #takeSteps(): Promise<void> {
    const { workspace, channel } = this.#turn;
    if (!(await this.#deps.store.channelSettings.get(workspace, channel)).show_steps) this.#state.hideSteps();
    if (await this.#isAnsweredByEarlierTurn()) return await this.#closeTurn('completed');
    await endTurnIfEmpty(this.#deps, this.#workspace, this.#turn);
    await this.#openReply();
    if (this.#turn.user_message_id === null) {
      await this.#withRetry(() =>
        postSharedChannelNotice(this.#deps, this.#workspace, this.#turn, this.#lease),
      );
      await endTurnIfFilesOnly(this.#deps, this.#workspace, this.#turn, () => this.#createSender());
      await this.#sendMessage();
    }
    await this.#followToEnd();
    await this.#finish();
  }

  /** Whether the message was passed on by the turn before, and got its answer in that one's reply. */
  async #isAnsweredByEarlierTurn(): Promise<boolean> {
    if (this.#turn.passed_on_by === null || this.#turn.user_message_id === null) return false;
    if (this.#turn.first_visible_at !== null) return false;
    const { account, task_id } = await this.#loadThread();
    if (task_id === null) return false;
    const reader = this.#createReader(account, task_id, this.#turn.user_message_id, () => undefined);
    this.#knownReply = (await this.#withRetry(() => reader.find(null))) ?? null;
    return this.#knownReply === null;
  }

  #createReader(
    account: string,
    taskId: string,
    userMessageId: string,
    onRead: ReplyReaderOptions['onRead'],
  ): ReplyReader {
    const agent = this.#deps.agent(account);
    return new ReplyReader({
      agent,
      taskId,
      userMessageId,
      rate: this.#readRateFor(account),
      lease: this.#lease,
      onRead,
    });
  }

  /** The first reply, before any call to the service. */
  async #openReply(): Promise<void> {
    await this.#withRetry(() => this.#reply.open());
    if (this.#turn.first_visible_at === null) await this.#record({ first_visible_at: new Date() });
  }

  #createSender(): Sender {
    return new Sender(this.#deps, this.#workspace, this.#turn, this.#lease, {
      onStep: (step) => this.#state.setStep(step),
      onUploadProgress: (progress) => this.#state.setUploadProgress(progress),
      onFileNotes: (notes) => this.#state.fileLimits(notes),
      stopSignal: this.#stopController.signal,
      withRetry: (step) => this.#withRetry(step),
    });
  }

  /** Brings the question to the service. */
  async #sendMessage(): Promise<void> {
    const originalTs = this.#turn.message_ts;
    const delivered = await this.#createSender().send();
    if (delivered.turn.message_ts !== originalTs) this.#waitingReactions.addToWaiting(delivered.turn);
    this.#turn = delivered.turn;
    this.#knownReply = delivered.reply;
    if (delivered.turn.stop_asked_at === null) return;
    // A stop that was asked for while the message was on its way found nothing to cancel yet.
    const stopped = delivered.turn;
    await this.#withRetry(() => sendStop(this.#deps, stopped));
  }

  /** Follows the reply until it and its task have settled, and shows its final state. */
  async #followToEnd(): Promise<void> {
    const { account, task_id } = await this.#loadThread();
    if (task_id === null || this.#turn.user_message_id === null) throw new Error('A turn without its task.');
    this.#state.fileLimits(this.#turn.file_notes ?? []);
    this.#state.setStep('working');
    const { reply, hasForwarded } = await this.#readReply(account, task_id, this.#turn.user_message_id);
    this.#state.fileLimits(withSkippedFiles(this.#turn, reply.input?.fileIds ?? null));
    await this.#showSettledReply(this.#deps.agent(account), task_id, reply, hasForwarded);
  }

  async #readReply(account: string, taskId: string, userMessageId: string): Promise<SettledReply> {
    const options: FollowReplyOptions = {
      state: this.#state,
      reply: this.#reply,
      waitingReactions: this.#waitingReactions,
      stopSignal: this.#stopController.signal,
      createReader: (onRead) => {
        this.#reader = this.#createReader(account, taskId, userMessageId, onRead);
        return this.#reader;
      },
      onReplyFound: async (replyId) => {
        if (this.#turn.assistant_message_id === null) await this.#record({ assistant_message_id: replyId });
      },
      withRetry: (step) => this.#withRetry(step),
    };
    const turn = turnLocationOf(this.#turn);
    return followReply(this.#deps, this.#workspace, turn, this.#lease, options, this.#knownReply);
  }

  /** Waits for the task of a settled reply, and shows the reply's final state. */
  async #showSettledReply(
    agent: AgentClient,
    taskId: string,
    settled: AgentMessage,
    hasForwarded: boolean,
  ): Promise<void> {
    // What the task works on after another message is that message's turn.
    const taskState =
      !hasForwarded &&
      (await this.#withRetry(() =>
        waitForBackgroundWork(agent, taskId, this.#deps.settings.maxBackgroundWaitMs, this.#lease, () =>
          this.#state.setStep('working', strings.backgroundWork),
        ),
      ));
    const system = await this.#withRetry(() => systemMessages(agent, taskId, settled));
    const stoppedBy = await stopRequesterName(this.#deps, this.#workspace, this.#turn);
    const outcome = outcomeOfReply(settled, taskState === 'cancelled' && stoppedBy !== '');
    const phase = outcome === 'completed' ? (taskState === 'working' ? 'background' : 'done') : outcome;
    const notes = [...(await endNotes(this.#deps, this.#turn, phase)), ...system];
    this.#state.settle(settled, { notes, stoppedBy, phase });
    await this.#settleLiveReply();
    if (this.#turn.settled_at === null)
      await this.#record({ settled_at: new Date(), outcome, tools: countTools(settled) });
  }

  /** Shows the reply's final state, and attaches what of the answer it has no room for. */
  async #settleLiveReply(): Promise<void> {
    await this.#reply.showFinalText();
    const overflow = this.#state.overflow();
    const fileDeps = { slackFiles: this.#deps.store.slackFiles, uploads: this.#workspace.uploads };
    const { log } = this.#deps;
    if (overflow === undefined) return;
    if (await this.#withRetry(() => attachOverflow({ ...fileDeps, log }, this.#turn, overflow, this.#lease)))
      return;
    this.#state.showAll();
    await this.#reply.showFinalText();
  }

  /** Posts the results and ends the turn. */
  async #finish(): Promise<void> {
    const thread = await this.#loadThread();
    const posts = new ThreadPosts(this.#deps, this.#workspace, this.#turn, this.#lease);
    if (this.#turn.results_at === null && thread.task_id !== null) {
      const lookedAt = { agent: await this.#agentClient(), turn: this.#turn, taskId: thread.task_id };
      const here = { deps: this.#deps, workspace: this.#workspace, lease: this.#lease };
      await postResultsOrEndLine({ ...here, ...lookedAt }, posts, (step) => this.#withRetry(step));
      await this.#record({ results_at: new Date() });
    }
    await this.#reply.finalize();
    await this.#closeTurn('completed');
  }

  /** The turn ends before its reply has settled: the thread is told why. */
  async #endEarly(error: unknown): Promise<void> {
    const { task_id: task } = await this.#loadThread();
    const end = outcomeOfError(error, { task: task !== null, message: this.#turn.user_message_id !== null });
    if (end.outcome === 'cancelled')
      end.sentence = strings.stopped(await stopRequesterName(this.#deps, this.#workspace, this.#turn));
    const { store, log } = this.#deps;
    if (end.outcome === 'refused' || end.outcome === 'abandoned') {
      log.error({ err: error, turn: this.#turn.id }, 'turn ended by an error');
    }
    if (end.sentence === null) {
      await this.#withRetry(() => this.#reply.remove());
    } else {
      this.#state.endEarly(end.outcome, end.sentence, end.offer);
      await this.#withRetry(() => this.#reply.open());
      await this.#settleLiveReply();
      await this.#reply.finalize();
    }
    if (error instanceof EmptyMessage) {
      const read = await closeIfUnchanged(this.#deps, this.#turn, error.messageAsRead);
      if (read !== 'closed') return await this.#retractNotice(read);
    } else await closeMessage(this.#deps, this.#turn);
    if (end.outcome === 'helped' && task === null) await store.threads.makeDormant(this.#turn);
    await this.#closeTurn(end.outcome);
  }

  /** People changed a message that asked nothing: what was said of it goes, and the message has its own way. */
  async #retractNotice(read: 'changed' | 'withdrawn'): Promise<void> {
    if (read === 'changed') {
      await this.#withRetry(() => putBack(this.#deps, this.#turn, this.#reply));
      return;
    }
    await this.#withRetry(() => this.#reply.remove());
    await this.#closeTurn('withdrawn');
  }

  async #closeTurn(outcome: TurnOutcome): Promise<void> {
    await this.#reply.close();
    const posts = new ThreadPosts(this.#deps, this.#workspace, this.#turn, this.#lease);
    await this.#withRetry(() => postPausedNoticeAndFinish(this.#deps, posts, this.#turn, outcome));
  }

  async #withRetry<T>(step: () => Promise<T>): Promise<T> {
    return withRetry(
      this.#lease,
      step,
      (cause, error) => {
        if (cause !== undefined)
          this.#deps.log.warn({ err: error, turn: this.#turn.id, trouble: cause }, 'a step waits');
        this.#state.setWaitCause(cause);
      },
      { wake: this.#stopController.signal },
    );
  }

  async #record(values: Parameters<RelayDeps['store']['turns']['record']>[1]): Promise<void> {
    this.#turn = await this.#deps.store.turns.record(this.#turn, values);
  }

  async #loadThread(): Promise<Thread> {
    return this.#deps.store.threads.getOrThrow(this.#turn);
  }

  async #agentClient(): Promise<AgentClient> {
    return this.#deps.agent((await this.#loadThread()).account);
  }

  #replySource() {
    return {
      render: () => this.#state.render(),
      discardRendered: () => this.#state.discardRendered(),
      answer: () => this.#state.answer,
      breakAt: async (at: number) => {
        const breaks = [...this.#turn.breaks, at].sort((a, b) => a - b);
        await this.#record({ breaks });
        this.#state.setBreaks(breaks);
      },
      refresh: async () => this.#reader?.refresh(),
      isBlank: () => this.#state.isBlank,
    };
  }
}
