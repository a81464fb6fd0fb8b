import * as strings from '../../render/strings/index.ts';
import { ChannelGoneError, isPermanentRefusal, PayloadRefusedError } from '../../slack/errors.ts';
import { StoreError } from '../../store/errors.ts';
import type { WholeMessage } from '../../store/threads/messages.ts';
import { isAtService, isSendInDoubt } from '../../store/threads/turn-phase.ts';
import { sendStop } from '../controls/stop-control.ts';
import { markWaiting } from '../controls/waiting-reactions.ts';
import { actorName } from '../reading/display-names.ts';
import { findReply, SETTLED_TASK_SHORT_MS, seeksOwnReply } from '../replies/reply-reader.ts';
import { sleepWithLease } from '../runtime/lease.ts';
import { Interruption, isInterruption, TurnEnded } from '../runtime/turn-exceptions.ts';
import { isThreadUnreachable } from '../runtime/unreachable-threads.ts';
import { endTurnIfEmpty, endTurnIfFilesOnly, isEmptyMessage } from '../sending/empty-message.ts';
import { messageOfTurn, wholeMessage, withRest } from '../sending/outgoing-message.ts';
import { Sender } from '../sending/sender.ts';
import { closeMessage, requeueMessage } from '../sending/unsent-message.ts';
import { postNewTaskNotice, prepareSharedChannelNotice } from './one-time-notices.ts';
import { type FollowedReply, followReply } from './reply-follower.ts';
import type { TurnContext } from './turn-context.ts';
import { closeTurn, endEarly, endSettledTurn } from './turn-end.ts';
import { stopRunAndTellAsker } from './unreachable-thread.ts';

/** How long (ms) a refused channel may turn out to have another id. */
const CHANNEL_MOVE_GRACE_MS = 3_000;

/**
 * Runs one turn, from the waiting message to the posted results; if it `isPoisoned`, after too many attempts
 * without progress, only ends it. A permanent error ends it in its thread or, if the thread is unreachable, in a
 * direct message. Throws what leaves it open: an Interruption, a StoreError, or a lost lease's reason.
 */
export async function runTurn(context: TurnContext, isPoisoned: boolean): Promise<void> {
  const { log } = context.deps;
  if (isPoisoned) log.error({ turn: context.turn.id }, 'turn abandoned: too many attempts without progress');
  try {
    const abandon = () => endEarly(context, new TurnEnded('abandoned', strings.retriesExhausted));
    const steps = isPoisoned ? abandon() : takeSteps(context);
    await steps.catch((error: unknown) => endOrRequeueAfter(context, error));
  } catch (error) {
    // The turn cannot end in its thread: Slack refuses even the sentence that ends it, or has no place for one.
    const isRefused = error instanceof PayloadRefusedError || (isPoisoned && isPermanentRefusal(error));
    if (!isRefused && !isThreadUnreachable(error)) throw error;
    if (error instanceof ChannelGoneError && (await hasMoved(context))) throw new Interruption('hand_over');
    await endOutsideThread(context, error);
  } finally {
    await context.reply.suspend();
  }
}

/** Ends a turn that cannot end in its thread, and its run. Its asker is told in a direct message. */
async function endOutsideThread(context: TurnContext, error: unknown): Promise<void> {
  const { deps, reply, turn } = context;
  deps.log.warn({ err: error, turn: turn.id }, 'a turn cannot end in its thread');
  await stopRunAndTellAsker(context);
  await closeMessage(deps, turn);
  await reply.close();
  await context.row.write((rest) => deps.store.turns.finish(turn, 'abandoned', rest));
}

/** Whether the turn's channel has another id, or the turn is gone, after a wait for Slack to tell of the new id. */
async function hasMoved({ deps, turn, lease }: TurnContext): Promise<boolean> {
  await sleepWithLease(CHANNEL_MOVE_GRACE_MS, lease);
  return (await deps.store.turns.get(turn.workspace, turn.id))?.channel !== turn.channel;
}

/** Ends a turn in its thread, or requeues its message. Throws if the turn stays open or its thread is unreachable. */
async function endOrRequeueAfter(context: TurnContext, error: unknown): Promise<void> {
  const { deps, turn, reply, lease } = context;
  const staysOpen = isInterruption(error, 'hand_over') || error instanceof StoreError;
  if (staysOpen || lease.remainingMs() <= 0 || isThreadUnreachable(error)) throw error;
  if (!isInterruption(error, 'waits_again')) return endEarly(context, error);
  await context.withRetry(() => requeueMessage(deps, turn, reply));
}

/** Takes the steps of a turn that are left: sends its message, follows the reply, posts the results. */
async function takeSteps(context: TurnContext): Promise<void> {
  const { state } = context;
  if (context.turn.stop_requested_at !== null) context.requestStop();
  const reply = await sendUnlessSent(context);
  if (reply === 'answered_by_run') return closeTurn(context, 'completed');
  await showInstructions(context);
  state.setFileNotes(context.turn.file_notes ?? []);
  state.update({ phase: 'working', sentence: undefined });
  const isTaskWorking = await followReply(context, reply);
  await endSettledTurn(context, isTaskWorking);
}

/**
 * Shows the reply and sends the turn's message, unless it was sent before. Returns what is known of the reply;
 * `answered_by_run`: a run that got the message has answered it. Throws TurnEnded if nothing is to be sent.
 */
