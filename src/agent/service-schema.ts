import camelcaseKeys from 'camelcase-keys';
import { z } from 'zod';
import { countedListOf, firstTextAt, idUpTo, listOf } from '../calls/json.ts';
import { contentSchema, truncatedCopy } from './content-blocks.ts';

/*
 * The service's responses, read tolerantly: only the fields that the app uses are read, enums are strings (comments list
 * the known values), and ids are opaque. A field that cannot be read is unknown, unless it is essential.
 */

/** Ids are logged with each step: a longer one counts as invalid (characters). */
export const MAX_ID_LENGTH = 200;
const idSchema = idUpTo(MAX_ID_LENGTH);
export const optionalIdSchema = idSchema.nullable().catch(null);
const MAX_NAME_LENGTH = 1_000;
/** Numbers below this are seconds since 1970, the others milliseconds. */
const MAX_EPOCH_SECONDS = 1e11;
/** Characters of an agent's error text or a description: more than a thread or a form shows. */
const MAX_TEXT_LENGTH = 4_000;
/** Characters of a link that a message of Slack has room for. */
export const MAX_LINK_LENGTH = 9_000;

const nameSchema = textUpTo(MAX_NAME_LENGTH);
/** A role, status or reason, in the document's spelling. */
const wordSchema = z.string().transform((word) => {
  const lower = word.trim().toLowerCase();
  if (lower === 'canceled') return 'cancelled';
  return lower.length > MAX_ID_LENGTH ? 'unknown' : lower;
});
const statusWordSchema = wordSchema.catch('unknown');
const reasonSchema = z.string().min(1).max(MAX_ID_LENGTH).pipe(wordSchema).nullable().catch(null);
const timeSchema = z
  .union([z.string().max(MAX_ID_LENGTH), z.number()])
  .transform(timeOf)
  .nullable()
  .catch(null);
const errorSchema = z.unknown().optional().transform(errorText);
const mimeTypeSchema = nameSchema.transform((type) => type || 'application/octet-stream');
/** Bytes; null if the service does not say so in digits. */
export const sizeSchema = z
  .union([z.number(), z.string()])
  .transform((size) => (/^\d{1,15}$/.test(String(size)) ? Number(size) : null))
  .nullable()
  .catch(null);

/** A time in UTC where it names no zone, or in seconds or milliseconds since 1970; null for the time 0 of some languages. */
function timeOf(time: string | number): Date | null {
  const ms = Number(time) < MAX_EPOCH_SECONDS ? Number(time) * 1_000 : Number(time);
  const utc = /[T ][\d:.]+$/.test(String(time)) ? `${time}Z` : String(time);
  const date = new Date(Number.isNaN(ms) ? utc : ms);
  return date.getTime() > 0 ? date : null;
}

/** A text, cut after so many characters; '' for anything else. */
function textUpTo(maxCharacters: number) {
  return z
    .string()
    .transform((text) => truncatedCopy(text, maxCharacters))
    .catch('');
}

/** A text; null if it is empty, longer than that (characters) or anything else. */
function optionalText(maxCharacters: number) {
  return z.string().min(1).max(maxCharacters).nullable().catch(null);
}

/** The text of an error, which may be an object; null without an error. */
function errorText(error: unknown): string | null {
  if (!error || (typeof error === 'object' && Object.keys(error).length === 0)) return null;
  const text = typeof error === 'string' ? error : (firstTextAt(error, ['message']) ?? JSON.stringify(error));
  return truncatedCopy(text, MAX_TEXT_LENGTH);
}

/** An object with our names for the service's fields: `created_at` becomes `createdAt`. */
function record<Fields extends z.ZodRawShape>(fields: Fields) {
  return z.object(fields).transform((wire) => camelcaseKeys(wire));
}

export const projectSchema = record({
  id: idSchema,
  title: nameSchema,
  description: textUpTo(MAX_TEXT_LENGTH),
});

/** A project: a channel's tasks and files. */
export type Project = z.output<typeof projectSchema>;

const reviewSchema = record({
  /** Values not documented; `running`, `completed`, `failed` are expected. */
  status: statusWordSchema,
  /** The message that holds the findings. */
  message_id: optionalIdSchema,
  error_message: errorSchema,
});

/** A review of a task's work, listed once its findings are written. */
export type Review = z.output<typeof reviewSchema>;

export const taskSchema = record({
  id: idSchema,
  created_at: timeSchema,
  /** `idle`, `running`, `completed`, `cancelled`, `failed`. */
  status: statusWordSchema,
  title: nameSchema,
  /** Only Get a task fills it. */
  reviews: listOf(reviewSchema).catch([]),
});

