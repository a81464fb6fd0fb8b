import { isDeepStrictEqual } from 'node:util';
import { anySignal } from '../../calls/retries-and-waits.ts';
import { withLeadIn, withLists, withQuotation, withWriterName } from '../../render/prompt-frame.ts';
import type { FileReason } from '../../render/strings/index.ts';
import * as strings from '../../render/strings/index.ts';
import { SlackError } from '../../slack/errors.ts';
import type { FileNote, Message, SlackTs, TaskChoices, Thread, Turn } from '../../store/schema.ts';
import type { MessageUpdate, WholeMessage } from '../../store/threads/messages.ts';
import { lookUpNames } from '../reading/display-names.ts';
import { isMessagePreview } from '../reading/message-attachments.ts';
import {
  blocksOf,
  fileNamesOf,
  filesOf,
  type ParsedMessage,
  parseMessage,
  writersOf,
} from '../reading/message-parser.ts';
import { plainText, readableText } from '../reading/message-to-markdown.ts';
import { messageUpdate } from '../reading/message-versions.ts';
import { tablesAmong } from '../reading/pasted-tables.ts';
import { flagsOf, parseFlags } from '../reading/typed-choices.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { messageContent } from '../runtime/incoming-message.ts';
import { sleepWithLease } from '../runtime/lease.ts';
import { TurnEnded } from '../runtime/turn-exceptions.ts';
import { type SharedItem, sharedItemsOf } from './attachments.ts';
import {
  buildTranscript,
  type EarlierMessages,
  earlierFilesLeftOut,
  isCutShort,
  quoteLinkedMessage,
  readEarlierMessages,
  writerName,
} from './earlier-messages.ts';
import { type LinkedMessages, linkAgeMs, NO_LINKS, readLinkedMessages } from './linked-messages.ts';
import { resentTurn } from './resent-message.ts';
import { taskTitle } from './thread-task.ts';

const NOTHING_EARLIER: EarlierMessages = { messages: [], missing: undefined, quoted: [], isBeginning: false };

/** A person's message as the agent gets it: what is known of it, from its first reading until it is sent. */
export interface OutgoingMessage {
  message: WholeMessage;
  /** The turn whose message it repeats instead, word for word. */
  resent: Turn | undefined;
  /** As people read it; where it is the first of a thread between people, with a transcript of that thread. */
  text: string;
  title: string;
  /** The choices made in a form, or with flags at the beginning of the text. */
  choices: TaskChoices;
  /** The unsent messages that it quotes. */
  quoted: readonly SlackTs[];
  /** Whose words it quotes, by id. */
  quotedIds: readonly string[];
  /** The files and tables that go with it: its own, and those of messages that it quotes or links to. */
  items: readonly SharedItem[];
  /** The links that were not followed, the files left out and the messages cut short, with the reasons. */
  notes: readonly FileNote[];
  links: LinkedMessages;
  /** Until when (`performance.now()`) what its links led to counts. */
  freshUntil: number;
}

/** A message with the others that go with it. */
export function wholeMessage(message: Message, others: readonly Message[] = []): WholeMessage {
  return { ...message, parts: [message, ...others] };
}

/** The message that a turn is about. Throws TurnEnded if it is gone. */
export async function messageOfTurn(
  { deps, workspace }: Pick<ThreadWork, 'deps' | 'workspace'>,
  turn: Turn,
): Promise<WholeMessage> {
  const [message, ...behind] = await deps.store.messages.ofTurn(turn);
  if (message === undefined) throw new TurnEnded('withdrawn', null);
  const { supportedTaskOptions, fileLimits } = deps.settings;
  const isPlain = ({ content, is_partial, sent_with_ts }: Message) => {
    if (sent_with_ts !== null) return true;
    if (content === null || is_partial || content.about !== undefined) return false;
    const { choices, misspelt } = flagsOf(content, workspace.bot.userId, supportedTaskOptions);
    return Object.keys(choices).length === 0 && misspelt === undefined;
  };
  // What is beyond the limits of one message would be left out: it waits for a turn of its own.
  const fits = (count: number) => {
    const files = [message, ...behind.slice(0, count)].flatMap(({ content }) => filesOf(content ?? {}));
    const bytes = files.reduce((sum, { size = 0 }) => sum + size, 0);
    return files.length <= fileLimits.maxMessageFiles && bytes <= fileLimits.maxMessageBytes;
  };
  const end = behind.findIndex((one, index) => !isPlain(one) || !fits(index + 1));
  return wholeMessage(message, end < 0 ? behind : behind.slice(0, end));
}

