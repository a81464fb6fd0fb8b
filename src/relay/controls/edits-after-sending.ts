import { noteWithButtons } from '../../render/messages/button-notes.ts';
import * as strings from '../../render/strings/index.ts';
import type { MessageKey, Turn } from '../../store/schema.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import { permittedTurn } from '../access/control-permission.ts';
import type { ChannelActor, ControlOutcome, PressAnswer, TurnPress } from '../runtime/control-request.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import type { InboxOutcome } from '../runtime/incoming-message.ts';
import { sendEphemeral } from '../runtime/private-notices.ts';
import { addPressedMessage } from './continue-and-retry.ts';
import { noteIfPaused, refreshPausedNotice } from './paused-messages.ts';

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
  const isAnswered = turn.settled_at !== null;
  if (outcome.change === 'deletion' && isAnswered) return;
  const edited = isAnswered ? strings.editedAfterAnswer : strings.editedAfterSending;
  const note =
    outcome.change === 'edit'
      ? noteWithButtons(edited, ['correct'], turn.id)
      : noteWithButtons(strings.deletedAfterSending, ['stop'], turn.id);
  await sendEphemeral(deps, { ...message, threadTs: turn.thread_ts }, note);
}

/** Sends the new text of a message that was edited after it was sent; each edit once. */
export async function correct(deps: RelayDeps, press: TurnPress): Promise<ControlOutcome | PressAnswer> {
  const turn = await permittedTurn(deps, press, 'correct');
  if (typeof turn === 'string') return turn;
  const isBusy = (await deps.store.turns.open(turn)) !== undefined;
  const outcome = await deps.store.transaction(async (store, trx) => {
    const edit = await store.earlyEdits.claim(messageKeyOf(turn), press.ts);
    if (edit?.content == null) return 'over';
    // Saved under the person who edited the message, so that erasing that person erases it too.
    const content = { ...edit.content, isCorrection: true } as const;
    const said_ts = (await store.messages.get(messageKeyOf(turn)))?.said_ts ?? null;
    const message = { content, edited_ts: edit.edited_ts, said_ts, revises_turn_id: turn.id };
    await addPressedMessage(deps, { store, trx }, turn, press, message);
    return 'done';
  });
  const told = await correctionState(deps, turn, outcome === 'done' && !isBusy);
  if (outcome === 'done') refreshPausedNotice(deps, { ...turn, ts: press.ts });
  return { outcome, ...(told !== undefined && { told }) };
}

/** What became of the correction of a turn's message; `isNext`: this press sent it, and nothing was before it. */
async function correctionState(deps: RelayDeps, turn: Turn, isNext: boolean): Promise<string | undefined> {
  const { earlyEdits, messages } = deps.store;
  const paused = await noteIfPaused(deps, turn);
  if (isNext && paused === undefined) return strings.correctionStates.next;
  const key = messageKeyOf(turn);
  const ts = (await earlyEdits.get(key))?.sent_as_ts ?? null;
  const correction = ts === null ? undefined : await messages.get({ ...key, ts });
  if (correction?.state === 'sending' || correction?.state === 'sent') return strings.correctionStates.sent;
  if (correction?.state !== 'waiting') return undefined;
  return paused ?? strings.correctionStates.waiting;
}
