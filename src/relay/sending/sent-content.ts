import { isDeepStrictEqual } from 'node:util';
import * as strings from '../../render/strings/index.ts';
import type { Message, SlackTs, Thread, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { TurnUpdate } from '../../store/threads/turn-steps.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import { HELD_POLL_MS, nextAllowedMessage } from '../access/next-message.ts';
import { withWriterName } from '../reading/message-to-markdown.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { sleepWithLease } from '../runtime/retry.ts';
import { MessagesPaused, TurnEnded } from '../runtime/turn-interruptions.ts';
import type { Attachments } from './attachments.ts';
import { isEmptyMessage } from './empty-message.ts';
import { fileLinkLines, isNoteResent, keptFileNotes, unreadLinkLines } from './file-refusals.ts';
import { withFormerTasks } from './former-tasks.ts';
import type { LinkedMessages } from './linked-messages.ts';
import { findResentMessage, type OutgoingMessage, readOutgoingMessage } from './outgoing-message.ts';

/** What goes with a message beside its text, and what of the message it was made of. */
export interface SentAlong extends Attachments {
  /** The message's last edit; null: its first version. */
  editedTs: SlackTs | null;
  /** What its links led to. */
  links: LinkedMessages;
}

/** What is frozen with a message, beside its content. */
export interface Freeze {
  attachments: SentAlong;
  /** Its reason is thrown. */
  stopSignal: AbortSignal;
  /** The message, if it has just been read. */
  known: Message | undefined;
  /** The task's last message, if the message is sent at once. */
  lastMessageId: string | undefined;
  /** The task that it is sent to. */
  taskId: string;
  /** The same, if the thread's row does not have it yet. */
  startedTaskId: string | null;
}

/**
 * Freezes the turn's message and records what is sent and the intent to send it, in one statement: later edits and
 * deletions come too late. Returns the turn without content where its files must be looked at again: the message was
 * edited, what it links to reads otherwise now, or an earlier one of the thread has arrived and the turn was reassigned
 * to that. Throws TurnEnded if the message was deleted, and TurnEnded or MessagesPaused if it was stopped.
 */
export async function recordSentContent(
  work: ThreadWork,
  thread: Thread,
  turn: Turn,
  { attachments, stopSignal, known, lastMessageId, taskId, startedTaskId }: Freeze,
): Promise<Turn> {
  const { store, settings } = work.deps;
  let isFirst = true;
  for (let message = known; ; message = undefined) {
    message ??= await store.messages.get(messageKeyOf(turn));
    if (message === undefined || message.state === 'withdrawn') throw new TurnEnded('withdrawn', null);
    if (message.state !== 'waiting') return frozenBefore(store, turn);
    if (message.edited_ts !== attachments.editedTs) return await unlessStopped(store, turn);
    const outgoing = await readOutgoingMessage(work, thread, message, stopSignal);
    if (!isDeepStrictEqual(outgoing.links, attachments.links)) return await unlessStopped(store, turn);
    // The statement itself sees whether an earlier message has arrived.
    const earlier = isFirst ? undefined : await nextAllowedMessage(work, turn, { before: message.ts });
    isFirst = false;
    if (earlier?.content != null && !isEmptyMessage(earlier.content, work.workspace.bot.userId)) {
      const reassigned = await store.turns.reassign(turn, earlier);
      if (reassigned !== undefined) return reassigned;
    }
    const own = await contentToSend(work, thread, { turn, message, outgoing, attachments });
    const content = { ...own, ...(await withFormerTasks(work, thread, { taskId, message, ...own })) };
    const skill = content.skill ?? settings.skill ?? null;
    const intent = lastMessageId !== undefined && {
      skill,
      sent_after_message_id: lastMessageId,
      send_intended_at: new Date(),
    };
    const values = { ...content, ...intent };
    const frozen = await lockedIfForwarded(store, turn, (within) =>
      within.turns.freeze(turn, message, values, { earlierTs: earlier?.ts, startedTaskId }),
    );
    // A process that ends before this lets the next message quote them again.
    if (frozen !== undefined) await store.messages.markQuoted(message, outgoing.quoted);
    if (frozen !== undefined) return frozen;
    const now = await unlessStopped(store, turn);
    if (now.message_ts !== turn.message_ts) return now;
    if (await store.backfills.holds(turn)) await sleepWithLease(HELD_POLL_MS, work.lease);
  }
}

/** The turn whose message no longer waits: this run has frozen it, in a statement whose answer did not reach us. */
async function frozenBefore(store: Store, turn: Turn): Promise<Turn> {
  const now = await unlessStopped(store, turn);
  if (now.prompt === null) throw new TurnEnded('withdrawn', null);
  return now;
}

/** What is sent: the content of the message that it repeats, or its own with the files that earlier messages left for it. */
async function contentToSend(
  { deps: { store }, workspace }: ThreadWork,
  { participant_ids }: Thread,
  sent: {
    turn: Turn;
    message: Message;
    outgoing: OutgoingMessage;
    attachments: Pick<Attachments, 'attached_file_ids' | 'notes'>;
  },
): Promise<TurnUpdate & Pick<Turn, 'quoted_ids'> & { prompt: string }> {
  const { turn, message, outgoing, attachments } = sent;
  const resent = await findResentMessage(store, message);
  if (resent !== undefined) {
    const { content, attached_file_ids, skill, quoted_ids, notes } = resent;
    return {
      prompt: content,
      attached_file_ids,
      skill,
      quoted_ids,
      ...(notes.length === 0 ? {} : { file_notes: notes }),
    };
  }
  const keptTurns = await store.keptFiles.take(turn);
  const keptFiles = keptTurns.flatMap((kept) => kept.attached_file_ids ?? []);
  const attached = [...new Set([...keptFiles, ...attachments.attached_file_ids])];
  const keptNotes = keptTurns.flatMap(keptFileNotes);
  const ownText = outgoing.text === '' ? strings.filesOnly(attached.length) : outgoing.text;
  const links = fileLinkLines([...keptNotes, ...attachments.notes]);
  const text = [ownText, links, unreadLinkLines(attachments.notes)]
    .filter((part) => part !== '')
    .join('\n\n');
  const notes = [...keptNotes.filter(isNoteResent), ...attachments.notes];
  const isOnlyWriter = participant_ids.every((writer) => writer === message.user_id);
  return {
    prompt: isOnlyWriter ? text : withWriterName(text, await workspace.people.personName(message.user_id)),
    attached_file_ids: attached,
    skill: outgoing.choices.skill ?? null,
    quoted_ids: [...outgoing.quotedIds],
    ...(notes.length === 0 ? {} : { file_notes: notes }),
  };
}

/**
 * Takes a step that a stop must come before or find. Of a turn's own stop, the turn's row says which came first; a message
 * that another run forwards stops with that run, so its step and the check before it have the thread's lock.
 */
export async function lockedIfForwarded<T>(
  store: Store,
  turn: Turn,
  step: (store: Store) => Promise<T>,
): Promise<T> {
  if (turn.forwarded_by_turn_id === null) return step(store);
  return store.transaction(async (locked) => {
    await locked.threads.lock(turn);
    await unlessStopped(locked, turn);
    return step(locked);
  });
}

/**
 * The turn as it is now, if its message may still be sent. Throws TurnEnded if the turn was stopped or is gone, and
 * MessagesPaused where the run that the message was to be forwarded to was stopped.
 */
export async function unlessStopped(
  { turns, pausedThreads }: Pick<Store, 'turns' | 'pausedThreads'>,
  { workspace, id }: Pick<Turn, 'workspace' | 'id'>,
): Promise<Turn> {
  const now = await turns.get(workspace, id);
  if (now === undefined) throw new TurnEnded('withdrawn', null);
  if (now.stop_requested_at !== null) throw new TurnEnded('cancelled', null);
  if (now.forwarded_by_turn_id === null) return now;
  const run = await turns.get(workspace, now.forwarded_by_turn_id);
  const isStopping = run !== undefined && run.finished_at === null && run.stop_requested_at !== null;
  if (isStopping || (await pausedThreads.pausedBy(now)) !== undefined) throw new MessagesPaused();
  return now;
}
