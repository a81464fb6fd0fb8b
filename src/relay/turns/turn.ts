import * as strings from '../../render/strings/index.ts';
import { ChannelGoneError, isPermanentRefusal, PayloadRefusedError } from '../../slack/errors.ts';
import { StoreError } from '../../store/errors.ts';
import { isAtService, isSendInDoubt } from '../../store/threads/turn-phase.ts';
import { closeMessage, requeueMessage } from '../controls/messages-during-a-run.ts';
import { sendStop } from '../controls/stop-control.ts';
import { markWaiting } from '../controls/waiting-reactions.ts';
import { actorName } from '../reading/display-names.ts';
import { findReply, SETTLED_TASK_SHORT_MS, seeksOwnReply } from '../replies/reply-reader.ts';
import { sleepWithLease } from '../runtime/lease.ts';
import { isThreadUnreachable } from '../runtime/retry-and-giving-up.ts';
import { Interruption, isInterruption, TurnEnded } from '../runtime/turn-exceptions.ts';
import { endTurnIfEmpty, endTurnIfFilesOnly, isEmptyMessage } from '../sending/empty-message.ts';
import { messageOfTurn, wholeMessage, withOtherCopy } from '../sending/outgoing-message.ts';
import { Sender } from '../sending/sender.ts';
import { type FollowedReply, followReply } from './reply-follower.ts';
import { postNewTaskNotice, sharedChannelNotice } from './shared-channel-and-new-task-notices.ts';
import type { TurnContext } from './turn-context.ts';
import { closeTurn, endEarly, endSettledTurn } from './turn-end.ts';
import { handleUnreachableThread } from './unreachable-thread.ts';

/** How long (ms) a refused channel may turn out to have another id. */
const CHANNEL_MOVE_GRACE_MS = 3_000;

/**
 * Runs one turn, from the waiting message to the posted results; one that `isPoisoned` made no progress for too many
 * attempts, and ends. A permanent error ends it in its thread or, if that is unreachable, without it. Throws an
 * Interruption, or the lease's reason once it is lost.
 */
