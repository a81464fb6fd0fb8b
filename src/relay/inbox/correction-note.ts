import { noteWithButtons } from '../../render/messages/button-notes.ts';
import * as strings from '../../render/strings/index.ts';
import type { Message, MessageKey } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { hasSettled } from '../../store/threads/turn-phase.ts';
import { filesOf } from '../reading/message-parser.ts';
import { isSameAsWritten, mergedVersions, withoutFiles } from '../reading/message-versions.ts';
import type { ChannelActor } from '../runtime/control-request.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import { type ChangedMessage, type InboxOutcome, isEarlierTs } from '../runtime/incoming-message.ts';
import { sendEphemeral } from '../runtime/private-notices.ts';

/** How long a person surely still sees a note that only they see (s): it is gone once they reload Slack. */
const NOTE_SEEN_S = 600;

/** Keeps what a version adds to a message that was sent, for the button that sends the correction. */
export async function offerCorrection(
  { pendingEdits }: Pick<Store, 'pendingEdits'>,
  known: Message,
  { message, editedTs: edited_ts, before }: ChangedMessage,
): Promise<InboxOutcome> {
  if (known.state === 'unsent' || known.state === 'withdrawn' || known.state === 'refused')
    return { kind: 'ignored', why: `an edit of a message that is ${known.state}` };
  const kept = await pendingEdits.get(known);
  // An edit may arrive after the deletion.
  if (kept?.is_deletion === true) return { kind: 'known' };
  const version = { content: message.content, edited_ts };
  const sent = known.content ?? before;
  let last = sent && { content: sent, edited_ts: known.edited_ts };
  if (kept?.content != null) {
    const edit = { content: kept.content, edited_ts: kept.edited_ts };
    last = last === undefined ? edit : mergedVersions(last, edit);
  }
  // Of a message whose text is erased, only the time tells whether an edit is new.
  const lastTs = last?.edited_ts ?? known.edited_ts;
  const isOld = edited_ts === null || (lastTs !== null && !isEarlierTs(lastTs, edited_ts));
  const merged = last === undefined ? version : mergedVersions(last, version);
  if (last === undefined ? isOld : isSameAsWritten(last.content, merged.content)) return { kind: 'known' };
  // The files went with the message.
  const sentFileIds = filesOf(sent ?? {}).map(({ id }) => id);
  const content = withoutFiles(merged.content, sentFileIds);
  const correction = { is_deletion: false, content, edited_ts: merged.edited_ts };
  await pendingEdits.record(known, correction, message.person);
  // The note on an edit just before sends this one.
  const isOffered = kept?.content != null && kept.sent_as_ts === null && kept.edited_ts !== null;
  const isNoteSeen = isOffered && Number(edited_ts) - Number(kept.edited_ts) < NOTE_SEEN_S;
  return isNoteSeen ? { kind: 'reworded' } : { kind: 'too_late', change: 'edit' };
}

/**
 * Tells the person who edited or deleted a message that the agent has, in an ephemeral note whose buttons send the
 * correction or stop the run. If the editor is unknown, `person` is '' and nobody gets a note. Throws a SlackError.
 */
export async function tellOfLateEdit(
  deps: RelayDeps,
  outcome: InboxOutcome,
  message: ChannelActor & MessageKey,
): Promise<void> {
  if (outcome.kind !== 'too_late' || message.person === '') return;
  const turn = await deps.store.turns.ofMessage(message);
  if (turn === undefined) return;
  const hasEnded = hasSettled(turn); // With or without a reply.
  if (outcome.change === 'deletion' && hasEnded) return; // Nothing is left to stop.
  const editNote = hasEnded
    ? noteWithButtons(strings.editedAfterEnd, ['correct'], message.ts)
    : noteWithButtons(strings.editedAfterSending, ['send_instead', 'correct'], message.ts);
  const note =
    outcome.change === 'edit' ? editNote : noteWithButtons(strings.deletedAfterSending, ['stop'], turn.id);
  await sendEphemeral(deps, { ...message, threadTs: turn.thread_ts }, note);
}