async function sendUnlessSent(context: TurnContext): Promise<FollowedReply | 'answered_by_run'> {
  const channelSettings = await applyChannelSettings(context);
  const ownReply = await findOwnReply(context);
  if (ownReply === 'answered_by_run') return ownReply;
  const { message, isAlone } = await readOwnMessage(context);
  await endTurnIfEmpty(context, context.turn, message);
  const isFromForm = message.content?.choices !== undefined;
  const known: FollowedReply = { ...ownReply, resendsTurnId: message.resends_turn_id, isFromForm };
  if (isAtService(context.turn)) {
    await context.openReply();
    return known;
  }
  await openWithNotices(context);
  const readAtBegin = { thread: context.begun?.thread, message: isAlone ? message : undefined };
  const sender = new Sender(context, { ...readAtBegin, channelSettings });
  await endTurnIfFilesOnly(context, context.turn, message, sender);
  // A message that surely was not sent need not be looked for: a stop counts at once.
  if (!isSendInDoubt(context.turn)) context.stopSignal.throwIfAborted();
  // An earlier process was ending the turn, and may have offered to try again.
  if (message.state === 'closed') throw new TurnEnded('abandoned', strings.retriesExhausted);
  if (message.state === 'withdrawn') throw new TurnEnded('withdrawn', null);
  return sendMessage(context, sender, known);
}

/** Applies its channel's settings to the reply, and the app's setting to check sources. Returns the channel's. */
async function applyChannelSettings({ deps, state, turn, begun }: TurnContext) {
  const { workspace, channel } = turn;
  const settings = begun?.message.settings ?? (await deps.store.settings.inForce(workspace, channel));
  const { checksSources } = deps.settings;
  state.update({ hideSteps: !settings.show_steps, hideSources: !settings.show_sources, checksSources });
  return settings;
}

/** Shows the reply, and tells what a channel or a person is told once. */
async function openWithNotices(context: TurnContext): Promise<void> {
  // Asks now who can read the channel, if nobody has yet. The reply is opened without a wait for the answer.
  const postSharedChannelNotice = prepareSharedChannelNotice(context);
  await context.openReply();
  await context.withRetry(postSharedChannelNotice);
  await context.withRetry(() => postNewTaskNotice(context));
}

/** Reads the turn's message. If it seems empty, and only its app_mention came so far, waits for its rest. */
async function readOwnMessage(context: TurnContext): Promise<{ message: WholeMessage; isAlone: boolean }> {
  const { begun, turn, workspace } = context;
  // The only message that waits goes alone: what the turn began with is all that is to be read.
  const isAlone = begun?.message.waiting_count === 1;
  const arrived = isAlone ? wholeMessage(begun.message) : await messageOfTurn(context, turn);
  const { content, is_partial } = arrived;
  const seemsEmpty = is_partial && isEmptyMessage(content ?? { text: '' }, workspace.bot.userId);
  return { message: seemsEmpty ? await withRest(context, arrived) : arrived, isAlone };
}

/** Looks for a passed-on message's own reply: without one, the run has answered it. {}: `followReply` finds the reply. */
async function findOwnReply(context: TurnContext): Promise<{ replyId?: string } | 'answered_by_run'> {
  const { deps, turn, stopSignal } = context;
  if (!seeksOwnReply(turn)) return {};
  // Without a task there is nowhere to look: `followReply` then ends the turn.
  if ((await context.thread()).task_id === null) return {};
  const message = await context.withRetry(() => context.answeredMessage());
  // Somebody stopped the turn, or the next message waits for the end of it.
  const isEndAwaited = async () => stopSignal.aborted || (await deps.store.messages.hasLater(turn));
  const settledMs = async () =>
    (await isEndAwaited()) ? SETTLED_TASK_SHORT_MS : deps.settings.settledTaskMs;
  const replyId = await context.withRetry(() => findReply(message, settledMs));
  return replyId === undefined ? 'answered_by_run' : { replyId };
}

/** Says in the reply which instructions a task's first message had, or that its skill left them out. */
async function showInstructions({ deps, turn, state }: TurnContext): Promise<void> {
  const { workspace, instructions_set_by: person, instructions_set_at: setAt } = turn;
  if (setAt !== null) {
    const name = await actorName(deps, { workspace, person: person ?? '' });
    return state.update({ instructions: strings.withInstructions(name, setAt) });
  }
  // Only a message with a skill goes without the channel's instructions.
  if (turn.skill === null || turn.task_id === null) return;
  const { instructions } = await deps.store.settings.get(workspace, turn.channel);
  if (instructions !== null && !(await deps.store.threads.hasOtherTurnSent(turn, turn.task_id)))
    state.update({ instructions: strings.withoutInstructions });
}

/** Sends the message to the service. Returns `known`, with the reply's id if the service has named it. */
async function sendMessage(context: TurnContext, sender: Sender, known: FollowedReply) {
  const { deps } = context;
  const originalTs = context.turn.message_ts;
  context.onSent(await sender.send());
  const { turn } = context;
  // A stop that was requested while the message was being sent had nothing to cancel yet.
  const stop = async () => sendStop(deps, (await deps.store.turns.get(turn.workspace, turn.id)) ?? turn);
  if (turn.stop_requested_at !== null) await context.withRetry(stop);
  const sent = { ...known, replyId: turn.assistant_message_id ?? undefined };
  if (turn.message_ts === originalTs) return sent;
  // An earlier message came meanwhile: the turn has sent that message, and its own waits again.
  markWaiting(deps, turn);
  return { ...sent, resendsTurnId: (await messageOfTurn(context, turn)).resends_turn_id };
}
