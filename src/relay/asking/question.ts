import * as words from '../../reply/words.ts';
import type { Choices, FileNote, Message, Thread, Turn, Words } from '../../store/tables.ts';
import { messageKeyOf } from '../../store/turns.ts';
import { nextAdmitted } from '../admitting/begin.ts';
import { isEarlier } from '../arriving/arrivals.ts';
import type { RelayParts, Workspace } from '../context.ts';
import { type Attachments, filesIn, unnamed } from '../files/attachments.ts';
import { TurnEnds } from '../interruption.ts';
import type { Lease } from '../lease.ts';
import { type OfferedFlags, readFlags } from '../reading/flags.ts';
import { mentions } from '../reading/mentions.ts';
import { fileNames, type MessageToRead, readMessage } from '../reading/message.ts';
import { type IdsToName, idsIn, type Names } from '../reading/names.ts';
import { readable, signed } from '../reading/readable.ts';
import { taskTitle } from '../reading/title.ts';
import { transcript, withTranscript } from '../reading/transcript.ts';
import { goesAlong, sentBefore } from './resending.ts';
import { unlessStopped } from './stop-check.ts';

/** Messages of a human thread that are read back for a transcript, at most. */
const mostReadBack = 2_000;

/** What a person's message says to the agent. */
export interface Question {
  /** As people read it, with the transcript of a human thread before it where it stands in one. */
  text: string;
  /** A title for the task: the chosen one, or one made of the text. */
  title: string;
  /** What was chosen, in a form or by flags at the beginning of the text. */
  choices: Choices;
}

const nobody: Names = { person: () => undefined, channel: () => undefined, usergroup: () => undefined };
const everyFlag: OfferedFlags = { noFallback: true, autoMode: true, planMode: true };

/** The person's message that a turn is about. Throws TurnEnds where it is not there any more. */
export async function messageOf(parts: RelayParts, turn: Turn): Promise<Message> {
  const message = await parts.store.messages.get(messageKeyOf(turn));
  if (message === undefined) throw new TurnEnds('withdrawn', null);
  return message;
}

/** Whether a message asks nothing: no text beside the mention and the flags, no file, and no message it is about. */
export function asksNothing(words: Words, botUserId: string): boolean {
  if ((words.files ?? []).length > 0 || words.about !== undefined) return false;
  const message = readMessage(words);
  if (mentions(message, botUserId).isEmptyAfterMention) return true;
  return readFlags(readable(message, nobody, botUserId), everyFlag).text === '';
}

/** Whether a message is files and nothing else. */
export function isFilesOnly(words: Words, botUserId: string): boolean {
  if (words.about !== undefined || words.choices !== undefined) return false;
  return filesIn(words).length > 0 && mentions(readMessage(words), botUserId).isEmptyAfterMention;
}

/** What a message chooses; names of people in it are not looked up. */
export function choicesIn(words: Words, botUserId: string, offered: OfferedFlags): Choices {
  return words.choices ?? readFlags(readable(readMessage(words), nobody, botUserId), offered).choices;
}

/** Reads a waiting message as people read it. */
export async function readQuestion(
  parts: RelayParts,
  workspace: Workspace,
  thread: Thread,
  message: Message,
  lease: Lease,
): Promise<Question> {
  const said = message.words ?? { text: '' };
  const words = readMessage(said);
  const asked = { ...message, ts: await firstSaid(parts, message) };
  const opensMidThread = asked.ts === thread.began_ts && asked.ts !== message.root;
  const about = said.about === undefined ? undefined : readMessage(said.about);
  const before = about ? [about] : opensMidThread ? await readBefore(workspace, asked, lease) : [];
  const names = await namesFor(workspace, idsIn(words, ...before));
  const flagged = readFlags(readable(words, names, workspace.bot.userId), parts.settings.offers);
  const choices = said.choices ?? flagged.choices;
  const isBare = about !== undefined && flagged.text === '';
  const text = isBare ? readable(about, names, workspace.bot.userId) : flagged.text;
  const title = choices.title ?? taskTitle(text, fileNames(words));
  if (before.length === 0 || isBare) return { text, title, choices };
  const quotation = transcript({
    messages: before,
    names,
    botUserId: workspace.bot.userId,
    most: parts.settings.transcriptMessages,
    maxCharacters: parts.settings.transcriptCharacters,
  });
  return { text: withTranscript(quotation, text), title, choices };
}

/**
 * Freezes the turn's message and records what is sent, in one transaction: from here on an edit or a deletion
 * comes too late. Where an earlier message of the thread has arrived meanwhile, the turn is that one's instead: it
 * comes back without content. Throws TurnEnds or Held where the message was taken back or stopped before.
 */
