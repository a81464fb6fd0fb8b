import * as strings from '../../render/strings/index.ts';
import { ChannelGoneError, isPermanentRefusal, PayloadRefusedError } from '../../slack/errors.ts';
import { StoreError } from '../../store/errors.ts';
import { sendStop } from '../controls/stop-control.ts';
import { IdempotentPosts } from '../replies/idempotent-posts.ts';
import { SETTLED_TASK_SHORT_MS } from '../replies/reply-reader.ts';
import { isDirectChannel } from '../runtime/incoming-message.ts';
import { sleepWithLease } from '../runtime/retry.ts';
import { HandOver, isThreadUnreachable, MessagesPaused, TurnEnded } from '../runtime/turn-interruptions.ts';
import { endTurnIfEmpty, endTurnIfFilesOnly } from '../sending/empty-message.ts';
import { closeMessage, requeueMessage } from '../sending/message-requeue.ts';
import { Sender } from '../sending/sender.ts';
import { threadPermalink } from '../tasks/task-list.ts';
import { followReply } from './reply-follower.ts';
import type { TurnContext } from './turn-context.ts';
import { closeTurn, endEarly, endSettledTurn } from './turn-end.ts';
import { handleUnreachableThread } from './unreachable-thread.ts';

/** How long (ms) a refused channel may turn out to have another id. */
const CHANNEL_MOVE_GRACE_MS = 3_000;

/**
 * Runs one turn, from the waiting message to the posted results. Every step is recorded before and after its side
 * effect, so that another process can continue from the last one. Throws HandOver, or the lease's reason once it is lost.
 */
export async function runTurn(context: TurnContext): Promise<void> {
  if (context.turn.stop_requested_at !== null) context.requestStop();
  await runToEnd(context, () => takeSteps(context), isThreadUnreachable);
}

/** Ends a turn that made no progress for too many attempts. */
export async function abandonTurn(context: TurnContext): Promise<void> {
  const { deps, turn } = context;
  deps.log.error({ turn: turn.id }, 'turn abandoned: too many attempts without progress');
  const end = () => endEarly(context, new TurnEnded('abandoned', strings.retriesExhausted));
  await runToEnd(context, end, (error) => isThreadUnreachable(error) || isPermanentRefusal(error));
}

/** Takes steps. A permanent error ends the turn: in its thread or, if that is unreachable, without it. */
async function runToEnd(
  context: TurnContext,
  steps: () => Promise<void>,
  isUnreachable: (error: unknown) => boolean,
): Promise<void> {
  const { deps, reply } = context;
  try {
    await steps().catch((error: unknown) => handleStepError(context, error));
  } catch (error) {
    // Slack did not even take the sentence that says so.
    if (!isUnreachable(error) && !(error instanceof PayloadRefusedError)) throw error;
    const { turn } = context;
    if (error instanceof ChannelGoneError && (await hasMoved(context))) throw new HandOver();
    deps.log.warn({ err: error, turn: turn.id }, 'the thread of the reply is unreachable');
    await handleUnreachableThread(context, turn);
    await closeMessage(deps, turn);
    await reply.close((last) => deps.store.turns.finish(turn, 'abandoned', last));
  } finally {
    await reply.suspend();
  }
}

/** Whether the turn's channel has another id by now. Slack's event about that may come after a refusal of the old one. */
async function hasMoved({ deps, turn, lease }: TurnContext): Promise<boolean> {
  await sleepWithLease(CHANNEL_MOVE_GRACE_MS, lease);
  return (await deps.store.turns.get(turn.workspace, turn.id))?.channel !== turn.channel;
}

async function handleStepError(context: TurnContext, error: unknown): Promise<void> {
  const { deps, turn, reply, lease } = context;
  if (error instanceof HandOver || error instanceof StoreError || lease.remainingMs() <= 0) throw error;
  if (isThreadUnreachable(error)) throw error;
  if (!(error instanceof MessagesPaused)) return endEarly(context, error);
  await context.withRetry(() => requeueMessage(deps, turn, reply));
}

