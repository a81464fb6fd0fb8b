import type { Message as AgentMessage } from '../../agent/service-schema.ts';
import * as strings from '../../render/strings/strings.ts';
import { isLastingRefusal } from '../../slack/errors.ts';
import { StoreError } from '../../store/errors.ts';
import { sendStop } from '../controls/stop-control.ts';
import { HandOver, MessagesPaused, TurnEnded } from '../runtime/turn-errors.ts';
import { isThreadUnreachable } from '../runtime/unreachable-thread.ts';
import { endTurnIfEmpty, endTurnIfFilesOnly } from '../sending/empty-turn.ts';
import { closeMessage, putBack } from '../sending/put-back.ts';
import { Sender } from '../sending/sender.ts';
import { followReply } from './reply-follower.ts';
import { showSettledReply } from './settled-reply.ts';
import { postSharedChannelNotice } from './shared-channel-notice.ts';
import type { TurnContext } from './turn-context.ts';
import { closeTurn, endEarly, endSettledTurn } from './turn-end.ts';
import { handleUnreachableThread } from './unreachable-thread.ts';

/**
 * One turn, from the waiting message to the posted results. Every step is recorded before and after its side effect, so
 * that another process can continue from the last one.
 */
export class TurnRun {
  readonly #context: TurnContext;
  /** The reply, where the answer to the send named it. */
  #knownReply: AgentMessage | null = null;

  constructor(context: TurnContext) {
    this.#context = context;
  }

  /** A person asks to stop the turn. */
  requestStop(): void {
    this.#context.requestStop();
  }

  /** Takes all steps that are left. Throws HandOver, or the lease's reason once it is lost. */
  async run(): Promise<void> {
    if (this.#context.turn.stop_asked_at !== null) this.requestStop();
    await this.#runToEnd(() => this.#takeSteps(), isThreadUnreachable);
  }

  /** Ends a turn that made no progress for too many attempts. */
  async abandon(): Promise<void> {
    const { deps, turn } = this.#context;
    deps.log.error({ turn: turn.id }, 'turn abandoned: too many attempts without progress');
    const end = () => endEarly(this.#context, new TurnEnded('abandoned', strings.abandoned));
    await this.#runToEnd(end, (error) => isThreadUnreachable(error) || isLastingRefusal(error));
  }

  /** Takes steps. A lasting error ends the turn: in its thread or, where that is unreachable, without it. */
  async #runToEnd(steps: () => Promise<void>, isUnreachable: (error: unknown) => boolean): Promise<void> {
    const { deps, workspace, reply, lease } = this.#context;
    try {
      await steps().catch((error: unknown) => this.#handleStepError(error));
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      const { turn } = this.#context;
      deps.log.warn({ err: error, turn: turn.id }, 'the thread of the reply is unreachable');
      await handleUnreachableThread(deps, workspace, turn, lease);
      await closeMessage(deps, turn);
      await reply.close();
      await deps.store.turns.finish(turn, 'abandoned');
    } finally {
      await reply.close();
    }
  }

  async #handleStepError(error: unknown): Promise<void> {
    const { deps, turn, reply, lease } = this.#context;
    if (error instanceof HandOver || error instanceof StoreError || lease.remainingMs() <= 0) throw error;
    if (isThreadUnreachable(error)) throw error;
    if (!(error instanceof MessagesPaused)) return endEarly(this.#context, error);
    await this.#context.withRetry(() => putBack(deps, turn, reply));
  }

  async #takeSteps(): Promise<void> {
    const context = this.#context;
    const { deps, workspace, turn, state, lease } = context;
    if (!(await deps.store.channelSettings.get(turn.workspace, turn.channel)).show_steps) state.hideSteps();
    if (await this.#isAnsweredByEarlierTurn()) return closeTurn(context, 'completed');
    await endTurnIfEmpty(deps, workspace, turn);
    await this.#openReply();
    if (context.turn.user_message_id === null) {
      await context.withRetry(() => postSharedChannelNotice(deps, workspace, context.turn, lease));
      await endTurnIfFilesOnly(deps, workspace, context.turn, () => this.#createSender());
      await this.#sendMessage();
    }
    state.setFileNotes(context.turn.file_notes ?? []);
    state.setStep('working');
    await showSettledReply(context, await followReply(context, this.#knownReply));
    await endSettledTurn(context);
  }

  /** Whether the message was forwarded by the turn before, and answered in that turn's reply. */
  async #isAnsweredByEarlierTurn(): Promise<boolean> {
    const context = this.#context;
    const { turn } = context;
    if (turn.passed_on_by === null || turn.user_message_id === null || turn.first_visible_at !== null)
      return false;
    if ((await context.thread()).task_id === null) return false;
    const reader = await context.createReader(() => undefined);
    this.#knownReply = (await context.withRetry(() => reader.find(null))) ?? null;
    return this.#knownReply === null;
  }

  /** Posts the first reply, before any call to the service. */
  async #openReply(): Promise<void> {
    const context = this.#context;
    await context.withRetry(() => context.reply.open());
    if (context.turn.first_visible_at === null) await context.record({ first_visible_at: new Date() });
  }

  #createSender(): Sender {
    const { deps, workspace, turn, lease, state, stopSignal } = this.#context;
    return new Sender(deps, workspace, turn, lease, {
      onStep: (step) => state.setStep(step),
      onUploadProgress: (progress) => state.setUploadProgress(progress),
      onFileNotes: (notes) => state.setFileNotes(notes),
      stopSignal,
      withRetry: (step) => this.#context.withRetry(step),
    });
  }

  /** Sends the message to the service. */
  async #sendMessage(): Promise<void> {
    const context = this.#context;
    const originalTs = context.turn.message_ts;
    const { turn, reply } = await this.#createSender().send();
    if (turn.message_ts !== originalTs) context.waitingReactions.addToWaiting(turn);
    context.turn = turn;
    this.#knownReply = reply;
    // A stop that was requested while the message was being sent had nothing to cancel yet.
    if (turn.stop_asked_at !== null) await context.withRetry(() => sendStop(context.deps, turn));
  }
}
