import { z } from 'zod';
import { listOf } from '../../calls/json.ts';
import { type SlackFile, slackFileSchema } from '../../slack/downloadable-files.ts';
import { optional, text } from '../../slack/field-schemas.ts';
import type { ThreadMessage } from '../../slack/message-history.ts';
import { attachmentsSchema, isSlackItself } from '../../slack/slack-message.ts';
import type { WorkspaceClient } from '../runtime/deps.ts';
import { type IncomingMessage, isBotId, messageContent } from '../runtime/incoming-message.ts';
import { parseEveryBlock, parseShown } from './block-parser.ts';
import { namedFileSchema, transcriptBlocks } from './emails-and-voice-clips.ts';
import { attachedInside, attachmentBlocks, attachmentName, isMessagePreview } from './message-attachments.ts';
import type { ParsedBlock } from './parsed-blocks.ts';
import { parseTable, tablesAmong, withTableFiles } from './pasted-tables.ts';
import { fileName } from './slack-file-names.ts';

const messageSchema = z.object({
  text: z.string().catch(''),
  blocks: z.array(z.unknown()).catch([]),
  attachments: attachmentsSchema.catch([]),
  files: listOf(namedFileSchema).catch([]),
  ts: text,
  user: text,
  bot_id: text,
  username: text,
  bot_profile: optional(z.looseObject({ name: text })),
});

const lenientSchema = messageSchema.catch(() => messageSchema.parse({}));

/** The fields of a Slack message that reading uses. */
export type ParsedMessage = z.infer<typeof messageSchema> & {
  /** The number of its first table, if its tables go to the agent as files. */
  readonly firstTable?: number;
};

const parsedMessages = new WeakMap<object, ParsedMessage>();

/** Parses a message, an event or stored content, each once. Omits fields of the wrong type; never throws. */
export function parseMessage(raw: unknown): ParsedMessage {
  if (typeof raw !== 'object' || raw === null) return lenientSchema.parse(raw);
  const known = parsedMessages.get(raw) ?? lenientSchema.parse(raw);
  parsedMessages.set(raw, known);
  return known;
}

const authoredBlocks = new WeakMap<ParsedMessage, ParsedBlock[]>();

/** What the message itself shows, without its attachments. */
export function authoredBlocksOf(message: ParsedMessage): ParsedBlock[] {
  const known = authoredBlocks.get(message) ?? parseShown(message.blocks, message.text);
  authoredBlocks.set(message, known);
  return known;
}

/** What the message shows, and then what its voice clips and attachments say. */
export function blocksOf(message: ParsedMessage): ParsedBlock[] {
  const beside = [...transcriptBlocks(message.files), ...attachmentBlocks(message.attachments)];
  const blocks = [...authoredBlocksOf(message), ...beside];
  return message.firstTable === undefined ? blocks : withTableFiles(blocks, message.firstTable);
}

/** The ids of those whose words are in a message: its writer, and the writers of the messages and files that it passes on. */
export function writersOf({ user, attachments, files }: ParsedMessage): string[] {
  const authors = [...attachments, ...attachments.flatMap(attachedInside)].map(({ author_id }) => author_id);
  const owners = [...files, ...attachments.flatMap((one) => one.files ?? [])].map((file) => file.user);
  return [user, ...authors, ...owners].flatMap((id) => id ?? []);
}

/** The names of the message's files, in order. */
export function fileNamesOf(message: Pick<ParsedMessage, 'files'>): string[] {
  return message.files.map(fileName);
}

/** The names of what a message shares beside its words: files, tables, and what is attached to it. */
export function sharedNamesOf(message: ParsedMessage): string[] {
  const tables = tablesAmong(blocksOf({ ...message, firstTable: 1 })).map(({ file = '' }) => file);
  const others = message.attachments.filter(
    (one) => !isMessagePreview(one) && tablesAmong(parseEveryBlock(one.blocks ?? [])).length === 0,
  );
  return [...fileNamesOf(message), ...tables, ...others.map(attachmentName)];
}

/** A message's words alone, without its tables and what is attached to it. */
export function withoutShared(message: ParsedMessage): ParsedMessage {
  const blocks = message.blocks.filter((block) => parseTable(block) === undefined);
  return { ...message, blocks, attachments: [] };
}

/** The files of a message, in order and without duplicates. Ignores what is not a Slack file. */
export function filesOf(content: { files?: unknown[] | undefined }): SlackFile[] {
  const files = new Map<string, SlackFile>();
  for (const raw of content.files ?? []) {
    const parsed = slackFileSchema.safeParse(raw);
    if (parsed.success && !files.has(parsed.data.id)) files.set(parsed.data.id, parsed.data);
  }
  return [...files.values()];
}

/** Our own user in a workspace. */
export type BotIdentity = Readonly<WorkspaceClient['bot']>;

/**
 * The message as that of the person whose token an app posted it with, if Slack says that its writer is one: a drafting or
 * scheduling tool. Any other stays as it is. Throws what `isHuman` throws.
 */
export async function asPersons<M extends ThreadMessage>(
  message: M,
  bot: BotIdentity,
  isHuman: (id: string) => Promise<boolean>,
): Promise<M> {
  const { user, bot_id: botId, username, bot_profile: profile } = message;
  const isOwn = user === bot.userId || botId === bot.botId;
  const isAppsOwn = username !== undefined || profile?.user_id === user || !isPersonsMessage(message);
  if (!isByApp(message) || isOwn || isAppsOwn || user === undefined || !(await isHuman(user))) return message;
  return { ...message, bot_id: undefined, app_id: undefined };
}

/** Whether an app posted a message. */
export function isByApp({ bot_id: botId, app_id: appId }: Pick<ThreadMessage, 'bot_id' | 'app_id'>): boolean {
  return (botId ?? appId) !== undefined;
}

const USER_MESSAGE_SUBTYPES = new Set([undefined, 'file_share', 'thread_broadcast', 'me_message']);

/** Whether people write such messages: no notice of Slack's own, and none of a subtype that nobody writes. */
function isPersonsMessage({ user, subtype }: Pick<ThreadMessage, 'user' | 'subtype'>): boolean {
  return USER_MESSAGE_SUBTYPES.has(subtype) && !isSlackItself(user ?? '');
}

/**
 * A message as the inbox takes it in; undefined for the bot's own, Slack's notices and what nobody wrote. An app goes by its own
 * id, because many have no user. If it may not ask (`askers`: B…), only its replies count, and only by their ids.
 */
export function toIncomingMessage(
  place: Pick<IncomingMessage, 'workspace' | 'channel' | 'isGroup'>,
  message: ThreadMessage,
  bot: BotIdentity,
  askers: readonly string[],
): IncomingMessage | undefined {
  const { ts, thread_ts = ts, user, bot_id: botId, subtype, client_msg_id: clientId, edited } = message;
  if (user === bot.userId || botId === bot.botId) return undefined;
  const isFromApp = isByApp(message);
  const person = isFromApp ? botId : user;
  const isWritten = isPersonsMessage(message) || (isFromApp && subtype === 'bot_message');
  if (!isWritten || person === undefined || isFromApp !== isBotId(person)) return undefined;
  const mayAsk = !isFromApp || askers.includes(person);
  if (!mayAsk && ts === thread_ts) return undefined;
  const content = mayAsk ? messageContent(message) : { text: '' };
  const sharesFiles = subtype === 'file_share';
  return { ...place, ts, thread_ts, person, content, editedTs: edited?.ts, clientId, sharesFiles };
}
