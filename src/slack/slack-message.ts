import { v5 as uuidV5 } from 'uuid';
import { z } from 'zod';
import { listOf } from '../calls/json.ts';
import { slackFileSchema } from './downloadable-files.ts';
import { flag, optional, slackId, text } from './field-schemas.ts';

const blocks = optional(z.array(z.unknown()));

const textOrNumber = optional(z.union([z.string(), z.number().transform(String)]));

const innerFields = {
  author_id: optional(slackId),
  author_name: text,
  title: text,
  title_link: text,
  pretext: text,
  text,
  fields: optional(listOf(z.object({ title: text, value: textOrNumber }))),
  blocks,
  /** What Slack shows of a link to a record of an app. */
  preview: optional(z.looseObject({})),
  image_url: text,
  /** Buttons of the older form. */
  actions: blocks,
  footer: text,
  /** Of another message its ts, else a time in seconds. */
  ts: textOrNumber,
  fallback: text,
};
/** What tells another message, and Slack's preview of one, from all else. */
const messageFields = {
  /** Another message: forwarded, or Slack's preview of a link to it. */
  is_share: optional(z.boolean()),
  is_msg_unfurl: optional(z.boolean()),
  channel_id: optional(slackId),
  /** The address that a preview is of. */
  from_url: text,
  original_url: text,
  is_app_unfurl: flag,
};

const innerSchema = z.object({
  ...messageFields,
  /** Nothing is read that deep. */
  message_blocks: optional(z.array(z.unknown()).transform((): [] => [])),
  ...innerFields,
});
type InnerAttachment = z.output<typeof innerSchema>;
/** What is attached to a message that is forwarded: a table, an app's alert. */
const innerAttachments = optional(
  listOf(innerSchema.transform((inner): InnerAttachment => withoutPreview(inner))),
);

/**
 * The fields that are read of an attachment: a forwarded message, a table that a person pasted, Slack's preview of a link, or
 * what an app posts. Slack documents only those of apps (https://docs.slack.dev/messaging/formatting-message-text#attachments).
 */
const fieldsSchema = z.object({
  ...messageFields,
  channel_name: text,
  message_blocks: optional(
    listOf(z.object({ message: optional(z.object({ blocks, attachments: innerAttachments })) })),
  ),
  attachments: innerAttachments,
  files: optional(listOf(z.object(slackFileSchema.shape))),
  ...innerFields,
  /** Ours: its contents were too large to keep. */
  is_left_out: optional(z.boolean()),
});
export type MessageAttachment = z.output<typeof fieldsSchema>;

/**
 * Of Slack's preview of a message only the address is kept: Slack shows it to those who may see the message, and the bot
 * cannot ask who they are.
 */
function withoutPreview<A extends Pick<MessageAttachment, keyof InnerAttachment>>(
  attachment: A,
): A | Pick<MessageAttachment, 'is_msg_unfurl' | 'from_url'> {
  const { is_share, is_msg_unfurl, message_blocks, channel_id, from_url, original_url } = attachment;
  const isMessage = is_msg_unfurl === true || message_blocks !== undefined || channel_id !== undefined;
  if (is_share === true || !isMessage) return attachment;
  return { is_msg_unfurl: true, from_url: from_url ?? original_url };
}

/** The attachments of a message; those of another form are left out. */
export const attachmentsSchema = listOf(
  fieldsSchema.transform((attachment): MessageAttachment => withoutPreview(attachment)),
);

/** What is kept of all attachments of a message (bytes of JSON), without the rows of tables. */
const MAX_KEPT_BYTES = 64 * 1024;
/**
 * What is kept of the rows of all tables of a message (bytes of JSON): Slack's form takes about 130 for a cell with a short
 * text, and 50,000 of those go to the agent as a file.
 */
export const MAX_KEPT_TABLE_BYTES = 8 * 1024 * 1024;

/** The blocks and attachments of a message as they are kept: those that exceed the limits are named only. */
export function keptParts(message: {
  blocks?: unknown[] | undefined;
  attachments?: MessageAttachment[] | undefined;
}): { blocks?: unknown[]; attachments?: MessageAttachment[] } {
  const { blocks, attachments = [] } = message;
  const left = { words: MAX_KEPT_BYTES, tables: MAX_KEPT_TABLE_BYTES };
  const fits = (words: number, tables: number) => {
    if (words > left.words || tables > left.tables) return false;
    left.words -= words;
    left.tables -= tables;
    return true;
  };
  // Slack limits the words in blocks itself.
  const keptBlocks = blocks?.filter((block) => fits(0, sizeOf(block).tables));
  const kept = attachments.map((attachment) => {
    const { words, tables } = sizeOf(attachment);
    return fits(words, tables) ? attachment : nameOnly(attachment, tables > 0);
  });
  for (let lost = (blocks?.length ?? 0) - (keptBlocks?.length ?? 0); lost > 0; lost -= 1)
    kept.push(nameOnly({}, true));
  return {
    ...(keptBlocks && { blocks: keptBlocks }),
    ...(kept.length > 0 && { attachments: kept }),
  };
}

/** Bytes as JSON: of the rows of tables, and of all else. */
function sizeOf(value: unknown): { words: number; tables: number } {
  let tables = 0;
  const words = JSON.stringify(value, (key, item: unknown) => {
    if (key !== 'rows' || !Array.isArray(item)) return item;
    tables += Buffer.byteLength(JSON.stringify(item));
    return [];
  });
  return { words: Buffer.byteLength(words ?? ''), tables };
}

function nameOnly(attachment: MessageAttachment, isTable: boolean): MessageAttachment {
  const { is_share, is_msg_unfurl, author_id, author_name, from_url, title } = attachment;
  const names = {
    author_name: shortened(author_name),
    from_url: shortened(from_url),
    title: shortened(title) ?? (isTable ? 'pasted table' : undefined),
  };
  return { is_share, is_msg_unfurl, author_id, ...names, is_left_out: true };
}

function shortened(name: string | undefined): string | undefined {
  return name?.slice(0, 200).toWellFormed();
}

/** The contents of a message: blocks, and a text for notifications and screen readers (4,000 bytes at most). */
export interface SlackMessage {
  text: string;
  blocks?: readonly object[] | undefined;
}

/** Slack's own users, who post notices and reminders. They aren't flagged as bots. */
const SLACK_USERS: ReadonlySet<string> = new Set(['USLACKBOT', 'USLACK']);

/** Whether this is Slack itself, not a person. */
export function isSlackItself(user: string): boolean {
  return SLACK_USERS.has(user);
}

/** The metadata type by which the bot finds its own messages. Everybody can read metadata: put only opaque ids in it. */
export const METADATA_TYPE = 'taskthread_post';

/** Any fixed UUID works, but it must never change: Slack would take every message for a new one. */
const CLIENT_MSG_ID_NAMESPACE = '5b0a4c3e-9d6f-4f0e-8a51-c2d7e4b96f13';

/** The `client_msg_id` of a post: the same for the same key. */
export function clientMsgId(key: string): string {
  return uuidV5(key, CLIENT_MSG_ID_NAMESPACE);
}
