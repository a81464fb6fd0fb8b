import * as strings from '../../render/strings/index.ts';
import type { FileNote, Message, MessageContent, TaskChoices, Thread, Turn } from '../../store/schema.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import { nextAllowedMessage } from '../access/next-message.ts';
import { type DisplayNames, type IdsToResolve, idsToResolve } from '../reading/display-names.ts';
import { readMentions } from '../reading/mentions.ts';
import { parseFlags, type SupportedFlags } from '../reading/message-flags.ts';
import { fileNamesOf, type ParsedMessage, parseMessage } from '../reading/message-parser.ts';
import { readableText, withWriterName } from '../reading/readable-text.ts';
import { taskTitle } from '../reading/task-title.ts';
import { buildTranscript, withTranscript } from '../reading/transcript.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import { isEarlierTs } from '../runtime/incoming-message.ts';
import type { Lease } from '../runtime/lease.ts';
import { TurnEnded } from '../runtime/turn-errors.ts';
import { type Attachments, filesOf, UNNAMED_FILE } from './attachments.ts';
import { findResentMessage, isNoteResent } from './resent-message.ts';
import { unlessStopped } from './stop-check.ts';

/** Messages of a human thread that are read back for a transcript, at most. */
const MAX_TRANSCRIPT_READ = 2_000;

/** What a person's message says to the agent. */
export interface OutgoingMessage {
  /** As people read it, with the transcript of a human thread before it where it stands in one. */
  text: string;
  /** A title for the task: the chosen one, or one made of the text. */
  title: string;
  /** What was chosen, in a form or by flags at the beginning of the text. */
  choices: TaskChoices;
}

const NO_NAMES: DisplayNames = {
  person: () => undefined,
  channel: () => undefined,
  usergroup: () => undefined,
};
const ALL_FLAGS: SupportedFlags = { noFallback: true, autoMode: true, planMode: true };

/** The person's message that a turn is about. Throws TurnEnds where it is not there any more. */
export async function messageOfTurn(deps: RelayDeps, turn: Turn): Promise<Message> {
  const message = await deps.store.messages.get(messageKeyOf(turn));
  if (message === undefined) throw new TurnEnded('withdrawn', null);
  return message;
}

/** Whether a message asks nothing: no text beside the mention and the flags, no file, and no message it is about. */
export function isEmptyMessage(content: MessageContent, botUserId: string): boolean {
  if ((content.files ?? []).length > 0 || content.about !== undefined) return false;
  const message = parseMessage(content);
  if (readMentions(message, botUserId).isEmptyAfterMention) return true;
  return parseFlags(readableText(message, NO_NAMES, botUserId), ALL_FLAGS).text === '';
}

/** Whether a message is files and nothing else. */
export function isFilesOnly(content: MessageContent, botUserId: string): boolean {
  if (content.about !== undefined || content.choices !== undefined) return false;
  return filesOf(content).length > 0 && readMentions(parseMessage(content), botUserId).isEmptyAfterMention;
}

/** What a message chooses; names of people in it are not looked up. */
export function choicesIn(content: MessageContent, botUserId: string, offered: SupportedFlags): TaskChoices {
  return (
    content.choices ?? parseFlags(readableText(parseMessage(content), NO_NAMES, botUserId), offered).choices
  );
}

/** Reads a waiting message as people read it. */
export async function readOutgoingMessage(
  deps: RelayDeps,
  workspace: WorkspaceClient,
  thread: Thread,
  message: Message,
  lease: Lease,
): Promise<OutgoingMessage> {
  const content = message.words ?? { text: '' };
  const parsed = parseMessage(content);
  const original = { ...message, ts: await originalTs(deps, message) };
  const startsMidThread = original.ts === thread.began_ts && original.ts !== message.root;
  const about = content.about === undefined ? undefined : parseMessage(content.about);
  const before = about ? [about] : startsMidThread ? await readThreadBefore(workspace, original, lease) : [];
  const names = await lookUpNames(workspace, idsToResolve(parsed, ...before));
  const flagged = parseFlags(
    readableText(parsed, names, workspace.bot.userId),
    deps.settings.supportedTaskOptions,
  );
  const choices = content.choices ?? flagged.choices;
  const isBare = about !== undefined && flagged.text === '';
  const text = isBare ? readableText(about, names, workspace.bot.userId) : flagged.text;
  const title = choices.title ?? taskTitle(text, fileNamesOf(parsed));
  if (before.length === 0 || isBare) return { text, title, choices };
  const quotation = buildTranscript({
    messages: before,
    names,
    botUserId: workspace.bot.userId,
    maxMessages: deps.settings.maxTranscriptMessages,
    maxCharacters: deps.settings.maxTranscriptCharacters,
  });
  return { text: withTranscript(quotation, text), title, choices };
}

/**
 * Freezes the turn's message and records what is sent, in one transaction: from here on an edit or a deletion
 * comes too late. Where an earlier message of the thread has arrived meanwhile, the turn is that one's instead: it
 * comes back without content. Throws TurnEnds or Held where the message was taken back or stopped before.
 */
