import { noteWithButtons } from '../../render/messages/button-notes.ts';
import * as strings from '../../render/strings/index.ts';
import type { MessageKey, ThreadKey } from '../../store/schema.ts';
import { mayUseControl, useOnTurn } from '../access/control-permission.ts';
import { seeksOwnReply } from '../replies/reply-finder.ts';
import type { ChannelActor, ControlOutcome, MessagePress, PressAnswer } from '../runtime/control-request.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import type { InboxOutcome } from '../runtime/incoming-message.ts';
import { trySendEphemeral } from '../runtime/private-notices.ts';
import { noteIfPaused } from './paused-messages.ts';

/** Offers a thread's next message to its run, if this process has it; false if it was not offered. */
type PassOn = (thread: ThreadKey, isAsked: boolean) => boolean;

/** Passes a message on if the run pauses; else offers the button to its writer, once for all that they write meanwhile. */
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
  if (open !== undefined && seeksOwnReply(open)) return;
  const note = noteWithButtons(strings.messageQueued, ['send_now'], ts);
  trySendEphemeral(deps, { ...writer, threadTs: outcome.thread.thread_ts }, note);
}

/** Handles the button: the run gets the message, and what its writer wrote after it, as soon as it takes one, in any process. */
export async function sendNow(
  deps: RelayDeps,
  passOn: PassOn,
  { workspace, channel, person, messageTs: ts }: MessagePress,
): Promise<ControlOutcome | PressAnswer> {
  const { messages } = deps.store;
  const message = await messages.get({ workspace, channel, ts });
  if (message === undefined) return 'unknown';
  const use = useOnTurn({ ...message, asked_by: message.user_id }, person, 'send_now');
  if (!(await mayUseControl(deps, use))) return 'refused';
  const paused = await noteIfPaused(deps, message);
  if (message.state === 'waiting' && paused !== undefined) return { outcome: 'done', told: paused };
  const count = paused === undefined ? await messages.makeUrgent(message) : 0;
  const told = count === 0 ? strings.sendNowTooLate(message.state) : strings.passingOn(count);
  if (count === 0 && message.state !== 'withdrawn') return { outcome: 'over', told };
  if (count > 0) passOn(message, true);
  return { outcome: 'done', replacement: { text: told, blocks: [] } };
}