/** A task: one conversation with the agent. */
export type Task = z.output<typeof taskSchema>;

/** Null if the service does not name every file. */
const fileIdsSchema = countedListOf(idSchema)
  .transform(({ items, leftOut }) => (leftOut > 0 ? null : items))
  .nullable()
  .catch(null);

export const messageSchema = record({
  id: idSchema,
  /** `user`, `assistant`, `system`. */
  role: wordSchema,
  content: contentSchema.nullish(),
  /** `pending`, `streaming`, `completed`, `cancelling`, `cancelled`, `failed`; null on other roles. */
  status: wordSchema.nullable().catch(null),
  /** `stop`, `length`, `cancelled`, `error`. */
  stop_reason: reasonSchema,
  /** Values not documented; used if `stop_reason` is missing. */
  finish_reason: reasonSchema,
  completed_at: timeSchema,
  /** The beginning of the agent's error text. */
  error: errorSchema,
  /** What an assistant message replies to. */
  input: record({ user_message_id: optionalIdSchema, file_ids: fileIdsSchema }).nullable().catch(null),
}).transform(({ finishReason, content = null, ...message }, context) => {
  const { role, status, error } = message;
  if (content === null && (role === 'user' || (status === 'completed' && error === null))) {
    context.issues.push({ code: 'custom', input: '', message: 'no content' });
    return z.NEVER;
  }
  return { ...message, content: content ?? [], stopReason: message.stopReason ?? finishReason };
});

/** A message of a task. An assistant reply is one message that grows. */
export type Message = z.output<typeof messageSchema>;

/** The text blocks of a message, joined. */
export function messageText({ content }: Message): string {
  return content.map((block) => (block.kind === 'text' ? block.text : '')).join('');
}

/** The response to a send, which has taken effect: a part of an undocumented shape becomes null instead of an error. */
export const sendResultSchema = record({
  task: taskSchema.nullable().catch(null),
  user_message: messageSchema.nullable().catch(null),
  /** The reply so far; null before the agent has started. */
  assistant_message: messageSchema.nullable().catch(null),
});

export type SendResult = z.output<typeof sendResultSchema>;

export const fileSchema = record({
  id: idSchema,
  filename: nameSchema,
  size_bytes: sizeSchema,
  mime_type: mimeTypeSchema,
});

export type FileRecord = z.output<typeof fileSchema>;

export const resultFileSchema = record({
  result_id: idSchema,
  name: nameSchema,
  size_bytes: sizeSchema,
  mime_type: mimeTypeSchema,
  created_at: timeSchema,
  /** A time-limited, signed link; null if it was not requested, or is too long. A secret: never log it. */
  download_url: optionalText(MAX_LINK_LENGTH),
}).transform(({ resultId, ...file }) => ({ id: resultId, ...file }));

export type ResultFile = z.output<typeof resultFileSchema>;

/** The response to a change, a cancel or a deletion, which may be empty. A page of a gateway is none. */
export const doneSchema = z.looseObject({}).nullable();

/** The response to a change of nothing; null if it names no project. */
export const readProjectSchema = projectSchema.or(doneSchema.transform(() => null));

export const partUrlsSchema = z
  .looseObject({ part_urls: z.record(z.string(), optionalText(MAX_LINK_LENGTH)) })
  .transform(({ part_urls }) => {
    const parts = Object.entries(part_urls);
    return new Map(parts.flatMap(([part, url]) => (url === null ? [] : [[Number(part), url]])));
  });

/** The envelope that all lists share. A schema is compiled at its first use, so each list has one. */
function listSchema<Item extends z.ZodType>(item: Item) {
  return record({
    // Some languages write so a list that nothing was added to.
    data: z.preprocess((data) => (data === null ? [] : data), countedListOf(item)),
    has_more: z
      .union([z.boolean(), z.number(), z.string()])
      .transform((more) => /^(?:true|1)$/i.test(String(more)))
      .catch(false),
    first_id: optionalIdSchema,
    last_id: optionalIdSchema,
  }).transform(({ data, ...page }) => ({ ...data, ...page }));
}

export type Page<Item> = z.output<ReturnType<typeof listSchema<z.ZodType<Item>>>>;

export const taskListSchema = listSchema(taskSchema);
export const resultListSchema = listSchema(resultFileSchema);
export const messageListSchema = listSchema(messageSchema);