export async function freezeMessage(
  deps: RelayDeps,
  workspace: WorkspaceClient,
  thread: Thread,
  turn: Turn,
  attachments: Pick<Attachments, 'attached' | 'notes'>,
  lease: Lease,
): Promise<Turn> {
  const key = messageKeyOf(turn);
  for (;;) {
    const message = await deps.store.messages.get(key);
    if (message === undefined || message.state === 'withdrawn') throw new TurnEnded('withdrawn', null);
    const outgoing = await readOutgoingMessage(deps, workspace, thread, message, lease);
    const name = await workspace.people.personName(message.person);
    const earlier = await nextAllowedMessage(deps, workspace, turn, lease, { before: message.ts });
    const frozen = await deps.store.transaction(async (store) => {
      await store.threads.lock(turn);
      const current = await unlessStopped(store, turn);
      // The answer to a commit may have been lost on its way.
      if (current.content !== null || current.message_ts !== turn.message_ts) return current;
      const first = await store.messages.nextWaiting(turn);
      if (first !== undefined && isSentFirst(workspace, first, message))
        return first.ts === earlier?.ts ? store.turns.reassign(turn, first) : undefined;
      const currentMessage = await store.messages.get(key);
      if (currentMessage?.edited_ts !== message.edited_ts) return undefined;
      const resent = await findResentMessage(store, message);
      if ((await store.messages.freeze(key)) === undefined) throw new TurnEnded('withdrawn', null);
      if (resent !== undefined)
        return store.turns.record(turn, {
          content: resent.content,
          attached: resent.attached,
          skill: resent.skill,
          ...(resent.notes.length === 0 ? {} : { file_notes: resent.notes }),
        });
      const writers = await store.threads.addParticipant(turn, message.person);
      const keptTurns = await store.turns.takeKeptFiles(turn);
      const attached = [
        ...new Set([...keptTurns.flatMap((one) => one.attached ?? []), ...attachments.attached]),
      ];
      const ownText = outgoing.text === '' ? strings.filesOnly(attached.length) : outgoing.text;
      const keptNotes = keptTurns.flatMap(keptFileNotes);
      const notes = [...keptNotes, ...attachments.notes];
      const text = [ownText, fileLinkLines(notes)].filter((part) => part !== '').join('\n\n');
      const shown = [...keptNotes.filter(isNoteResent), ...attachments.notes];
      return store.turns.record(turn, {
        content: writers.length > 1 ? withWriterName(text, name) : text,
        attached,
        skill: outgoing.choices.skill ?? null,
        ...(shown.length === 0 ? {} : { file_notes: shown }),
      });
    });
    if (frozen !== undefined) return frozen;
  }
}

/** Whether an earlier message is to be sent before this one. */
function isSentFirst(workspace: WorkspaceClient, earlier: Message, message: Message): boolean {
  if (!isEarlierTs(earlier.ts, message.ts) || earlier.words === null) return false;
  return !isEmptyMessage(earlier.words, workspace.bot.userId);
}

/** The notes on a kept turn's files. Names leave in time. */
function keptFileNotes({ attached, file_notes: notes }: Pick<Turn, 'attached' | 'file_notes'>): FileNote[] {
  if (notes === null) return (attached ?? []).map(() => ({ name: UNNAMED_FILE, reason: null }));
  return notes.map((note) => ({ ...note, name: note.name || UNNAMED_FILE }));
}

/** What a message says of files that are only linked to, as Markdown; '' where there are none. */
function fileLinkLines(notes: readonly FileNote[]): string {
  const lines = notes.flatMap(({ name, link }) =>
    link === undefined ? [] : [`- [${name.replace(/[[\]\\\s]+/g, ' ').trim()}](<${link}>)`],
  );
  return lines.length === 0 ? '' : `${strings.linkedFiles(lines.length)}\n${lines.join('\n')}`;
}

/** When a message was first said: one that is sent or asked again stands for the message that it repeats. A correction
 * stands for itself: what it corrects is at the service. */
async function originalTs({ store }: RelayDeps, message: Message): Promise<string> {
  for (let current = message; ; ) {
    const repeats = current.resends ?? current.asks_again;
    const turn = repeats === null ? undefined : await store.turns.get(message.workspace, repeats);
    if (turn === undefined || (current.resends === null && turn.user_message_id !== null)) return current.ts;
    const earlier = await store.messages.get(messageKeyOf(turn));
    if (earlier === undefined) return turn.message_ts;
    current = earlier;
  }
}

/** The messages of a human thread that stand before the one that made it ours. */
async function readThreadBefore(
  workspace: WorkspaceClient,
  message: Message,
  lease: Lease,
): Promise<ParsedMessage[]> {
  const before: ParsedMessage[] = [];
  const thread = { channel: message.channel, threadTs: message.root, signal: lease.signal };
  for await (const earlier of workspace.readBack.messages(thread)) {
    if (!isEarlierTs(earlier.ts, message.ts) || before.length >= MAX_TRANSCRIPT_READ) break;
    before.push(parseMessage(earlier));
  }
  return before;
}

/** Looks up the names that a reading needs. */
export async function lookUpNames(workspace: WorkspaceClient, ids: IdsToResolve): Promise<DisplayNames> {
  const { people } = workspace;
  const [persons, channels, usergroups] = await Promise.all([
    lookUpAll(ids.people, (id) => people.personName(id)),
    lookUpAll(ids.channels, async (id) => (await people.channel(id)).name),
    lookUpAll(ids.usergroups, (id) => people.groupName(id)),
  ]);
  return {
    person: (id) => persons.get(id),
    channel: (id) => channels.get(id),
    usergroup: (id) => usergroups.get(id),
  };
}

async function lookUpAll(
  ids: readonly string[],
  find: (id: string) => Promise<string | undefined>,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  await Promise.all(
    ids.map(async (id) => {
      const name = await find(id);
      if (name !== undefined) found.set(id, name);
    }),
  );
  return found;
}