async function takeSteps(context: TurnContext): Promise<void> {
  const { deps, workspace, turn, state } = context;
  const channelSettings = await deps.store.settings.get(turn.workspace, turn.channel);
  if (!channelSettings.show_steps) state.hideSteps();
  if (await isAnsweredByEarlierTurn(context)) return closeTurn(context, 'completed');
  await endTurnIfEmpty(deps, workspace, turn, await context.message());
  await context.openReply();
  if (context.turn.user_message_id === null) {
    await context.withRetry(() => postSharedChannelNotice(context));
    await context.withRetry(() => postNewTaskNotice(context));
    const sender = createSender(context, channelSettings.model);
    await endTurnIfFilesOnly(deps, workspace, context.turn, await context.message(), sender);
    await sendMessage(context, sender);
  }
  state.setFileNotes(context.turn.file_notes ?? []);
  state.setStep('working');
  const isTaskWorking = await followReply(context);
  await endSettledTurn(context, isTaskWorking);
}

/**
 * Whether the message was forwarded by the turn before, and answered in that turn's reply: it has none of its own. One
 * may begin as late as any other reply; while a later message waits for the turn, it must begin soon.
 */
async function isAnsweredByEarlierTurn(context: TurnContext): Promise<boolean> {
  const { deps, turn, stopSignal } = context;
  if (turn.forwarded_by_turn_id === null || turn.user_message_id === null || turn.first_visible_at !== null)
    return false;
  if ((await context.thread()).task_id === null) return false;
  const reader = await context.createReader(() => undefined);
  const settledMs = async () =>
    stopSignal.aborted || (await deps.store.messages.hasLater(turn))
      ? SETTLED_TASK_SHORT_MS
      : deps.settings.settledTaskMs;
  context.knownReplyId = await context.withRetry(() => reader.find(undefined, settledMs));
  return context.knownReplyId === undefined;
}

function createSender(context: TurnContext, channelModel: string | null): Sender {
  const { turn, state, stopSignal, begun } = context;
  return new Sender(context, turn, {
    thread: begun?.thread,
    channelModel,
    onStep: (step) => state.setStep(step),
    onUploadProgress: (progress) => state.setUploadProgress(progress),
    onFileNotes: (notes) => state.setFileNotes(notes),
    recordTaskIntent: (intent) => context.record({}, intent),
    stopSignal,
    withRetry: (step) => context.withRetry(step),
  });
}

/** Sends the message to the service. */
async function sendMessage(context: TurnContext, sender: Sender): Promise<void> {
  const originalTs = context.turn.message_ts;
  const { turn, replyId, account_id } = await sender.send();
  context.begun = undefined;
  if (turn.task_id !== null) context.knownTask = { account_id, taskId: turn.task_id };
  if (turn.message_ts !== originalTs) {
    context.resendsTurnId = undefined;
    context.waitingReactions.addToWaiting(turn);
  }
  context.turn = turn;
  context.knownReplyId = replyId;
  // A stop that was requested while the message was being sent had nothing to cancel yet.
  const { deps } = context;
  const stop = async () => sendStop(deps, (await deps.store.turns.get(turn.workspace, turn.id)) ?? turn);
  if (turn.stop_requested_at !== null) await context.withRetry(stop);
}

/** Posts once in a channel that another organisation can read it. Throws a SlackError if Slack cannot say that. */
async function postSharedChannelNotice(context: TurnContext): Promise<void> {
  const { deps, workspace, turn, lease } = context;
  const channel = await workspace.people.requireChannel(turn.channel, lease.signal);
  if (channel.isExtShared !== true || !(await deps.store.channels.claimNotice(turn, 'shared'))) return;
  await new IdempotentPosts(context, turn).postNotice('notice:shared', strings.sharedChannel);
}

/** Explains, once to each person who writes to the bot after a finished task, that this began a new one. */
async function postNewTaskNotice(context: TurnContext): Promise<void> {
  const { deps, workspace, turn } = context;
  if (!isDirectChannel(turn.channel) || turn.message_ts !== turn.thread_ts) return;
  const previous = await deps.store.tasks.previousFinished(turn);
  if (previous === undefined || !(await deps.store.channels.claimNotice(turn, 'new_task_in_dm'))) return;
  const url = previous.permalink ?? (await threadPermalink(workspace, previous));
  await new IdempotentPosts(context, turn).postNotice('notice:new_task', strings.newTaskInDm(url));
}