export async function freezeQuestion(
  parts: RelayParts,
  workspace: Workspace,
  thread: Thread,
  turn: Turn,
  sent: Pick<Attachments, 'attached' | 'notes'>,
  lease: Lease,
): Promise<Turn> {
  const key = messageKeyOf(turn);
  for (;;) {
    const message = await parts.store.messages.get(key);
    if (message === undefined || message.state === 'withdrawn') throw new TurnEnds('withdrawn', null);
    const question = await readQuestion(parts, workspace, thread, message, lease);
    const name = await workspace.people.personName(message.person);
    const earlier = await nextAdmitted(parts, workspace, turn, lease, { before: message.ts });
    const frozen = await parts.store.transaction(async (store) => {
      await store.threads.lock(turn);
      const given = await unlessStopped(store, turn);
      // The answer to a commit may have been lost on its way.
      if (given.content !== null || given.message_ts !== turn.message_ts) return given;
      const first = await store.messages.nextWaiting(turn);
      if (first !== undefined && goesFirst(workspace, first, message))
        return first.ts === earlier?.ts ? store.turns.giveTo(turn, first) : undefined;
      const now = await store.messages.get(key);
      if (now?.edited_ts !== message.edited_ts) return undefined;
      const again = await sentBefore(store, message);
      if ((await store.messages.freeze(key)) === undefined) throw new TurnEnds('withdrawn', null);
      if (again !== undefined)
        return store.turns.record(turn, {
          content: again.content,
          attached: again.attached,
          skill: again.skill,
          ...(again.notes.length === 0 ? {} : { file_notes: again.notes }),
        });
      const writers = await store.threads.addWriter(turn, message.person);
      const kept = await store.turns.takeKept(turn);
      const attached = [...new Set([...kept.flatMap((one) => one.attached ?? []), ...sent.attached])];
      const own = question.text === '' ? words.filesOnly(attached.length) : question.text;
      const keptNotes = kept.flatMap(notesOf);
      const notes = [...keptNotes, ...sent.notes];
      const text = [own, linkLines(notes)].filter((part) => part !== '').join('\n\n');
      const shown = [...keptNotes.filter(goesAlong), ...sent.notes];
      return store.turns.record(turn, {
        content: writers.length > 1 ? signed(text, name) : text,
        attached,
        skill: question.choices.skill ?? null,
        ...(shown.length === 0 ? {} : { file_notes: shown }),
      });
    });
    if (frozen !== undefined) return frozen;
  }
}

/** Whether an earlier message is to be sent before this one. */
function goesFirst(workspace: Workspace, earlier: Message, message: Message): boolean {
  if (!isEarlier(earlier.ts, message.ts) || earlier.words === null) return false;
  return !asksNothing(earlier.words, workspace.bot.userId);
}

/** The notes on a kept turn's files. Names leave in time. */
function notesOf({ attached, file_notes: notes }: Pick<Turn, 'attached' | 'file_notes'>): FileNote[] {
  if (notes === null) return (attached ?? []).map(() => ({ name: unnamed, reason: null }));
  return notes.map((note) => ({ ...note, name: note.name || unnamed }));
}

/** What a message says of files that are only linked to, as Markdown; '' where there are none. */
function linkLines(notes: readonly FileNote[]): string {
  const lines = notes.flatMap(({ name, link }) =>
    link === undefined ? [] : [`- [${name.replace(/[[\]\\\s]+/g, ' ').trim()}](<${link}>)`],
  );
  return lines.length === 0 ? '' : `${words.linkedFiles(lines.length)}\n${lines.join('\n')}`;
}

/** When a message was first said: one that is sent or asked again stands for the message that it repeats. A correction
 * stands for itself: what it corrects is at the service. */
async function firstSaid({ store }: RelayParts, message: Message): Promise<string> {
  for (let said = message; ; ) {
    const repeats = said.resends ?? said.asks_again;
    const turn = repeats === null ? undefined : await store.turns.get(message.workspace, repeats);
    if (turn === undefined || (said.resends === null && turn.user_message_id !== null)) return said.ts;
    const earlier = await store.messages.get(messageKeyOf(turn));
    if (earlier === undefined) return turn.message_ts;
    said = earlier;
  }
}

/** The messages of a human thread that stand before the one that made it ours. */
async function readBefore(workspace: Workspace, message: Message, lease: Lease): Promise<MessageToRead[]> {
  const before: MessageToRead[] = [];
  const thread = { channel: message.channel, threadTs: message.root, signal: lease.signal };
  for await (const earlier of workspace.readBack.messages(thread)) {
    if (!isEarlier(earlier.ts, message.ts) || before.length >= mostReadBack) break;
    before.push(readMessage(earlier));
  }
  return before;
}

/** Looks up the names that a reading needs. */
export async function namesFor(workspace: Workspace, ids: IdsToName): Promise<Names> {
  const { people } = workspace;
  const [persons, channels, usergroups] = await Promise.all([
    lookUp(ids.people, (id) => people.personName(id)),
    lookUp(ids.channels, async (id) => (await people.channel(id)).name),
    lookUp(ids.usergroups, (id) => people.groupName(id)),
  ]);
  return {
    person: (id) => persons.get(id),
    channel: (id) => channels.get(id),
    usergroup: (id) => usergroups.get(id),
  };
}

async function lookUp(
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