/** How soon a message's own event follows its app_mention (ms), and how often it is looked for. */
const OTHER_COPY_MS = { most: 1_500, poll: 100 };
/** How long reading a message may take (ms): an app that Slack lets read once a minute goes on without. */
const READ_MS = 5_000;

/**
 * A message of which only the app_mention came, which may lack files: as its other copy has it, awaited briefly. If none
 * comes, it is read back from Slack once. Throws an Interruption, or the lease's reason.
 */
export async function withOtherCopy(
  work: ThreadWork,
  { parts: [message, ...others] }: WholeMessage,
): Promise<WholeMessage> {
  const { messages } = work.deps.store;
  let now = message;
  let ageMs = Math.max(0, Date.now() - message.received_at.getTime());
  const isLacking = () => now.is_partial && now.state === 'waiting';
  for (; isLacking() && ageMs < OTHER_COPY_MS.most; ageMs += OTHER_COPY_MS.poll) {
    await sleepWithLease(OTHER_COPY_MS.poll, work.lease);
    now = (await messages.get(message)) ?? now;
  }
  if (isLacking() && now.content !== null) {
    await messages.updateContent(now, await readBack(work, now, { ...now, content: now.content }));
    now = (await messages.get(message)) ?? now;
  }
  return wholeMessage(now, others);
}

async function readBack(
  { workspace, deps, lease }: ThreadWork,
  { channel, thread_ts: threadTs, ts, user_id }: Message,
  known: MessageUpdate,
) {
  const signal = anySignal([lease.signal, AbortSignal.timeout(READ_MS)]);
  const read = await workspace.readBack.message({ channel, threadTs, ts, signal }).catch((error: unknown) => {
    lease.signal.throwIfAborted();
    if (!(error instanceof SlackError) && !signal.aborted) throw error;
    deps.log.warn({ channel, ts, err: error }, 'a message goes as its app_mention showed it');
  });
  if (read?.user !== user_id) return { ...known, is_partial: false };
  const version = { content: messageContent(read), edited_ts: read.edited?.ts ?? null };
  return messageUpdate(known, version, false);
}

/** Reads a waiting message; `known` is kept while the versions of its parts and what its links lead to stay the same. */
export async function readOutgoingMessage(
  work: ThreadWork,
  thread: Thread,
  message: WholeMessage,
  stopSignal: AbortSignal,
  known?: OutgoingMessage,
): Promise<OutgoingMessage> {
  const versions = ({ parts }: WholeMessage) => parts.map(({ ts, version }) => [ts, version]);
  const unchanged =
    known && isDeepStrictEqual(versions(known.message), versions(message)) ? known : undefined;
  if (unchanged !== undefined && performance.now() < unchanged.freshUntil) return { ...unchanged, message };
  const resent = await resentTurn(work.deps.store, message);
  const links = resent === undefined ? await readLinkedMessages(work, message, stopSignal) : NO_LINKS;
  const freshUntil = links === NO_LINKS ? Number.POSITIVE_INFINITY : performance.now() + linkAgeMs(work);
  if (unchanged !== undefined && isDeepStrictEqual(links, unchanged.links))
    return { ...unchanged, message, freshUntil };
  return { ...(await composeMessage(work, thread, { message, resent, links })), freshUntil };
}

async function composeMessage(
  work: ThreadWork,
  thread: Thread,
  read: Pick<OutgoingMessage, 'message' | 'resent' | 'links'>,
): Promise<Omit<OutgoingMessage, 'freshUntil'>> {
  const { deps, workspace } = work;
  const botUserId = workspace.bot.userId;
  const scope = { people: workspace.people, channel: read.message.channel };
  const content = read.message.content ?? { text: '' };
  const pointed = await readPointedMessages(work, thread, read);
  const { own, more, before, linked, quoted } = pointed;
  const about = content.about === undefined ? undefined : before[0];
  const others = [...before, ...linked.flatMap((one) => [one.message, ...one.replies])];
  const names = await lookUpNames(scope, own, ...more, ...others);
  const flagged = parseFlags(readableText(own, names, botUserId), deps.settings.supportedTaskOptions);
  const choices = content.choices ?? flagged.choices;
  const isBare = about !== undefined && flagged.text === '';
  const said = isBare ? readableText(about, names, botUserId) : flagged.text;
  const words = plainText(isBare ? about : own, names, botUserId, true);
  const { text: asked } = isBare ? { text: words } : parseFlags(words, deps.settings.supportedTaskOptions);
  const title = choices.title ?? taskTitle(asked, fileNamesOf(own));
  const isAnothers = isBare && about.user !== read.message.user_id;
  const named = isAnothers ? withWriterName(said, writerName(about, { names, botUserId })) : said;
  const whole = withLists(named, ...more.map((one) => readableText(one, names, botUserId)));
  const text = content.isCorrection === true ? withLeadIn(strings.correctionPrefix, whole) : whole;
  const quotedIds = [...new Set([own, ...more, ...others].flatMap(writersOf))];
  const items = await sharedItemsOf(scope, pointed.withFiles);
  const composed = { ...read, title, choices, quoted, quotedIds, items };
  if (others.length === 0 || isBare) return { ...composed, text, notes: pointed.notes };
  const { maxTranscriptCharacters: maxCharacters } = deps.settings;
  const options = { names, botUserId, maxMessages: pointed.maxMessages };
  const transcript = buildTranscript({
    messages: before,
    missing: pointed.missing,
    maxCharacters,
    ...options,
  });
  const share = Math.floor(maxCharacters / Math.max(1, linked.length));
  const quotations = linked.map((one) => quoteLinkedMessage(one, { ...options, maxCharacters: share }));
  const cut = linked.flatMap(({ url }, index) => (quotations[index]?.isCut === true ? [url] : []));
  if (about !== undefined && isCutShort(transcript)) cut.unshift(strings.messageAskedAbout);
  const notes = [...pointed.notes, ...cut.map((name) => ({ name, reason: 'cut' satisfies FileReason }))];
  const quotation = [transcript, ...quotations.map((one) => one.text)]
    .filter((part) => part !== '')
    .join('\n\n');
  return { ...composed, text: withQuotation(quotation, text), notes };
}

