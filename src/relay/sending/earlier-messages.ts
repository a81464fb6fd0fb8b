import { z } from 'zod';
import { withQuotation } from '../../render/prompt-frame.ts';
import * as strings from '../../render/strings/index.ts';
import { graphemeStart, toOneLine } from '../../render/text-format.ts';
import { isPermanentRefusal } from '../../slack/errors.ts';
import type { NewestMessages, ThreadMessage } from '../../slack/message-history.ts';
import type { Message, SlackTs, Thread, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { isAtService } from '../../store/threads/turn-phase.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import { type DisplayNames, lookUpNames, NO_NAMES, toldApart } from '../reading/display-names.ts';
import { addresseeOf, isEmptyAfterMention, mentionedIds } from '../reading/listening.ts';
import { blocksOf, fileNamesOf, type ParsedMessage, parseMessage } from '../reading/message-parser.ts';
import { blockquote, inlinesToMarkdown, readableText } from '../reading/message-to-markdown.ts';
import { parseCell, parseTable } from '../reading/pasted-tables.ts';
import { NO_LABELS, parseRichText, timeOfTs, verbatimBlock } from '../reading/rich-text-parser.ts';
import type { RelayDeps, ThreadWork } from '../runtime/deps.ts';
import { compareTs, isBotId } from '../runtime/incoming-message.ts';
import type { LinkedMessage } from './linked-messages.ts';

/** What people and apps said before a message that the agent has not got. */
export interface EarlierMessages {
  messages: readonly ParsedMessage[]; // Oldest first.
  /** `all`: Slack refuses to show any. */
  missing: TranscriptOptions['missing'];
  /** Earlier messages that were not sent, being for people, and that no other quotes; oldest first. */
  unsentTs: readonly SlackTs[];
  /** They are what people said before the agent got its first message. */
  isBeginning: boolean;
}

/**
 * The newest messages of people and apps that come before a message for the agent in its thread, read from Slack.
 * For the first message that the agent gets: all, except what the bot posted and mentions without a question.
 * For a later one: those that were not sent since, unless a person addressed them to somebody else.
 */
export async function readEarlierMessages(
  work: ThreadWork,
  thread: Thread,
  message: Message,
): Promise<EarlierMessages> {
  const botUserId = work.workspace.bot.userId;
  const ts = await originalTs(work.deps, message);
  const { messages: stored } = work.deps.store;
  const askedAboutTs = await askedAboutAtBeginning(stored, thread, { ...message, ts });
  const isBeginning = askedAboutTs !== undefined;
  // A resent message quotes no unsent ones: the thread's next message does.
  const unsent = message.resends_turn_id === null ? await stored.unsentBefore(message) : [];
  const unsentTs = unsent.map((one) => one.ts);
  const oldest = isBeginning ? message.thread_ts : unsentTs[0];
  if (oldest === undefined) return { messages: [], missing: undefined, unsentTs, isBeginning };
  const isUnsent = (read: ThreadMessage) => {
    const person = unsent.find((one) => one.ts === read.ts)?.user_id;
    if (person === undefined) return false;
    if (isBotId(person)) return true; // Only people address somebody else.
    return addresseeOf({ ...message, ts: read.ts, person }, parseMessage(read), botUserId) !== 'others';
  };
  // After questions about single messages, what follows the first mention is chosen as for any later message.
  const hadQuestions = askedAboutTs !== undefined && askedAboutTs.length > 0;
  const isLater = (read: ThreadMessage) => hadQuestions && compareTs(read.ts, thread.adopted_ts) > 0;
  const isWanted = (read: ThreadMessage) =>
    isBeginning && !isLater(read) ? isOfBeginning(read, askedAboutTs, botUserId) : isUnsent(read);
  const newest = await readNewest(work, message, { oldest, before: ts, isWanted }).catch((err: unknown) => {
    if (!isPermanentRefusal(err)) throw err;
    work.deps.log.warn({ channel: thread.channel, ts, err }, 'a question goes without what was said before');
  });
  if (newest === undefined) return { messages: [], missing: 'all', unsentTs: [], isBeginning };
  const quoted = withRoot(work, message, newest.messages.filter(isWanted).map(parseMessage), newest.missing);
  return { ...quoted, unsentTs, isBeginning };
}

/** Whether a message is part of how a thread began: the agent has not got it, and it is no post or bare mention of the bot. */
function isOfBeginning(read: ThreadMessage, askedAboutTs: readonly (string | null)[], botUserId: string) {
  if (askedAboutTs.includes(read.ts) || read.subtype === 'tombstone' || read.user === botUserId) return false;
  const message = parseMessage(read);
  const isBareMention = mentionedIds(message).includes(botUserId) && isEmptyAfterMention(message, botUserId);
  return !isBareMention || message.files.length > 0;
}

/** What is quoted of a thread: all or, of a long one, the newest behind the first, which mostly says what it is about. */
function withRoot(
  { deps }: ThreadWork,
  { thread_ts }: Message,
  messages: readonly ParsedMessage[],
  missing: NewestMessages['missing'],
): Pick<EarlierMessages, 'messages' | 'missing'> {
  const [root, ...replies] = messages;
  const max = deps.settings.maxTranscriptMessages;
  const hasRoot = root?.ts === thread_ts && root.files.length + blocksOf(root).length > 0;
  if (!hasRoot || messages.length <= max || missing === 'later') return { messages, missing };
  return { messages: [root, ...replies.slice(1 - max)], missing: 'between' };
}

/**
 * For the message that takes along how a thread of people began: the `ts` of the earlier messages that the agent has,
 * because each was sent with a question about it alone. Undefined for any other message.
 */
async function askedAboutAtBeginning(stored: Store['messages'], thread: Thread, message: Message) {
  const { adopted_ts } = thread; // Of the message that first addressed the agent.
  // If that message began the thread, nothing came before it.
  if (adopted_ts === thread.thread_ts) return undefined;
  // That message takes the beginning along whenever it is sent; another only if all before it ask about single messages.
  const abouts = message.ts === adopted_ts ? [] : await stored.aboutsOfSent(message);
  return abouts.includes(null) ? undefined : abouts; // null: of a message that asks about no single one.
}

/** Most files from before the first message that go along with it. */
const MAX_EARLIER_FILES = 5;

/** The files of earlier messages that do not go with the first message for the agent: all but the newest. */
export function earlierFilesLeftOut(messages: readonly ParsedMessage[]): ParsedMessage['files'] {
  return messages.flatMap(({ files }) => files).slice(0, -MAX_EARLIER_FILES);
}

/** The newest of a thread's wanted messages: as many as a transcript holds, or more. Throws a SlackError. */
async function readNewest(
  { workspace, deps, lease }: ThreadWork,
  { channel, thread_ts: threadTs }: Message,
  range: Pick<Parameters<typeof workspace.readBack.newestBefore>[0], 'oldest' | 'before' | 'isWanted'>,
): Promise<NewestMessages> {
  const { maxTranscriptMessages: count } = deps.settings;
  return workspace.readBack.newestBefore({ channel, threadTs, ...range, count, signal: lease.signal });
}

/**
 * When a message was first written: one that is resent or asked again stands for the message that it repeats.
 * A correction stands for itself, because the service has the message that it corrects.
 */
async function originalTs(deps: RelayDeps, message: Message): Promise<string> {
  const { turns, messages } = deps.store;
  const repeatedTurn = message.resends_turn_id ?? message.revises_turn_id;
  const turn = repeatedTurn === null ? undefined : await turns.get(message.workspace, repeatedTurn);
  if (turn === undefined || (message.resends_turn_id === null && isAtService(turn))) return message.ts;
  const earlier = await messages.get(messageKeyOf(turn));
  return earlier === undefined ? turn.message_ts : originalTs(deps, earlier);
}

/**
 * A prompt behind a quotation of what was said in the thread's former tasks. Only the first prompt of a task gets one:
 * `saidInFormerTasks` finds nothing for a later one. The quoted words are read from Slack: as people have changed them
 * since, without what they have deleted. `quoted_ids`: the people whose words the prompt quotes. Throws a SlackError.
 */
export async function withFormerTasks(
  work: ThreadWork,
  thread: Thread,
  message: Message,
  taskId: string,
  { prompt, quoted_ids }: Pick<Turn, 'quoted_ids'> & { prompt: string },
): Promise<Pick<Turn, 'quotation_length' | 'quoted_ids'> & { prompt: string }> {
  const { deps, workspace } = work;
  const { maxTranscriptMessages: maxMessages, maxTranscriptCharacters: maxCharacters } = deps.settings;
  const { messages, missing, formerIds } = await readFormerTasks(work, thread, taskId, message);
  const scope = { people: workspace.people, channel: message.channel };
  const names = toldApart(await lookUpNames(scope, ...messages));
  const { userId: botUserId } = workspace.bot;
  const transcript = buildTranscript({ messages, missing, names, botUserId, maxMessages, maxCharacters });
  const whole = withQuotation(transcript, prompt);
  const quoted = transcript === '' ? quoted_ids : new Set([...quoted_ids, ...formerIds]);
  return { prompt: whole, quotation_length: whole.length - prompt.length, quoted_ids: [...quoted] };
}

/** The messages of a thread's former tasks, without the present question; `formerIds`: whose words they may repeat. */
async function readFormerTasks(work: ThreadWork, thread: Thread, taskId: string, message: Message) {
  const { deps, workspace } = work;
  const said = await deps.store.messages.saidInFormerTasks(thread, taskId);
  const questionTs = said.length === 0 ? '' : await originalTs(deps, message);
  const writers = new Map(said.filter(({ ts }) => ts !== questionTs).map(({ ts, person }) => [ts, person]));
  const times = [...writers.keys()].sort(compareTs);
  const [oldest, newest] = [times[0], times.at(-1)];
  if (oldest === undefined) return { messages: [], missing: undefined, formerIds: [] };
  const { messages, missing } = await readNewest(work, message, {
    oldest,
    before: (Number(newest) + 1).toFixed(6), // A second after the newest.
    isWanted: ({ ts }) => writers.has(ts),
  });
  const words = messages.flatMap((read) => asSaid(read, writers.get(read.ts), workspace.bot));
  return {
    ...withRoot(work, message, words, missing),
    // An answer may repeat the words of everybody who had a part in the conversation.
    formerIds: said.flatMap(({ person, quoted_ids: ids }) => (person === null ? ids : [...ids, person])),
  };
}

/** A message as it is quoted: under the name of its `writer` or, if that is null, the agent's answer alone. [] for none. */
function asSaid(read: ThreadMessage, writer: string | null | undefined, bot: ThreadWork['workspace']['bot']) {
  // It was not said in a former task, or it is what Slack leaves of a deleted message that began a thread.
  if (writer === undefined || read.subtype === 'tombstone') return [];
  const parsed = parseMessage(read);
  if (writer === null) return withAnswerOnly(parsed);
  return [parsed.user === bot.userId ? { ...parsed, user: writer, bot_id: undefined } : parsed];
}

/** A block of text that shows a part of an answer. Slack may make several other blocks of a `markdown` block. */
const textBlockSchema = z.looseObject({
  type: z.enum(['markdown', 'header']),
  text: z.union([z.string(), z.looseObject({ text: z.string() }).transform(({ text }) => text)]),
});

/** The answer in a message of the bot, without notes, progress, errors and buttons; [] if it has none. */
function withAnswerOnly(message: ParsedMessage): ParsedMessage[] {
  if (message.blocks.length === 0) return [message]; // Slack took no more than its text.
  const blocks = message.blocks.flatMap((raw) => {
    const text = parseTable(raw)?.rows.map(rowText).join('\n') ?? textBlockSchema.safeParse(raw).data?.text;
    if (text !== undefined) return [verbatimBlock(text)];
    return parseRichText(raw, NO_LABELS) === undefined ? [] : [raw];
  });
  return blocks.length === 0 ? [] : [{ ...message, text: '', blocks }];
}

function rowText(cells: readonly unknown[]): string {
  return `| ${cells.map((cell) => inlinesToMarkdown(parseCell(cell), NO_NAMES)).join(' | ')} |`;
}

export interface TranscriptOptions {
  readonly messages: readonly ParsedMessage[];
  /** Which messages of the thread are not among them. `between`: those between the first and the newest. */
  readonly missing?: 'older' | 'later' | 'between' | 'all' | undefined;
  readonly names: DisplayNames;
  readonly botUserId: string;
  readonly maxMessages: number;
  /** The longest transcript, in UTF-16 units, including its heading. */
  readonly maxCharacters: number;
  /** Its heading, from the words for which messages are quoted. */
  readonly heading?: ((what: string) => string) | undefined;
}

/**
 * The conversation before a question as a Markdown quotation, oldest message first, under a heading that says
 * how much was omitted. Each other line starts with `>`. '' if there is nothing to quote, or no room.
 */
export function buildTranscript(options: TranscriptOptions): string {
  const { missing, names, botUserId, maxCharacters, heading = strings.earlierInThread } = options;
  const newestFirst = [...options.messages]
    .sort((one, other) => compareTs(other.ts ?? '', one.ts ?? ''))
    .filter((message) => message.files.length > 0 || readableText(message, names, botUserId) !== '');
  // The first message gets its room before the newest ones: at most half of the transcript.
  const root = missing === 'between' ? newestFirst.pop() : undefined;
  const half = Math.floor(maxCharacters / 2);
  const opening = root === undefined ? [] : [shortenedTo(half, transcriptEntry(root, options))];
  const quote = (entries: readonly string[]) => {
    const part = quotedPart(entries.length, newestFirst.length - entries.length, missing);
    return `${heading(part)}\n\n${[...opening, ...entries].join('\n>\n')}`;
  };
  const kept: string[] = [];
  for (const message of newestFirst.slice(0, Math.max(0, options.maxMessages - opening.length))) {
    const entry = transcriptEntry(message, options);
    if (quote([entry, ...kept]).length <= maxCharacters) {
      kept.unshift(entry);
      continue;
    }
    if (kept.length > 0) break;
    // The newest message alone is cut rather than left out.
    const shortened = shortenedTo(maxCharacters - quote(['']).length, entry);
    return shortened.length < MIN_ENTRY_CHARACTERS ? '' : quote([shortened]);
  }
  return kept.length === 0 ? '' : quote(kept);
}

const CUT_MARK = '… (cut)';

/** Whether the last message of a quotation is cut short. */
export function isCutShort(quotation: string): boolean {
  return quotation.endsWith(CUT_MARK);
}

/**
 * A linked message and the newest of its replies as Markdown quotations, each under a heading that says what
 * it is. `isCut`: at most the beginning of the message is quoted.
 */
export function quoteLinkedMessage(
  { url, channelName, message, replies, missing, unreadReplies }: LinkedMessage,
  options: Omit<TranscriptOptions, 'messages' | 'missing' | 'heading'>,
): { text: string; isCut: boolean } {
  const heading = strings.linkedMessage(url, toOneLine(channelName ?? ''), unreadReplies);
  const quoted = buildTranscript({ ...options, messages: [message], maxMessages: 1, heading: () => heading });
  const said = quoted === '' ? `${heading}\n\n> (no text that fits here)` : quoted;
  const thread = buildTranscript({
    ...options,
    messages: replies,
    missing,
    maxMessages: options.maxMessages - 1,
    maxCharacters: options.maxCharacters - said.length,
    heading: strings.linkedReplies,
  });
  const isCut = quoted === '' || isCutShort(said);
  return { text: thread === '' ? said : `${said}\n\n${thread}`, isCut };
}

/** A quotation, cut short if it is too long. Never cut right after a line break: the next line would lack its `>`. */
function shortenedTo(maxCharacters: number, text: string): string {
  if (text.length <= maxCharacters) return text;
  const end = graphemeStart(text, maxCharacters - CUT_MARK.length);
  return text.slice(0, end).replace(/(?:\n>? ?)+$/, '') + CUT_MARK;
}

/** An excerpt of a message that is shorter (UTF-16 units) is not worth sending. */
const MIN_ENTRY_CHARACTERS = 60;

/**
 * Tells the agent which messages are quoted: the newest `count` of those that were read, or the first ones if the `later`
 * are missing. `leftOut` of them have no room. If those `between` are missing, the thread's first message is quoted, too.
 */
function quotedPart(count: number, leftOut: number, missing: TranscriptOptions['missing']): string {
  if (missing === 'later') return `${count} of its first messages, later messages left out`;
  if (missing === 'between') return `the first message and the newest ${count}, those between left out`;
  const newest = count === 1 ? 'the newest message' : `the newest ${count} messages`;
  if (missing === 'older') return `${newest}, older messages left out`;
  if (leftOut === 0) return count === 1 ? newest : `all ${count} messages`;
  return `${newest}, ${leftOut === 1 ? '1 older message' : `${leftOut} older messages`} left out`;
}

/** A quoted line that could be taken for the first line of another entry. */
const LIKE_AN_ENTRY = /^> (?=[^\S\n]*(?:\*\*|__).+(?:\*\*|__),\s\d{4}-\d\d-\d\d \d\d:\d\d:(?!\d))/gm;

/** A quoted message: its writer and time, its words, and the names of its files. */
function transcriptEntry(message: ParsedMessage, options: TranscriptOptions): string {
  const text = readableText(message, options.names, options.botUserId);
  const files = fileNamesOf(message).map(toOneLine).join(', ');
  const heading = [`**${writerForAgent(message, options)}**`, timeOfTs(message.ts ?? '')]
    .filter((part) => part !== '')
    .join(', ');
  const said = blockquote(text).replace(LIKE_AN_ENTRY, '> > ');
  const parts = [blockquote(`${heading}:`), said, files === '' ? '' : blockquote(`[files: ${files}]`)];
  return parts.filter((part) => part !== '').join('\n');
}

/** A message's writer as the agent reads it, on one line. */
export function writerForAgent(
  message: ParsedMessage,
  { names, botUserId }: Pick<TranscriptOptions, 'names' | 'botUserId'>,
): string {
  if (message.user !== botUserId) return writerName(message, names);
  return `${toOneLine(names.get(botUserId) ?? 'agent')} (you)`;
}

/** A message's writer as people read it, on one line. */
export function writerName(message: ParsedMessage, names: DisplayNames): string {
  const known = message.user === undefined ? undefined : names.get(message.user);
  // An app may post each message under another name.
  const name = message.username || known || message.bot_profile?.name || message.user || 'Somebody';
  return message.bot_id === undefined ? toOneLine(name) : `${toOneLine(name)} (app)`;
}
