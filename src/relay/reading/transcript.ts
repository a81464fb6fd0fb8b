import { graphemeStart } from '../../render/text-format.ts';
import { compareTs } from '../runtime/incoming-message.ts';
import type { DisplayNames } from './display-names.ts';
import { fileNamesOf, type ParsedMessage } from './message-parser.ts';
import { blockquote, readableText, toSingleLine } from './message-to-markdown.ts';
import { timeOfTs } from './rich-text-parser.ts';

export interface TranscriptOptions {
  /** The thread's messages before the question, in any order. */
  readonly messages: readonly ParsedMessage[];
  /** Which messages of the thread are not among them, because they were not read. */
  readonly missing?: 'older' | 'later' | undefined;
  readonly names: DisplayNames;
  readonly botUserId: string;
  /** The newest messages are kept. */
  readonly maxMessages: number;
  /** The longest transcript, in UTF-16 units, including its heading. */
  readonly maxCharacters: number;
  /** Its heading, from the words for which messages are quoted. */
  readonly heading?: ((what: string) => string) | undefined;
}

/** A message that the question links to, with the replies to it. */
export interface LinkedMessage {
  readonly url: string;
  /** Where it is, if that has a name and is not where the question is. */
  readonly channelName: string | undefined;
  readonly message: ParsedMessage;
  readonly replies: readonly ParsedMessage[];
  /** Which of the replies were not read. */
  readonly missing: TranscriptOptions['missing'];
  /** How many replies there are of which none was read. */
  readonly unreadReplies: number;
}

/**
 * The conversation before a question as a Markdown quotation, oldest message first, with a heading that says how much
 * was omitted. Every line except the heading starts with `>`. Empty if there is nothing to quote, or no room for a
 * single message.
 */
export function buildTranscript(options: TranscriptOptions): string {
  const newestFirst = [...options.messages]
    .sort((one, other) => compareTs(other.ts ?? '', one.ts ?? ''))
    .filter((message) => hasContent(message, options));
  const kept: string[] = [];
  const { missing } = options;
  const { heading = (what) => `Earlier in this Slack thread (quoted: ${what}; times in UTC):` } = options;
  const quoted = (entries: readonly string[]) =>
    `${heading(quotedPart(entries.length, newestFirst.length - entries.length, missing))}\n\n${entries.join('\n>\n')}`;
  for (const message of newestFirst.slice(0, Math.max(0, options.maxMessages))) {
    kept.unshift(transcriptEntry(message, options));
    if (quoted(kept).length <= options.maxCharacters) continue;
    const only = kept.shift();
    if (kept.length === 0 && only !== undefined) {
      const frame = quoted(['']).length;
      const shortened = shortenedTo(options.maxCharacters - frame, only);
      if (shortened.length < MIN_ENTRY_CHARACTERS) return '';
      kept.push(shortened);
    }
    break;
  }
  return kept.length === 0 ? '' : quoted(kept);
}

/** What ends a quoted message that is cut short. */
const CUT_MARK = '… (cut)';

/** Whether the last message of a quotation is cut short. */
export function isCutShort(quotation: string): boolean {
  return quotation.endsWith(CUT_MARK);
}

/**
 * A linked message and the newest of its replies as Markdown quotations, each under a heading that says what it is.
 * `isCut`: only the beginning of the message fits.
 */
export function quoteLinkedMessage(
  { url, channelName, message, replies, missing, unreadReplies }: LinkedMessage,
  options: Omit<TranscriptOptions, 'messages' | 'missing' | 'heading'>,
): { text: string; isCut: boolean } {
  const place = channelName === undefined ? '' : ` in #${toSingleLine(channelName)}`;
  const unread = unreadReplies === 0 ? '' : `; replies that were not read: ${unreadReplies}`;
  const heading = `The Slack message${place} at <${url}> (quoted${unread}; times in UTC):`;
  const quoted = buildTranscript({ ...options, messages: [message], maxMessages: 1, heading: () => heading });
  const said = quoted === '' ? `${heading}\n\n> (no text that fits here)` : quoted;
  const thread = buildTranscript({
    ...options,
    messages: replies,
    missing,
    maxMessages: options.maxMessages - 1,
    maxCharacters: options.maxCharacters - said.length,
    heading: (what) => `The replies to it (quoted: ${what}; times in UTC):`,
  });
  const isCut = quoted === '' || isCutShort(said);
  return { text: thread === '' ? said : `${said}\n\n${thread}`, isCut };
}

/** The message for the agent: the transcript, then the question under a heading of its own. */
export function withTranscript(quotation: string, question: string): string {
  return quotation === '' ? question : `${quotation}\n\n---\n\nThe question:\n\n${question}`;
}

/** A quoted message cut short, never right after a line break: the next line would lack its `>`. */
function shortenedTo(maxCharacters: number, text: string): string {
  const end = graphemeStart(text, maxCharacters - CUT_MARK.length);
  return text.slice(0, end).replace(/(?:\n>? ?)+$/, '') + CUT_MARK;
}

/** A shorter excerpt of a message is not worth sending (UTF-16 units). */
const MIN_ENTRY_CHARACTERS = 60;

function quotedPart(count: number, left: number, missing: TranscriptOptions['missing']): string {
  if (missing === 'later') return `${count} of its first messages, later messages left out`;
  const newest = count === 1 ? 'the newest message' : `the newest ${count} messages`;
  if (missing === 'older') return `${newest}, older messages left out`;
  if (left === 0) return count === 1 ? newest : `all ${count} messages`;
  return `${newest}, ${left === 1 ? '1 older message' : `${left} older messages`} left out`;
}

function hasContent(message: ParsedMessage, { names, botUserId }: TranscriptOptions): boolean {
  return message.files.length > 0 || readableText(message, names, botUserId) !== '';
}

function transcriptEntry(message: ParsedMessage, options: TranscriptOptions): string {
  const text = readableText(message, options.names, options.botUserId);
  const files = fileNamesOf(message).map(toSingleLine).join(', ');
  const heading = [`**${writerName(message, options)}**`, timeOfTs(message.ts ?? '')]
    .filter((part) => part !== '')
    .join(', ');
  const parts = [`${heading}:`, text, files === '' ? '' : `[files: ${files}]`];
  return blockquote(parts.filter((part) => part !== '').join('\n'));
}

/** A message's writer as people and the agent read it, on one line. */
export function writerName(
  message: ParsedMessage,
  { names, botUserId }: Pick<TranscriptOptions, 'names' | 'botUserId'>,
): string {
  const known = message.user === undefined ? undefined : names.get(message.user);
  const name = known ?? message.bot_profile?.name ?? message.username ?? message.user ?? 'Somebody';
  if (message.user === botUserId) return `${toSingleLine(known ?? 'agent')} (you)`;
  return message.bot_id === undefined ? toSingleLine(name) : `${toSingleLine(name)} (app)`;
}
