import { noteWithButtons } from '../../render/messages/button-notes.ts';
import * as strings from '../../render/strings/index.ts';
import type { MessageKey, ThreadKey } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { hasSettled } from '../../store/threads/turn-phase.ts';
import { mayUseControl, useOnTurn } from '../access/control-permission.ts';
import { seeksOwnReply } from '../replies/reply-reader.ts';
import type {
  ButtonHandlers,
  ChannelActor,
  ControlOutcome,
  MessagePress,
  PressAnswer,
} from '../runtime/control-request.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import type { InboxOutcome } from '../runtime/incoming-message.ts';
import { trySendEphemeral } from '../runtime/private-notices.ts';
import { correct } from './edits-after-sending.ts';
import { answerAbout } from './sent-notes.ts';
import type { StopControl } from './stop-control.ts';

/** Offers a thread's next message to its run, if this process has it; false if it was not offered. */
type PassOn = (thread: ThreadKey, isAsked: boolean) => boolean;

/** Passes a message on if the run pauses; else offers the buttons to its writer, once for all that they write meanwhile. */
export async function offerSendNow(
  deps: RelayDeps,
  passOn: PassOn,
  outcome: InboxOutcome,
  { ts, ...writer }: ChannelActor & MessageKey,
): Promise<void> {
  if (outcome.kind !== 'admitted' || !outcome.isQueued || outcome.isPaused) return;
  if (passOn(outcome.thread, false)) return;
  const { messages, turns } = deps.store;
  if (await messages.hasEarlierWaiting(outcome.thread, writer.person, ts)) return;
  const open = await turns.open(outcome.thread);
  // Its reply is over; this message goes next, within seconds.
  if (open !== undefined && (hasSettled(open) || seeksOwnReply(open))) return;
  const note = noteWithButtons(strings.messageQueued, ['send_now', 'send_instead'], ts);
  trySendEphemeral(deps, { ...writer, threadTs: outcome.thread.thread_ts }, note);
}

/** Handles **Send now**: the run gets the message, and what its writer wrote after it, as soon as it takes one, in any process. */
export async function sendNow(
  deps: RelayDeps,
  passOn: PassOn,
  press: MessagePress,
): Promise<ControlOutcome | PressAnswer> {
  const message = await messageOf(deps, press);
  if (message === undefined) return 'unknown';
  const use = useOnTurn({ ...message, asked_by: message.user_id }, press.person, 'send_now');
  if (!(await mayUseControl(deps, use))) return 'refused';
  const isPaused = (await deps.store.pausedThreads.pausedBy(message)) !== undefined;
  const urgent = isPaused ? [] : await deps.store.messages.makeUrgent(message);
  if (urgent.length === 0) return answerAbout(deps, [message]);
  passOn(message, true);
  return answerAbout(deps, urgent, strings.passingOn(urgent.length));
}

interface InsteadDeps {
  stopControl: Pick<StopControl, 'requestStop'>;
  sendPaused: ButtonHandlers<'send_paused'>['send_paused'];
}

/**
 * Handles **Stop and send this instead**, below the note on a message that waits, or that was edited while the agent
 * answers it: stops the run, and sends the newest words next, before what others have waiting.
 */
export async function sendInstead(
  deps: RelayDeps,
  { stopControl, sendPaused }: InsteadDeps,
  press: MessagePress,
): Promise<ControlOutcome | PressAnswer> {
  const { store } = deps;
  const message = await messageOf(deps, press);
  if (message === undefined) return 'unknown';
  const use = useOnTurn({ ...message, asked_by: message.user_id }, press.person, 'send_instead');
  if (!(await mayUseControl(deps, use))) return 'refused';
  const pausedBy = await store.pausedThreads.pausedBy(message);
  const resumes = pausedBy !== undefined && { ...press, turnId: pausedBy, messageTs: undefined };
  if (resumes && (await sendPaused(resumes)) === 'refused') return 'refused';
  if (message.state !== 'waiting' && (await store.earlyEdits.get(message)) !== undefined)
    return correct(deps, press, (request) => stopControl.requestStop(request));
  let urgent: MessageKey[] = [];
  const instead = async (within: Store) => {
    urgent = await within.messages.makeUrgent(message);
    return urgent.length > 0;
  };
  const turn = await store.turns.running(message);
  const request = turn && { ...press, turnId: turn.id, turn, control: 'send_instead', instead };
  if (request && (await stopControl.requestStop(request)) === 'refused') return 'refused';
  // The run may have ended meanwhile: then the message goes next all the same.
  if (urgent.length === 0) await instead(store);
  if (urgent.length === 0) return answerAbout(deps, [message]);
  return answerAbout(deps, urgent, strings.sendingInstead);
}

function messageOf({ store }: RelayDeps, { workspace, channel, messageTs: ts }: MessagePress) {
  return store.messages.get({ workspace, channel, ts });
}