/** A message with those that it quotes: the one that it is about, or earlier ones of its thread; and those it links to. */
async function readPointedMessages(
  work: ThreadWork,
  thread: Thread,
  { message, resent, links }: Pick<OutgoingMessage, 'message' | 'resent' | 'links'>,
) {
  const { maxTranscriptMessages } = work.deps.settings;
  const content = message.content ?? { text: '' };
  const { about } = content;
  const parsed = parseMessage(content);
  const more = message.parts.slice(1).map((part) => parseMessage(part.content));
  let earlier = NOTHING_EARLIER;
  if (about !== undefined) earlier = { ...NOTHING_EARLIER, messages: [parseMessage(about)] };
  else if (resent === undefined) earlier = await readEarlierMessages(work, thread, message);
  const { messages, isBeginning, missing, quoted } = earlier;
  const maxMessages = Math.max(maxTranscriptMessages, about === undefined ? 0 : 1);
  const newest = lastOf(messages, maxMessages);
  const along = [
    parsed,
    ...more,
    ...newest,
    ...links.read.flatMap((one) => [one.message, ...lastOf(one.replies, maxTranscriptMessages - 1)]),
  ];
  const tables = tablesAmong([parsed, ...more].flatMap(blocksOf));
  const mayHaveTables = message.ts !== message.thread_ts && tables.length > 0;
  let firstTable = 1 + (mayHaveTables ? await work.deps.store.keptFiles.countTables(message) : 0);
  const numbered = new Map<ParsedMessage, ParsedMessage>();
  for (const one of along) {
    numbered.set(one, { ...one, firstTable });
    firstTable += tablesAmong(blocksOf(one)).length;
  }
  const read = (one: ParsedMessage) => numbered.get(one) ?? one;
  const leftOut = isBeginning ? earlierFilesLeftOut(newest) : [];
  const withFiles = along.map((one) => ({
    ...read(one),
    files: one.files.filter((file) => !leftOut.includes(file)),
  }));
  const linked = links.read.map((one) => ({
    ...one,
    message: read(one.message),
    replies: one.replies.map(read),
  }));
  const leftOutNotes = fileNamesOf({ files: leftOut }).map((name) => ({
    name,
    reason: 'earlier' satisfies FileReason,
  }));
  const notes = [...leftOutNotes, ...links.notes, ...previewNotes(withFiles, links)];
  const before = messages.map(read);
  const [own = parsed, ...others] = [parsed, ...more].map(read);
  return { own, more: others, before, maxMessages, missing, quoted, linked, notes, withFiles };
}

function lastOf<T>(list: readonly T[], count: number): readonly T[] {
  return count > 0 ? list.slice(-count) : [];
}

/** Notes on the messages of which there is only Slack's preview: no link to them was followed. */
function previewNotes(messages: readonly ParsedMessage[], { read, notes }: LinkedMessages): FileNote[] {
  const known = [...read.map(({ url }) => url), ...notes.map(({ name }) => name)];
  const shown = messages.flatMap(({ attachments }) => attachments).filter(isMessagePreview);
  const names = new Set(shown.map(({ from_url = 'a Slack message' }) => from_url));
  return [...names]
    .filter((name) => !known.some((url) => name.startsWith(url)))
    .map((name) => ({ name, reason: 'link_preview' satisfies FileReason }));
}
