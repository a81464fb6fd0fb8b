import type { Transaction } from 'kysely';
import { noteWithButtons } from '../../render/messages/button-notes.ts';
import * as strings from '../../render/strings/index.ts';
import type { MessageKey, Tables } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { hasSettled } from '../../store/threads/turn-phase.ts';
import { permittedTurn } from '../access/control-permission.ts';
import type { ChannelActor, ControlOutcome, MessagePress, PressAnswer } from '../runtime/control-request.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import type { InboxOutcome } from '../runtime/incoming-message.ts';
import { sendEphemeral } from '../runtime/private-notices.ts';
import { addPressedMessage } from './continue-and-retry.ts';
import { refreshPausedNotice } from './paused-messages.ts';
import { answerAbout, outcomeOf } from './sent-notes.ts';
import type { StopControl } from './stop-control.ts';

/**
 * Tells who has edited or deleted a message that the agent already has, in an ephemeral note whose button sends the
 * correction. `message.person` is '' if Slack does not name the editor: then nobody gets a note. Throws a SlackError.
 */
export async function tellOfLateEdit(
  deps: RelayDeps,
  outcome: InboxOutcome,
  message: ChannelActor & MessageKey,
): Promise<void> {
  if (outcome.kind !== 'too_late' || message.person === '') return;
  const turn = await deps.store.turns.ofMessage(message);
  if (turn === undefined) return;
  const isAnswered = hasSettled(turn);
  if (outcome.change === 'deletion' && isAnswered) return;
  const edited = isAnswered
    ? noteWithButtons(strings.editedAfterAnswer, ['correct'], message.ts)
    : noteWithButtons(strings.editedAfterSending, ['send_instead', 'correct'], message.ts);
  const note =
    outcome.change === 'edit' ? edited : noteWithButtons(strings.deletedAfterSending, ['stop'], turn.id);
  await sendEphemeral(deps, { ...message, threadTs: turn.thread_ts }, note);
}

/**
 * Sends the new text of a message that was edited after it was sent; each edit once. With `requestStop`, it goes next, in
 * place of the answer to the old text.
 */
export async function correct(
  deps: RelayDeps,
  press: MessagePress,
  requestStop?: StopControl['requestStop'],
): Promise<ControlOutcome | PressAnswer> {
  const { workspace, channel, messageTs } = press;
  const key = { workspace, channel, ts: messageTs };
  const turnId = (await deps.store.turns.ofMessage(key))?.id ?? '';
  const control = requestStop === undefined ? 'correct' : 'send_instead';
  const turn = turnId === '' ? 'unknown' : await permittedTurn(deps, { ...press, turnId }, control);
  if (typeof turn === 'string') return turn;
  const isBusy = (await deps.store.turns.open(turn)) !== undefined;
  const send = async (store: Store, trx: Transaction<Tables>) => {
    const edit = await store.earlyEdits.claim(key, press.ts);
    if (edit?.content == null) return false;
    // Saved under the person who edited the message, so that erasing that person erases it too.
    const content = { ...edit.content, isCorrection: true } as const;
    const said_ts = (await store.messages.get(key))?.said_ts ?? null;
    const isUrgent = requestStop !== undefined;
    const message = {
      ...{ content, edited_ts: edit.edited_ts, said_ts },
      ...{ revises_turn_id: turn.id, is_urgent: isUrgent },
    };
    await addPressedMessage(deps, { store, trx }, turn, press, message);
    return true;
  };
  const stop = { ...press, turnId, turn, control, instead: send };
  const stopped = hasSettled(turn) ? undefined : await requestStop?.(stop);
  if (stopped === 'refused') return stopped;
  // The answer may have ended meanwhile.
  const isSent = stopped === 'done' || stopped === 'stopping' || (await deps.store.transaction(send));
  if (isSent) refreshPausedNotice(deps, { ...turn, ts: press.ts });
  const sentAs = isSent ? press.ts : (await deps.store.earlyEdits.get(key))?.sent_as_ts;
  const sent = { ...key, ts: sentAs ?? press.ts };
  if (requestStop !== undefined)
    return answerAbout(deps, [sent], isSent ? strings.sendingInstead : undefined);
  const told = isSent && !isBusy ? strings.passingOn(1) : await outcomeOf(deps, sent);
  return { outcome: isSent ? 'done' : 'over', told };
}
