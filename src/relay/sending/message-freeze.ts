import * as strings from '../../render/strings/index.ts';
import type { Message, Thread, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import { nextAllowedMessage, nextMessage } from '../access/next-message.ts';
import { isEmptyMessage } from '../reading/empty-message.ts';
import { withWriterName } from '../reading/readable-text.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { TurnEnded } from '../runtime/turn-interruptions.ts';
import type { Attachments } from './attachments.ts';
import { fileLinkLines, isNoteResent, keptFileNotes } from './file-notes.ts';
import { findResentMessage, type OutgoingMessage, readOutgoingMessage } from './outgoing-message.ts';
import { unlessStopped } from './stop-check.ts';

/**
 * Freezes the turn's message and records what is sent, in one transaction: later edits and deletions come too late. If
 * an earlier message of the thread has arrived meanwhile, the turn is reassigned to that one and returned without
 * content. Throws TurnEnded where the message was deleted, and TurnEnded or MessagesPaused where it was stopped.
 */
export async function freezeMessage(
  work: ThreadWork,
  thread: Thread,
  turn: Turn,
  attachments: Pick<Attachments, 'attached_file_ids' | 'notes'>,
): Promise<Turn> {
  const { deps, workspace } = work;
  const key = messageKeyOf(turn);
  for (;;) {
    const message = await deps.store.messages.get(key);
    if (message === undefined || message.state === 'withdrawn') throw new TurnEnded('withdrawn', null);
    const outgoing = await readOutgoingMessage(work, thread, message);
    const writerName = await workspace.people.personName(message.user_id);
    const earlier = await nextAllowedMessage(work, turn, { before: message.ts });
    const frozen = await deps.store.transaction(async (store) => {
      await store.threads.lock(turn);
      const current = await unlessStopped(store, turn);
      // This transaction may have run before without its answer reaching us.
      if (current.prompt !== null || current.message_ts !== turn.message_ts) return current;
      const next = await nextMessage(store, turn, message.ts);
      if (next?.content != null && !isEmptyMessage(next.content, workspace.bot.userId))
        return next.ts === earlier?.ts ? store.turns.reassign(turn, next) : undefined;
      const currentMessage = await store.messages.get(key);
      if (currentMessage?.edited_ts !== message.edited_ts) return undefined;
      const resent = await findResentMessage(store, message);
      if ((await store.messages.freeze(key)) === undefined) throw new TurnEnded('withdrawn', null);
      if (resent === undefined) await store.messages.markQuoted(key, outgoing.quoted);
      if (resent === undefined) return recordContent(store, turn, message, writerName, outgoing, attachments);
      const { content, attached_file_ids, skill, notes } = resent;
      return store.turns.record(turn, {
        prompt: content,
        attached_file_ids,
        skill,
        ...(notes.length === 0 ? {} : { file_notes: notes }),
      });
    });
    if (frozen !== undefined) return frozen;
  }
}

/** Records a message's content, with the files that earlier messages left for it. */
async function recordContent(
  { threads, turns }: Store,
  turn: Turn,
  message: Message,
  writerName: string,
  outgoing: OutgoingMessage,
  attachments: Pick<Attachments, 'attached_file_ids' | 'notes'>,
): Promise<Turn> {
  const writers = await threads.addParticipant(turn, message.user_id);
  const keptTurns = await turns.takeKeptFiles(turn);
  const keptFiles = keptTurns.flatMap((kept) => kept.attached_file_ids ?? []);
  const attached = [...new Set([...keptFiles, ...attachments.attached_file_ids])];
  const keptNotes = keptTurns.flatMap(keptFileNotes);
  const ownText = outgoing.text === '' ? strings.filesOnly(attached.length) : outgoing.text;
  const links = fileLinkLines([...keptNotes, ...attachments.notes]);
  const text = [ownText, links].filter((part) => part !== '').join('\n\n');
  const notes = [...keptNotes.filter(isNoteResent), ...attachments.notes];
  return turns.record(turn, {
    prompt: writers.length > 1 ? withWriterName(text, writerName) : text,
    attached_file_ids: attached,
    skill: outgoing.choices.skill ?? null,
    ...(notes.length === 0 ? {} : { file_notes: notes }),
  });
}
