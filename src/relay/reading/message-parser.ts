import { z } from 'zod';
import { listOf, optional } from '../../slack/field-schemas.ts';
import type { ThreadMessage } from '../../slack/message-history.ts';
import { type SlackFile, slackFileSchema } from '../../slack/shared-file.ts';
import { isSlackItself } from '../../slack/slack-message.ts';
import type { MessageContent } from '../../store/schema.ts';
import { decodeEntities, parseMrkdwn } from './mrkdwn-parser.ts';
import type { ParsedBlock } from './parsed-blocks.ts';
import { parseRichText } from './rich-text-parser.ts';

const optionalText = optional(z.string());

const attachmentSchema = z.looseObject({
  is_share: optional(z.boolean()),
  is_msg_unfurl: optional(z.boolean()),
  author_name: optionalText,
  text: optionalText,
  fallback: optionalText,
});

const messageSchema = z.looseObject({
  text: z.string().catch(''),
  blocks: z.array(z.unknown()).catch([]),
  attachments: listOf(attachmentSchema).catch([]),
  files: listOf(z.looseObject({ name: optionalText, title: optionalText })).catch([]),
  ts: optionalText,
  user: optionalText,
  bot_id: optionalText,
  username: optionalText,
  bot_profile: optional(z.looseObject({ name: optionalText })),
});

const lenientSchema = messageSchema.catch(() => messageSchema.parse({}));

/** The fields of a Slack message that reading uses. */
export type ParsedMessage = z.infer<typeof messageSchema>;

/** Parses a message, an event or stored content. Omits fields of the wrong type; never throws. */
export function parseMessage(raw: unknown): ParsedMessage {
  return lenientSchema.parse(raw);
}

/** What the message's writer wrote: its rich text, or else its `text`. */
export function authoredBlocksOf(message: ParsedMessage): ParsedBlock[] {
  return parseRichText(message.blocks, labelsIn(message.text)) ?? parseMrkdwn(message.text);
}

/** The writer's text and forwarded messages; where there are none, the text of an app's blocks and attachments. */
export function blocksOf(message: ParsedMessage): ParsedBlock[] {
  const forwarded = message.attachments
    .filter((attachment) => attachment.is_share === true || attachment.is_msg_unfurl === true)
    .map(forwardedBlock);
  const blocks = [...authoredBlocksOf(message), ...forwarded];
  if (blocks.length > 0) return blocks;
  const others = message.attachments.map((attachment) => attachment.text ?? attachment.fallback ?? '');
  return parseMrkdwn([...textsIn(message.blocks), ...others].join('\n\n'));
}

/** The names of the message's files, in order. */
export function fileNamesOf(message: ParsedMessage): string[] {
  return message.files.map((file) => file.name || file.title || 'a file');
}

function forwardedBlock(attachment: ParsedMessage['attachments'][number]): ParsedBlock {
  const author =
    attachment.author_name === undefined ? 'Forwarded message' : `Forwarded from ${attachment.author_name}`;
  return {
    kind: 'quoted',
    blocks: [
      { kind: 'paragraph', content: [{ kind: 'text', text: `${author}:`, style: {} }] },
      ...parseMrkdwn(attachment.text ?? attachment.fallback ?? ''),
    ],
  };
}

function labelsIn(text: string): Map<string, string> {
  const labels = new Map<string, string>();
  for (const [, id, label] of text.matchAll(/<(?:[@#]|!subteam\^)([A-Z0-9]+)\|([^<>|]+)>/g)) {
    if (id !== undefined && label !== undefined) labels.set(id, decodeEntities(label));
  }
  return labels;
}

const textualBlockSchema = z.looseObject({
  type: z.string().catch(''),
  text: z.unknown().optional(),
  fields: z.unknown().optional(),
  elements: z.unknown().optional(),
});

/** The text of blocks that apps write: sections, headers, contexts. */
function textsIn(raw: unknown): string[] {
  if (typeof raw === 'string') return raw.trim() === '' ? [] : [raw];
  if (Array.isArray(raw)) return raw.flatMap(textsIn);
  const parsed = textualBlockSchema.safeParse(raw);
  if (!parsed.success || parsed.data.type === 'actions') return [];
  return [parsed.data.text, parsed.data.fields, parsed.data.elements].flatMap(textsIn);
}

/** The files of a message, in order and without duplicates. Ignores what is not a Slack file. */
export function filesOf(content: MessageContent): SlackFile[] {
  const files = new Map<string, SlackFile>();
  for (const raw of content.files ?? []) {
    const parsed = slackFileSchema.safeParse(raw);
    if (parsed.success && !files.has(parsed.data.id)) files.set(parsed.data.id, parsed.data);
  }
  return [...files.values()];
}

/** Subtypes of messages that people write. */
const USER_MESSAGE_SUBTYPES = new Set([undefined, 'file_share', 'thread_broadcast', 'me_message']);

/** Whether people write such messages: no notice of Slack's own, and none of a subtype that nobody writes. */
export function isPersonsMessage({ user, subtype }: Pick<ThreadMessage, 'user' | 'subtype'>): boolean {
  return USER_MESSAGE_SUBTYPES.has(subtype) && !isSlackItself(user ?? '');
}
