import { withLists, withUnnamedWriter, withWriterName } from '../../render/prompt-frame.ts';
import * as strings from '../../render/strings/index.ts';
import { shorten } from '../../render/text-format.ts';
import type { Message, SlackTs, Thread, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { isFrozen } from '../../store/threads/turn-phase.ts';
import type { TurnUpdate } from '../../store/threads/turn-steps.ts';
import { lookUpReferences, toldApart } from '../reading/display-names.ts';
import { referencePiece } from '../reading/parsed-blocks.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { isBotId, isDirectChannel } from '../runtime/incoming-message.ts';
import { sleepWithLease } from '../runtime/lease.ts';
import { inBackground } from '../runtime/poller.ts';
import { TurnEnded } from '../runtime/turn-exceptions.ts';
import type { TurnRow } from '../runtime/turn-row.ts';
import { isNoteResent, noteLists } from './allowed-files.ts';
import type { Attachments } from './attachments.ts';
import { withFormerTasks } from './earlier-messages.ts';
import { isEmptyMessage, takeKeptFiles } from './empty-message.ts';
import { HELD_POLL_MS, nextAllowedMessage } from './next-message.ts';
import type { OutgoingMessage } from './outgoing-message.ts';
import { resendChain, unquotedPrompt } from './resent-message.ts';
import { NO_INSTRUCTIONS, withStandingInstructions } from './standing-instructions.ts';
import { hasFrozenMessage } from './thread-task.ts';

/** A message to freeze, and what is frozen with it. */
export interface FreezeRequest {
  outgoing: OutgoingMessage;
  attachments: Attachments;
  /** The task's last message; '' if it has none; undefined if unknown: the delivery then records the intent. */
  lastMessageId: string | undefined;
  taskId: string;
  /** The task's id if the thread's row does not have it yet. */
  startedTaskId: string | null;
  /** The channel had standing instructions when the turn began. */
  hasInstructions: boolean;
}

/** `read_again`: the message was edited or is held, or the turn has another message now, because an earlier one has come. */
export type FreezeOutcome = 'frozen' | 'read_again';

/**
 * Freezes the turn's message: records what is sent and the intent to send it, in one statement. Later edits
 * and deletes come too late. `read_again`: nothing is frozen. Throws TurnEnded if the message was deleted or
 * nothing of it can be sent, and TurnEnded or Interruption if it was stopped.
 */
export async function recordSentContent(
  work: ThreadWork & { row: TurnRow },
  thread: Thread,
  request: FreezeRequest,
): Promise<FreezeOutcome> {
  const { row } = work;
  const { turn } = row;
  const { message, unsentTs } = request.outgoing;
  // It was deleted, or frozen by a statement whose answer did not reach us.
  if (message.state !== 'waiting') return endUnlessFrozen(row, message);
  const values = await composeValues(work, thread, turn, request);
  const title = await newTitle(work.deps.store, thread, turn, request);
  // Whoever sends a message again need not be its writer.
  const original = (await resendChain(work.deps.store, message)).at(-1);
  const writer = original === undefined ? message.user_id : original.asked_by;
  // False if the turn was stopped, or the message was edited, is held, or follows a waiting one other than `earlierTs`.
  const tryToFreeze = async (earlierTs?: SlackTs) => {
    const { startedTaskId } = request;
    const options = { earlierTs, startedTaskId, title, writer, others: message.parts.slice(1) };
    if (!(await row.writeUnlessStopped(({ turns }) => turns.freeze(turn, message, values, options))))
      return false;
    // If the process ends before this, the next message quotes the same unsent ones again.
    await work.deps.store.messages.markQuoted(message, unsentTs);
    if (title !== undefined) showTaskTitle(work, turn, title);
    return true;
  };
  if (await tryToFreeze()) return 'frozen';
  return reassignOrFreeze(work, turn, message, tryToFreeze);
}

/** What is recorded of a message: its content, behind what it quotes, and the intent to send it. */
async function composeValues(work: ThreadWork, thread: Thread, turn: Turn, request: FreezeRequest) {
  const { outgoing, taskId, lastMessageId, hasInstructions } = request;
  const own = await contentToSend(work, thread, turn, request);
  // Each of these puts a text before the prompt of the one above, and adds to its `quoted_ids`.
  const content = { ...own, ...(await withFormerTasks(work, thread, outgoing.message, taskId, own)) };
  const instructed = hasInstructions && (await withStandingInstructions(work, turn, taskId, content));
  // As in `recordIntent` (delivery.ts): the skill that the call will name, also if it is the default.
  const intent = lastMessageId !== undefined && {
    skill: content.skill ?? work.deps.settings.skill ?? null,
    sent_after_message_id: lastMessageId,
    send_intended_at: new Date(),
  };
  return { ...content, ...(instructed || NO_INSTRUCTIONS), ...intent };
}

/** The title that a message gives its task; undefined if the task keeps the one that it has. */
async function newTitle(store: Store, thread: Thread, turn: Turn, { outgoing, taskId }: FreezeRequest) {
  // The first message names the task, by its words now: it may have been edited since the task was started.
  if (!hasFrozenMessage(thread)) return outgoing.title;
  // A correction of a refused first message names the task, too, while the task has no other turn's message.
  const isCorrection = outgoing.message.revises_turn_id !== null;
  return isCorrection && !(await store.threads.hasOtherTurnSent(turn, taskId)) ? outgoing.title : undefined;
}

/** Returns `frozen` if a statement whose answer was lost has frozen the message. Else throws TurnEnded: it was deleted. */
async function endUnlessFrozen(row: TurnRow, { state }: Message): Promise<'frozen'> {
  // After a stop, this throws TurnEnded or, if the stopped run was to get the message, an Interruption.
  if (state !== 'withdrawn' && isFrozen(await row.readUnlessStopped())) return 'frozen';
  throw new TurnEnded('withdrawn', null);
}

/**
 * Goes on after a failed freeze. If an earlier message of the thread has come, the turn gets that message. If the earlier
 * one asks nothing, `freezeBehind` freezes this one all the same, and the earlier one goes on waiting. Else the message was
 * edited or is held: `read_again`. Throws TurnEnded or Interruption if the turn was stopped.
 */
async function reassignOrFreeze(
  work: ThreadWork & { row: TurnRow },
  turn: Turn,
  message: Message,
  freezeBehind: (earlierTs: SlackTs) => Promise<boolean>,
): Promise<FreezeOutcome> {
  const { row, deps, lease } = work;
  const now = await row.readUnlessStopped();
  // A statement whose answer did not reach us may have frozen the message, or given the turn an earlier one.
  if (isFrozen(now)) return 'frozen';
  if (now.message_ts !== turn.message_ts) return 'read_again';
  const earlier = await nextAllowedMessage(work, turn, { before: message.ts });
  if (earlier !== undefined && !isEmptyMessage(earlier.content, work.workspace.bot.userId)) {
    await row.reassign(earlier);
    return 'read_again';
  }
  if (earlier !== undefined && (await freezeBehind(earlier.ts))) return 'frozen';
  // Earlier messages are still looked for in Slack: the freeze fails until then.
  if (await deps.store.backfills.holds(turn)) await sleepWithLease(HELD_POLL_MS, lease);
  return 'read_again';
}

/** What a message says: if it is resent, what was sent before; else its words, its files, and the kept files, which it claims. */
async function contentToSend(
  work: ThreadWork,
  thread: Thread,
  turn: Turn,
  { outgoing, attachments, taskId }: FreezeRequest,
): Promise<TurnUpdate & Pick<Turn, 'quoted_ids' | 'skill'> & { prompt: string }> {
  const { message, resent } = outgoing;
  if (resent !== undefined) {
    const { skill, quoted_ids, attached_file_ids: ids } = resent;
    const notes = (resent.file_notes ?? []).filter(isNoteResent);
    const content = { prompt: unquotedPrompt(resent), skill, quoted_ids, attached_file_ids: ids ?? [] };
    return notes.length > 0 ? { ...content, file_notes: notes } : content;
  }
  const kept = await takeKeptFiles(work, turn);
  const attached = [...new Set([...kept.ids, ...attachments.attached_file_ids])];
  const { links, altered, leftOut } = noteLists([...kept.notes, ...attachments.notes]);
  // The agent can follow links to files. Notes alone on what is left out give it nothing to do.
  if (withLists(outgoing.text, links) === '' && attached.length === 0)
    throw new TurnEnded('kept', strings.noUsableFiles, { unsendableMessage: message });
  const text = withLists(outgoing.text || strings.filesOnly(attached.length), links, altered, leftOut);
  const named = await withWriters(work, thread, { message, text, taskId });
  const notes = [...kept.notes.filter(isNoteResent), ...attachments.notes];
  return {
    prompt: named.text,
    attached_file_ids: attached,
    skill: outgoing.choices.skill ?? null,
    quoted_ids: [...new Set([...outgoing.quotedIds, ...named.ids, ...kept.writers])],
    // Without new notes, the turn keeps those that it has.
    ...(notes.length > 0 && { file_notes: notes }),
  };
}

/**
 * A message's text with its writer's name, if several people write in the thread. The first message of a task's second
 * writer also names the first writer, whose messages have no name. `ids`: whom the text names beside its writer, to be
 * saved as people whose words are quoted.
 */
async function withWriters(
  { deps, workspace: { people } }: ThreadWork,
  thread: Thread,
  { message, text, taskId }: { message: Message; text: string; taskId: string },
): Promise<{ text: string; ids: readonly string[] }> {
  const others = thread.participant_ids.filter((writer) => writer !== message.user_id);
  if (others.length === 0) return { text, ids: [] };
  // The writers of what the task has by now, without this message, in no order: `first` is used only if it is alone.
  const [first, ...more] = await deps.store.messages.writersTo(thread, taskId);
  // The name is told apart from two others only: nobody waits for the names of a large thread.
  const compared = others.toSorted().slice(0, 2);
  const ids = [message.user_id, ...(first === undefined ? [] : [first]), ...compared];
  const pieces = ids.map((id) => referencePiece('person', id));
  const names = toldApart(await lookUpReferences({ people, channel: message.channel }, pieces));
  const named = withWriterName(text, names.get(message.user_id) ?? '');
  const isSecondWriter = first !== undefined && first !== message.user_id && more.length === 0;
  // A workflow has no name that people know.
  if (!isSecondWriter || isBotId(first)) return { text: named, ids: [] };
  const firstName = names.get(first);
  if (firstName === undefined || firstName === first) return { text: named, ids: [] };
  return { text: withUnnamedWriter(named, firstName), ids: [first] };
}

/** Most characters of a session's title (https://docs.slack.dev/reference/methods/agents.sessions.rename). */
const MAX_SESSION_TITLE_CHARACTERS = 200;

/** Has Slack show the title of a task that was started in a direct message. Returns at once; never throws. */
function showTaskTitle(
  { deps, workspace: { sessions } }: ThreadWork,
  { channel, thread_ts }: Turn,
  title: string,
): void {
  if (sessions === undefined || !isDirectChannel(channel)) return;
  const call = sessions.setTitle(channel, thread_ts, shorten(title, MAX_SESSION_TITLE_CHARACTERS));
  inBackground(call, deps.log, 'could not set the title of a direct message thread');
}
