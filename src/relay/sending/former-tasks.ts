import { z } from 'zod';
import type { ThreadMessage } from '../../slack/message-history.ts';
import type { Message, Thread, Turn } from '../../store/schema.ts';
import { lookUpNames, NO_NAMES } from '../reading/display-names.ts';
import { type ParsedMessage, parseMessage } from '../reading/message-parser.ts';
import { toMarkdown } from '../reading/message-to-markdown.ts';
import { parseRichText } from '../reading/rich-text-parser.ts';
import { buildTranscript, withTranscript } from '../reading/transcript.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { compareTs } from '../runtime/incoming-message.ts';
import { originalTs } from './outgoing-message.ts';

/** A message that is about to be sent, and the task that gets it. */
interface FirstMessage {
  taskId: string;
  message: Message;
  prompt: string;
  /** Whose words the prompt quotes already. */
  quoted_ids: readonly string[];
}

/**
 * The prompt after a quotation of what was said in the thread's former tasks, if it is the first message to its task. The
 * words are read from Slack, so that what people have changed or deleted since is quoted as it is now, or not at all.
 * Throws a SlackError.
 */
export async function withFormerTasks(
  work: ThreadWork,
  thread: Thread,
  { taskId, message, prompt, quoted_ids }: FirstMessage,
): Promise<Pick<Turn, 'quotation_length' | 'quoted_ids'> & { prompt: string }> {
  const { deps, workspace } = work;
  const { maxTranscriptMessages: maxMessages, maxTranscriptCharacters: maxCharacters } = deps.settings;
  const { messages, missing, quotedIds } = await readFormerTasks(work, thread, taskId, message);
  const names = await lookUpNames({ people: workspace.people, channel: message.channel }, ...messages);
  const { userId: botUserId } = workspace.bot;
  const transcript = buildTranscript({ messages, missing, names, botUserId, maxMessages, maxCharacters });
  const whole = withTranscript(transcript, prompt);
  const quoted = transcript === '' ? quoted_ids : new Set([...quoted_ids, ...quotedIds]);
  return { prompt: whole, quotation_length: whole.length - prompt.length, quoted_ids: [...quoted] };
}

async function readFormerTasks(
  { deps, workspace, lease }: ThreadWork,
  thread: Thread,
  taskId: string,
  message: Message,
) {
  const said = await deps.store.messages.saidInFormerTasks(thread, taskId);
  const question = said.length === 0 ? '' : await originalTs(deps, message);
  const writers = new Map(said.filter(({ ts }) => ts !== question).map(({ ts, person }) => [ts, person]));
  const times = [...writers.keys()].sort(compareTs);
  const [oldest, newest] = [times[0], times.at(-1)];
  if (oldest === undefined) return { messages: [], quotedIds: [] };
  const { messages, missing } = await workspace.readBack.newestBefore({
    channel: message.channel,
    threadTs: message.thread_ts,
    oldest,
    before: (Number(newest) + 1).toFixed(6),
    count: Math.max(1, deps.settings.maxTranscriptMessages),
    isWanted: ({ ts }) => writers.has(ts),
    signal: lease.signal,
  });
  return {
    messages: messages.flatMap((read) => asSaid(read, writers.get(read.ts), workspace.bot)),
    missing,
    // An answer may repeat the words of everybody who had a part in the conversation.
    quotedIds: said.flatMap(({ person, quoted_ids }) => [
      ...quoted_ids,
      ...(person === null ? [] : [person]),
    ]),
  };
}

/** A message as it is quoted: of a reply only the answer; a question that the bot posted for a person is that person's. */
function asSaid(
  read: ThreadMessage,
  writer: string | null | undefined,
  bot: ThreadWork['workspace']['bot'],
): ParsedMessage[] {
  // The root of a thread stays as a notice that it was deleted.
  if (writer === undefined || read.subtype === 'tombstone') return [];
  const parsed = parseMessage(read);
  if (writer === null) return withAnswerOnly(parsed);
  return [parsed.user === bot.userId ? { ...parsed, user: writer, bot_id: undefined } : parsed];
}

const textSchema = z.looseObject({
  text: z.union([z.string(), z.looseObject({ text: z.string() }).transform(({ text }) => text)]),
});
/** Blocks that show a part of an answer: Slack may make several others of a `markdown` block. */
const textBlockSchema = textSchema.extend({ type: z.enum(['markdown', 'header']) });
const tableSchema = z.looseObject({
  type: z.enum(['table', 'data_table']),
  rows: z.array(z.array(z.unknown())),
});
const richTextSchema = z.looseObject({ type: z.literal('rich_text') });

/**
 * A message of the bot's reply with nothing but its part of the answer, without notes, progress, errors and buttons; empty
 * where it has no part of it.
 */
function withAnswerOnly(message: ParsedMessage): ParsedMessage[] {
  if (message.blocks.length === 0) return [message];
  const blocks = message.blocks.flatMap((raw) => {
    const table = tableSchema.safeParse(raw).data;
    const text = table?.rows.map(rowText).join('\n') ?? textBlockSchema.safeParse(raw).data?.text;
    if (text !== undefined) return [asRichText(text)];
    return richTextSchema.safeParse(raw).success ? [raw] : [];
  });
  return blocks.length === 0 ? [] : [{ ...message, blocks }];
}

function rowText(cells: readonly unknown[]): string {
  return `| ${cells.map(cellText).join(' | ')} |`;
}

function cellText(cell: unknown): string {
  const rich = parseRichText([cell], new Map());
  if (rich !== undefined) return toMarkdown(rich, NO_NAMES);
  return textSchema.safeParse(cell).data?.text ?? '';
}

/** A block whose text is read as it stands. */
function asRichText(text: string) {
  return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }] };
}
