import { isDeepStrictEqual } from 'node:util';
import type { SupportedTaskOptions } from '../../agent/service-options.ts';
import { anySignal } from '../../calls/retries-and-waits.ts';
import { withLeadIn, withLists, withQuotation, withWriterName } from '../../render/prompt-frame.ts';
import type { FileReason } from '../../render/strings/index.ts';
import * as strings from '../../render/strings/index.ts';
import { SlackError } from '../../slack/errors.ts';
import type { FileNote, Message, SlackTs, TaskChoices, Thread, Turn } from '../../store/schema.ts';
import type { MessageUpdate, WholeMessage } from '../../store/threads/messages.ts';
import { lookUpNames, toldApart } from '../reading/display-names.ts';
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
import { tableNumber, tablesAmong } from '../reading/pasted-tables.ts';
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
  type TranscriptOptions,
  writerForAgent,
} from './earlier-messages.ts';
import { type LinkedMessages, linkAgeMs, NO_LINKS, readLinkedMessages } from './linked-messages.ts';
import { resentTurn } from './resent-message.ts';
import { taskTitle } from './task-title.ts';

const NO_EARLIER: EarlierMessages = { messages: [], missing: undefined, unsentTs: [], isBeginning: false };

/** A person's message as the agent gets it: what is known of it, from its first reading until it is sent. */
export interface OutgoingMessage {
  message: WholeMessage;
  /** The turn whose message it repeats instead, word for word. */
  resent: Turn | undefined;
  /** Its words as people read them, below a quotation of other messages, if it quotes any. */
  text: string;
  title: string;
  /** The choices made in a form, or with flags at the beginning of the text. */
  choices: TaskChoices;
  /** The unsent messages before it, which no later message quotes once this one is sent. */
  unsentTs: readonly SlackTs[];
  /** Whose words it quotes, by id. */
  quotedIds: readonly string[];
  /** The files and tables that go with it: its own, and those of messages that it quotes or links to. */
  items: readonly SharedItem[];
  /** The names of files that the thread has kept for it. */
  keptNames: readonly string[];
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

/**
 * The message that a turn is about, with those behind it that can go along: those without choices of their own, within
 * the limits of one message. The others wait for a turn of their own. Throws TurnEnded if the message is gone.
 */
export async function messageOfTurn({ deps, workspace }: ThreadWork, turn: Turn): Promise<WholeMessage> {
  const [message, ...behind] = await deps.store.messages.ofTurn(turn);
  if (message === undefined) throw new TurnEnded('withdrawn', null);
  const { supportedTaskOptions, maxMessageFiles, maxMessageBytes } = deps.settings;
  const mayGoAlong = ({ content, is_partial, sent_with_ts }: Message) => {
    // It goes along already: an earlier attempt has joined it with the message.
    if (sent_with_ts !== null) return true;
    if (content === null || is_partial || content.about !== undefined) return false;
    const { choices, misspelt } = flagsOf(content, workspace.bot.userId, supportedTaskOptions);
    return Object.keys(choices).length === 0 && misspelt === undefined;
  };
  const haveRoom = (others: readonly Message[]) => {
    const files = [message, ...others].flatMap(({ content }) => filesOf(content ?? {}));
    const bytes = files.reduce((sum, { size = 0 }) => sum + size, 0);
    return files.length <= maxMessageFiles && bytes <= maxMessageBytes;
  };
  const end = behind.findIndex((next, index) => !mayGoAlong(next) || !haveRoom(behind.slice(0, index + 1)));
  return wholeMessage(message, end < 0 ? behind : behind.slice(0, end));
}

/** How soon a message's own event follows its app_mention (ms), and how often it is looked for. */
const OTHER_COPY_MS = { max: 1_500, poll: 100 };
/** How long reading a message back may take (ms): an app that Slack lets read once a minute goes on without. */
const READ_BACK_TIMEOUT_MS = 5_000;

/**
 * Completes a message of which only the app_mention came, which may lack files. Waits briefly for the message's
 * own event, and then reads it back from Slack once. Throws an Interruption, or the lease's reason.
 */
export async function withRest(
  work: ThreadWork,
  { parts: [message, ...others] }: WholeMessage,
): Promise<WholeMessage> {
  const { messages } = work.deps.store;
  let latest = message;
  let ageMs = Math.max(0, Date.now() - message.received_at.getTime());
  // A message that was deleted or frozen meanwhile needs nothing more.
  const isLacking = () => latest.is_partial && latest.state === 'waiting';
  for (; isLacking() && ageMs < OTHER_COPY_MS.max; ageMs += OTHER_COPY_MS.poll) {
    await sleepWithLease(OTHER_COPY_MS.poll, work.lease);
    latest = (await messages.get(message)) ?? latest;
  }
  if (isLacking() && latest.content !== null) {
    const update = await readBack(work, latest, { ...latest, content: latest.content });
    await messages.updateContent(latest, update);
    latest = (await messages.get(message)) ?? latest;
  }
  return wholeMessage(latest, others);
}

/** What Slack has of a message of which only an app_mention is `known`. If nothing comes, the mention counts as whole. */
async function readBack(
  { workspace, deps, lease }: ThreadWork,
  { channel, thread_ts: threadTs, ts, user_id }: Message,
  known: MessageUpdate,
) {
  const signal = anySignal([lease.signal, AbortSignal.timeout(READ_BACK_TIMEOUT_MS)]);
  const read = await workspace.readBack.message({ channel, threadTs, ts, signal }).catch((error: unknown) => {
    lease.signal.throwIfAborted();
    if (!(error instanceof SlackError) && !signal.aborted) throw error;
    deps.log.warn({ channel, ts, err: error }, 'a message goes as its app_mention showed it');
  });
  // Nothing came, or the tombstone of a deleted message, which has another user.
  if (read?.user !== user_id) return { ...known, is_partial: false };
  const version = { content: messageContent(read), edited_ts: read.edited?.ts ?? null };
  return messageUpdate(known, version, { isPartial: false });
}

/**
 * Reads a message as the agent is to get it. Returns what is `known` from an earlier call if that still holds: the message
 * was not edited since, and its links, which are read again after `freshUntil`, lead to the same. Else composes it anew.
 */
export async function readOutgoingMessage(
  work: ThreadWork,
  thread: Thread,
  message: WholeMessage,
  stopSignal: AbortSignal,
  known?: OutgoingMessage,
): Promise<OutgoingMessage> {
  const versions = ({ parts }: WholeMessage) => parts.map(({ ts, version }) => [ts, version]);
  const unedited = known && isDeepStrictEqual(versions(known.message), versions(message)) ? known : undefined;
  if (unedited !== undefined && performance.now() < unedited.freshUntil) return { ...unedited, message };
  const resent = await resentTurn(work.deps.store, message);
  const links = resent === undefined ? await readLinkedMessages(work, message, stopSignal) : NO_LINKS;
  // Each link has been read, or has a note.
  const hasLinks = links.read.length + links.notes.length > 0;
  const freshUntil = hasLinks ? performance.now() + linkAgeMs(work) : Number.POSITIVE_INFINITY;
  if (unedited !== undefined && isDeepStrictEqual(links, unedited.links))
    return { ...unedited, message, freshUntil };
  return { ...(await composeMessage(work, thread, { message, resent, links })), freshUntil };
}

/** Composes what the agent gets: a message's words, below a quotation of those that it is about, follows or links to. */
async function composeMessage(
  work: ThreadWork,
  thread: Thread,
  read: Pick<OutgoingMessage, 'message' | 'resent' | 'links'>,
): Promise<Omit<OutgoingMessage, 'freshUntil'>> {
  const { deps, workspace } = work;
  const { supportedTaskOptions: taskOptions } = deps.settings;
  const { maxTranscriptMessages: maxMessages, maxTranscriptCharacters: maxCharacters } = deps.settings;
  const botUserId = workspace.bot.userId;
  const scope = { people: workspace.people, channel: read.message.channel };
  const quoting = await readQuotingMessage(work, thread, read);
  const { own, more, before, linked, withFiles, keptNames, unsentTs, notes } = quoting;
  const others = [...before, ...linked.flatMap(({ message, replies }) => [message, ...replies])];
  const names = toldApart(await lookUpNames(scope, own, ...more, ...others));
  const asked = askedIn(read.message, quoting, { names, botUserId, taskOptions });
  const { text, title, choices } = asked;
  const quotedIds = [...new Set([own, ...more, ...others].flatMap(writersOf))];
  const items = await sharedItemsOf(scope, withFiles, keptNames);
  const composed = { ...read, title, choices, unsentTs, quotedIds, items, keptNames };
  if (others.length === 0 || asked.asksInOtherWords) return { ...composed, text, notes };
  const quotation = quotationOf(read.message, quoting, { names, botUserId, maxMessages, maxCharacters });
  return { ...composed, text: withQuotation(quotation.text, text), notes: [...notes, ...quotation.cutNotes] };
}

/**
 * What a message asks, and its choices, without what it quotes. `asksInOtherWords`: it has no words of its own, and asks
 * in those of the message that it is about, which need not be quoted any more.
 */
function askedIn(
  { user_id, content }: WholeMessage,
  { own, more, before }: QuotingMessage,
  { names, botUserId, taskOptions }: ReadingOptions & { taskOptions: SupportedTaskOptions },
) {
  const reading = { names, botUserId };
  const flagged = parseFlags(readableText(own, names, botUserId), taskOptions);
  const about = content?.about === undefined || flagged.text !== '' ? undefined : before[0];
  // For the title: `true` leaves out the addresses of links.
  const ownWords = parseFlags(plainText(own, names, botUserId, true), taskOptions).text;
  const words =
    about === undefined ? { said: flagged.text, titleWords: ownWords } : wordsOf(about, user_id, reading);
  const wholeText = withLists(words.said, ...more.map((one) => readableText(one, names, botUserId)));
  const text = content?.isCorrection === true ? withLeadIn(strings.correctionPrefix, wholeText) : wholeText;
  const choices = content?.choices ?? flagged.choices;
  const title = choices.title ?? taskTitle(words.titleWords, fileNamesOf(own));
  return { text, title, choices, asksInOtherWords: about !== undefined };
}

/** The words of the message that a question is about, with their writer, if that is not who asks. */
function wordsOf(about: ParsedMessage, asker: string, reading: ReadingOptions) {
  const said = readableText(about, reading.names, reading.botUserId);
  return {
    said: about.user === asker ? said : withWriterName(said, writerForAgent(about, reading)),
    titleWords: plainText(about, reading.names, reading.botUserId, true),
  };
}

/** Quotes earlier and linked messages. `cutNotes` name those, asked about or linked to, that are cut short. */
function quotationOf(
  { content }: WholeMessage,
  { before, linked, missing }: QuotingMessage,
  options: Parameters<typeof quoteLinkedMessage>[1],
): { text: string; cutNotes: FileNote[] } {
  const transcript = buildTranscript({ messages: before, missing, ...options });
  const maxCharacters = Math.floor(options.maxCharacters / Math.max(1, linked.length));
  const quotations = linked.map((link) => quoteLinkedMessage(link, { ...options, maxCharacters }));
  const cutLinks = linked.filter((_, index) => quotations[index]?.isCut).map(({ url }) => url);
  const isAboutCut = content?.about !== undefined && isCutShort(transcript);
  const cut = [...(isAboutCut ? [strings.messageAskedAbout] : []), ...cutLinks];
  const cutNotes = cut.map((name) => ({ name, reason: 'cut' satisfies FileReason }));
  const parts = [transcript, ...quotations.map(({ text }) => text)].filter((part) => part !== '');
  return { text: parts.join('\n\n'), cutNotes };
}

type ReadingOptions = Pick<TranscriptOptions, 'names' | 'botUserId'>;

/** A message with those that it quotes. All their tables are numbered in one sequence. */
interface QuotingMessage
  extends Pick<EarlierMessages, 'missing' | 'unsentTs'>,
    Pick<OutgoingMessage, 'keptNames'> {
  own: ParsedMessage;
  /** The messages that go along with it. */
  more: readonly ParsedMessage[];
  /** The message that it is about, or those before it in its thread: all that were read, to count them. */
  before: readonly ParsedMessage[];
  linked: LinkedMessages['read'];
  /** All messages that are sent, each with those of its files that go along. */
  withFiles: readonly ParsedMessage[];
  /** On files left out, links that were not followed, and messages of which there is only a preview. */
  notes: readonly FileNote[];
}

/** Reads what was said before a message, adds the linked messages, numbers all tables and chooses the files. */
async function readQuotingMessage(
  work: ThreadWork,
  thread: Thread,
  read: Pick<OutgoingMessage, 'message' | 'resent' | 'links'>,
): Promise<QuotingMessage> {
  const { message, links } = read;
  const { maxTranscriptMessages } = work.deps.settings;
  const parse = ({ content }: Message) => parseMessage(content ?? { text: '' });
  const [head, ...behind] = message.parts;
  const own = parse(head);
  const more = behind.map(parse);
  const { messages, isBeginning, missing, unsentTs } = await readBefore(work, thread, read);
  const newest = messages.slice(-maxTranscriptMessages);
  // The linked message itself counts as one of its thread's quoted messages.
  const ofLinks = links.read.flatMap((one) => [one.message, ...one.replies.slice(1 - maxTranscriptMessages)]);
  const sentAlong = [own, ...more, ...newest, ...ofLinks];
  const hasFiles = (one: ParsedMessage) =>
    one.files.length + one.attachments.length + tablesAmong(blocksOf(one)).length > 0;
  const needsFreeNames = message.ts !== message.thread_ts && sentAlong.some(hasFiles);
  const keptNames = needsFreeNames ? await work.deps.store.keptFiles.names(message) : [];
  const numbered = numberTables(sentAlong, keptNames);
  // A whole conversation may come before the agent's first message: only its newest files go along.
  const leftOutFiles = isBeginning ? earlierFilesLeftOut(newest) : [];
  const withFiles = sentAlong.map((sent) => ({
    ...numbered(sent),
    files: sent.files.filter((file) => !leftOutFiles.includes(file)),
  }));
  const leftOutNames = fileNamesOf({ files: leftOutFiles });
  const leftOutNotes = leftOutNames.map((name): FileNote => ({ name, reason: 'earlier' }));
  if (missing === 'all') leftOutNotes.push({ name: strings.saidBefore, reason: 'thread_hidden' });
  const notes = [...leftOutNotes, ...links.notes, ...previewNotes(withFiles, links)];
  const before = messages.map(numbered);
  const linked = links.read.map((link) => ({
    ...link,
    message: numbered(link.message),
    replies: link.replies.map(numbered),
  }));
  const asking = { own: numbered(own), more: more.map(numbered) };
  return { ...asking, before, missing, unsentTs, linked, withFiles, keptNames, notes };
}

/** The message that a message is about or, for any other, those before it. None for a message that repeats another. */
async function readBefore(
  work: ThreadWork,
  thread: Thread,
  { message, resent }: Pick<OutgoingMessage, 'message' | 'resent'>,
): Promise<EarlierMessages> {
  const about = message.content?.about;
  if (about !== undefined) return { ...NO_EARLIER, messages: [parseMessage(about)] };
  return resent === undefined ? readEarlierMessages(work, thread, message) : NO_EARLIER;
}

/**
 * Numbers the tables of the messages `sentAlong`, behind those that the thread has kept. Returns a function that gives
 * one of these messages the number of its first table, and leaves any other as it is.
 */
function numberTables(
  sentAlong: readonly ParsedMessage[],
  keptNames: readonly string[],
): (sent: ParsedMessage) => ParsedMessage {
  let firstTable = 1 + Math.max(0, ...keptNames.map(tableNumber));
  const numbered = new Map<ParsedMessage, ParsedMessage>();
  for (const sent of sentAlong) {
    numbered.set(sent, { ...sent, firstTable });
    firstTable += tablesAmong(blocksOf(sent)).length;
  }
  return (sent) => numbered.get(sent) ?? sent;
}

/** Notes on messages of which there is only Slack's preview, because no link to them was found in the words. */
function previewNotes(messages: readonly ParsedMessage[], { read, notes }: LinkedMessages): FileNote[] {
  const linkedUrls = [...read.map(({ url }) => url), ...notes.map(({ name }) => name)];
  const previews = messages.flatMap(({ attachments }) => attachments).filter(isMessagePreview);
  const previewUrls = new Set(previews.map(({ from_url = 'a Slack message' }) => from_url));
  // The address of a preview may go on behind a question mark, where that of a link ends.
  const unlinked = [...previewUrls].filter((preview) => !linkedUrls.some((url) => preview.startsWith(url)));
  return unlinked.map((name) => ({ name, reason: 'link_preview' satisfies FileReason }));
}
