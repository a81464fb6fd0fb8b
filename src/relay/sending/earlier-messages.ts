import { z } from 'zod';
import type { NewestMessages, ThreadMessage } from '../../slack/message-history.ts';
import type { Message, SlackTs, Thread, Turn } from '../../store/schema.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import { lookUpNames, NO_NAMES } from '../reading/display-names.ts';
import { addresseeOf, readMentions } from '../reading/listening.ts';
import { type ParsedMessage, parseMessage } from '../reading/message-parser.ts';
import { inlinesToMarkdown } from '../reading/message-to-markdown.ts';
import { parseCell, parseTable } from '../reading/pasted-tables.ts';
import { NO_LABELS, parseRichText, verbatimBlock } from '../reading/rich-text-parser.ts';
import { buildTranscript, withTranscript } from '../reading/transcript.ts';
import type { RelayDeps, ThreadWork } from '../runtime/deps.ts';
import { compareTs } from '../runtime/incoming-message.ts';

/** What people said before a message that the agent has not got. */
export interface EarlierMessages {
  messages: readonly ParsedMessage[];
  missing: NewestMessages['missing'];
  /** Those of them that were not sent because people spoke to each other. */
  quoted: readonly SlackTs[];
  /** They are what people said before the agent got its first message. */
  isBeginning: boolean;
}

/**
 * The newest messages of a thread between people that come before one for the agent, read from Slack: all before the
 * first that is sent, but for what the bot posted and mentions without a question; then those that were not sent since,
 * unless they are addressed to somebody else.
 */
export async function readEarlierMessages(
  work: ThreadWork,
  thread: Thread,
  message: Message,
): Promise<EarlierMessages> {
  const { messages: stored } = work.deps.store;
  const botUserId = work.workspace.bot.userId;
  const ts = await originalTs(work.deps, message);
  const isBeginning =
    thread.adopted_ts !== thread.thread_ts &&
    (ts === thread.adopted_ts || !(await stored.isAnotherSent({ ...message, ts })));
  const quoted = message.resends_turn_id === null ? await stored.unquoted(message) : [];
  const oldest = isBeginning ? message.thread_ts : quoted[0];
  if (oldest === undefined) return { messages: [], missing: undefined, quoted, isBeginning };
  const isWanted = (read: ThreadMessage) => {
    const parsed = parseMessage(read);
    if (!isBeginning) {
      const place = { ...message, ts: read.ts, person: read.user ?? '' };
      return quoted.includes(read.ts) && addresseeOf(place, parsed, botUserId) !== 'others';
    }
    const { mentionsBot, isEmptyAfterMention } = readMentions(parsed, botUserId);
    const isBare = mentionsBot && isEmptyAfterMention && parsed.files.length === 0;
    return read.user !== botUserId && !isBare;
  };
  const { messages, missing } = await readNewest(work, message, { oldest, before: ts, isWanted });
  return { messages: messages.filter(isWanted).map(parseMessage), missing, quoted, isBeginning };
}

/** The newest messages of a message's thread, as many as a transcript holds. Throws a SlackError. */
async function readNewest(
  { workspace, deps, lease }: ThreadWork,
  { channel, thread_ts: threadTs }: Message,
  range: Pick<Parameters<typeof workspace.readBack.newestBefore>[0], 'oldest' | 'before' | 'isWanted'>,
): Promise<NewestMessages> {
  const count = Math.max(1, deps.settings.maxTranscriptMessages);
  return workspace.readBack.newestBefore({ channel, threadTs, ...range, count, signal: lease.signal });
}

/**
 * When a message was first written: one that is resent or asked again stands for the message that it repeats. A
 * correction stands for itself, because the service has the message that it corrects.
 */
async function originalTs({ store }: RelayDeps, message: Message): Promise<string> {
  for (let current = message; ; ) {
    const repeatedTurn = current.resends_turn_id ?? current.revises_turn_id;
    const turn = repeatedTurn === null ? undefined : await store.turns.get(message.workspace, repeatedTurn);
    if (turn === undefined || (current.resends_turn_id === null && turn.user_message_id !== null))
      return current.ts;
    const earlier = await store.messages.get(messageKeyOf(turn));
    if (earlier === undefined) return turn.message_ts;
    current = earlier;
  }
}

/**
 * The prompt after a quotation of what was said in the thread's former tasks, if it is the first message to its task, and
 * whose words it quotes. The words are read from Slack, so that what people have changed or deleted since is quoted as it is
 * now, or not at all. Throws a SlackError.
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
  const { messages, missing, quotedIds } = await readFormerTasks(work, thread, taskId, message);
  const names = await lookUpNames({ people: workspace.people, channel: message.channel }, ...messages);
  const { userId: botUserId } = workspace.bot;
  const transcript = buildTranscript({ messages, missing, names, botUserId, maxMessages, maxCharacters });
  const whole = withTranscript(transcript, prompt);
  const quoted = transcript === '' ? quoted_ids : new Set([...quoted_ids, ...quotedIds]);
  return { prompt: whole, quotation_length: whole.length - prompt.length, quoted_ids: [...quoted] };
}

async function readFormerTasks(work: ThreadWork, thread: Thread, taskId: string, message: Message) {
  const { deps, workspace } = work;
  const said = await deps.store.messages.saidInFormerTasks(thread, taskId);
  const question = said.length === 0 ? '' : await originalTs(deps, message);
  const writers = new Map(said.filter(({ ts }) => ts !== question).map(({ ts, person }) => [ts, person]));
  const times = [...writers.keys()].sort(compareTs);
  const [oldest, newest] = [times[0], times.at(-1)];
  if (oldest === undefined) return { messages: [], quotedIds: [] };
  const { messages, missing } = await readNewest(work, message, {
    oldest,
    before: (Number(newest) + 1).toFixed(6),
    isWanted: ({ ts }) => writers.has(ts),
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
function asSaid(read: ThreadMessage, writer: string | null | undefined, bot: ThreadWork['workspace']['bot']) {
  // The root of a thread stays as a notice that it was deleted.
  if (writer === undefined || read.subtype === 'tombstone') return [];
  const parsed = parseMessage(read);
  if (writer === null) return withAnswerOnly(parsed);
  return [parsed.user === bot.userId ? { ...parsed, user: writer, bot_id: undefined } : parsed];
}

/** Blocks that show a part of an answer: Slack may make several others of a `markdown` block. */
const textBlockSchema = z.looseObject({
  type: z.enum(['markdown', 'header']),
  text: z.union([z.string(), z.looseObject({ text: z.string() }).transform(({ text }) => text)]),
});

/** The bot's part of the answer in a message, without notes, progress, errors and buttons; empty where it has none. */
function withAnswerOnly(message: ParsedMessage): ParsedMessage[] {
  if (message.blocks.length === 0) return [message];
  const blocks = message.blocks.flatMap((raw) => {
    const text = parseTable(raw)?.rows.map(rowText).join('\n') ?? textBlockSchema.safeParse(raw).data?.text;
    if (text !== undefined) return [verbatimBlock(text)];
    return parseRichText(raw, NO_LABELS) === undefined ? [] : [raw];
  });
  return blocks.length === 0 ? [] : [{ ...message, blocks }];
}

function rowText(cells: readonly unknown[]): string {
  return `| ${cells.map((cell) => inlinesToMarkdown(parseCell(cell), NO_NAMES)).join(' | ')} |`;
}