export async function runTurn(context: TurnContext, isPoisoned: boolean): Promise<void> {
  const { deps, reply } = context;
  if (isPoisoned)
    deps.log.error({ turn: context.turn.id }, 'turn abandoned: too many attempts without progress');
  try {
    try {
      if (isPoisoned) await endEarly(context, new TurnEnded('abandoned', strings.retriesExhausted));
      else await takeSteps(context);
    } catch (error) {
      await handleStepError(context, error);
    }
  } catch (error) {
    // Slack did not even take the sentence that says so.
    const isUnreachable = isThreadUnreachable(error) || (isPoisoned && isPermanentRefusal(error));
    if (!isUnreachable && !(error instanceof PayloadRefusedError)) throw error;
    const { turn } = context;
    if (error instanceof ChannelGoneError && (await hasMoved(context))) throw new Interruption('hand_over');
    deps.log.warn({ err: error, turn: turn.id }, 'the thread of the reply is unreachable');
    await handleUnreachableThread(context);
    await closeMessage(deps, turn);
    await reply.close();
    await context.row.write((rest) => deps.store.turns.finish(turn, 'abandoned', rest));
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
  if (isInterruption(error, 'hand_over') || error instanceof StoreError) throw error;
  if (lease.remainingMs() <= 0) throw error;
  if (isThreadUnreachable(error)) throw error;
  if (!isInterruption(error, 'waits_again')) return endEarly(context, error);
  await context.withRetry(() => requeueMessage(deps, turn, reply));
}

async function takeSteps(context: TurnContext): Promise<void> {
  const { state } = context;
  if (context.turn.stop_requested_at !== null) context.requestStop();
  const reply = await sendUnlessSent(context);
  if (reply === undefined) return closeTurn(context, 'completed');
  await showInstructions(context);
  state.setFileNotes(context.turn.file_notes ?? []);
  state.update({ phase: 'working', sentence: undefined });
  const isTaskWorking = await followReply(context, reply);
  await endSettledTurn(context, isTaskWorking);
}

/** Shows the reply and sends the turn's message; undefined if the reply to another message answers it. */
async function sendUnlessSent(context: TurnContext): Promise<FollowedReply | undefined> {
  const { deps, state, begun, stopSignal } = context;
  const { workspace, channel } = context.turn;
  const channelSettings = begun?.message.settings ?? (await deps.store.settings.inForce(workspace, channel));
  const { show_steps, show_sources } = channelSettings;
  const { checksSources } = deps.settings;
  state.update({ hideSteps: !show_steps, hideSources: !show_sources, checksSources });
  const earlier = await findReplyToForwarded(context);
  if (earlier === null) return undefined;
  const isAlone = begun?.message.waiting_count === 1;
  const arrived = isAlone ? wholeMessage(begun.message) : await messageOfTurn(context, context.turn);
  // With the files that its app_mention lacks, it may be no empty message.
  const isBare =
    arrived.is_partial && isEmptyMessage(arrived.content ?? { text: '' }, context.workspace.bot.userId);
  const message = isBare ? await withOtherCopy(context, arrived) : arrived;
  await endTurnIfEmpty(context, context.turn, message);
  // One statement asks for the permits of this call and of the first reply.
  const postSharedChannelNotice = isAtService(context.turn) ? undefined : sharedChannelNotice(context);
  await context.openReply();
  const isFromForm = message.content?.choices !== undefined;
  const known: FollowedReply = { replyId: earlier, resendsTurnId: message.resends_turn_id, isFromForm };
  if (postSharedChannelNotice === undefined) return known;
  await context.withRetry(postSharedChannelNotice);
  await context.withRetry(() => postNewTaskNotice(context));
  const thread = begun?.thread;
  const sender = new Sender(context, { thread, message: isAlone ? message : undefined, channelSettings });
  await endTurnIfFilesOnly(context, context.turn, message, sender);
  // What may have been sent is looked for first.
  if (!isSendInDoubt(context.turn)) stopSignal.throwIfAborted();
  // An earlier process was ending the turn, and may have offered to try again; its writer may have deleted the message since.
  if (message.state === 'closed') throw new TurnEnded('abandoned', strings.retriesExhausted);
  if (message.state === 'withdrawn') throw new TurnEnded('withdrawn', null);
  return sendMessage(context, sender, known);
}

/**
 * The id of the reply to a message that the turn before forwarded; null if that turn's reply answers it, and it has none of
 * its own. One may begin as late as any other reply; while a later message waits for the turn, it must begin soon.
 */
async function findReplyToForwarded(context: TurnContext): Promise<string | undefined | null> {
  const { deps, turn, stopSignal } = context;
  if (!seeksOwnReply(turn)) return undefined;
  if ((await context.thread()).task_id === null) return undefined;
  const message = await context.answeredMessage();
  const settledMs = async () =>
    stopSignal.aborted || (await deps.store.messages.hasLater(turn))
      ? SETTLED_TASK_SHORT_MS
      : deps.settings.settledTaskMs;
  return (await context.withRetry(() => findReply(message, settledMs))) ?? null;
}

/** Names the channel's instructions that the turn's message quotes, with who set them and when; or says that a skill left them out. */
async function showInstructions({ deps, turn, state }: TurnContext): Promise<void> {
  const { workspace, instructions_set_by: person, instructions_set_at: setAt } = turn;
  if (setAt === null) {
    if (turn.skill === null || turn.task_id === null) return;
    const { instructions } = await deps.store.settings.get(workspace, turn.channel);
    if (instructions !== null && !(await deps.store.threads.isTaskBegun(turn, turn.task_id)))
      state.update({ instructions: strings.withoutInstructions });
    return;
  }
  const name = await actorName(deps, { workspace, person: person ?? '' });
  state.update({ instructions: strings.withInstructions(name, setAt) });
}

/** Sends the message to the service. Returns what is known of its reply then. */
async function sendMessage(context: TurnContext, sender: Sender, known: FollowedReply) {
  const { deps } = context;
  const originalTs = context.turn.message_ts;
  context.onSent(await sender.send());
  const { turn } = context;
  // A stop that was requested while the message was being sent had nothing to cancel yet.
  const stop = async () => sendStop(deps, (await deps.store.turns.get(turn.workspace, turn.id)) ?? turn);
  if (turn.stop_requested_at !== null) await context.withRetry(stop);
  const replyId = turn.assistant_message_id ?? undefined;
  if (turn.message_ts === originalTs) return { ...known, replyId };
  // The turn was reassigned to an earlier message.
  markWaiting(deps, turn);
  return { ...known, replyId, resendsTurnId: (await messageOfTurn(context, turn)).resends_turn_id };
}
