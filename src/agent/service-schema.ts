import camelcaseKeys from 'camelcase-keys';
import { z } from 'zod';
import { truncatedCopy } from './truncated-copy.ts';

/*
 * The service's responses, read tolerantly: only the fields that the app uses are read, enums are strings (comments list
 * the known values), ids are opaque, and fields that the document calls nullable may also be missing.
 */

/** Ids are logged with each step; what has a longer one is left out of lists, and refused by itself (characters). */
export const MAX_ID_LENGTH = 200;
const idSchema = z.string().max(MAX_ID_LENGTH);
/** Tool names are stored in the audit trail (characters). */
const MAX_TOOL_NAME_LENGTH = 100;
/** Characters of a title or file name. */
const MAX_NAME_LENGTH = 1_000;
/** Characters of an agent's error text or a description: more than a thread or a form shows. */
const MAX_TEXT_LENGTH = 4_000;
/** Characters of a link that a message of Slack has room for. */
export const MAX_LINK_LENGTH = 9_000;

const nameSchema = textUpTo(MAX_NAME_LENGTH);
/** A status or a role. */
const wordSchema = z.string().transform((word) => (word.length > MAX_ID_LENGTH ? 'unknown' : word));
const timeSchema = z.string().transform((time) => (time.length > MAX_ID_LENGTH ? '' : time));
/** An id, time or cursor that may be missing; a longer one counts as missing. */
const optionalWordSchema = nullIfLonger(MAX_ID_LENGTH);
const errorSchema = textUpTo(MAX_TEXT_LENGTH).nullable().default(null);

/** A text, cut after so many characters. */
function textUpTo(maxCharacters: number) {
  return z.string().transform((text) => truncatedCopy(text, maxCharacters));
}

/** A text; null if it is missing or longer than that (characters). */
function nullIfLonger(maxCharacters: number) {
  return z
    .string()
    .transform((text) => (text.length > maxCharacters ? null : text))
    .nullable()
    .default(null);
}

/** A value; `fallback` if it is null or missing. */
function valueOr<Value>(schema: z.ZodType<Value>, fallback: Value) {
  return schema.nullish().transform((value) => value ?? fallback);
}

/** An object with our names for the service's fields: `created_at` becomes `createdAt`. */
function record<Fields extends z.ZodRawShape>(fields: Fields) {
  return z.object(fields).transform((wire) => camelcaseKeys(wire));
}

const MAX_ISSUES = 3;

/** The fields that hold an item's own id. */
const ID_FIELDS = ['id', 'result_id', 'tool_use_id'];

/** Whether an item of a list has an id that is too long to keep. */
function hasLongId(wire: unknown): boolean {
  if (typeof wire === 'string') return wire.length > MAX_ID_LENGTH;
  if (typeof wire !== 'object' || wire === null) return false;
  return ID_FIELDS.some((name) => {
    const id: unknown = Reflect.get(wire, name);
    return typeof id === 'string' && id.length > MAX_ID_LENGTH;
  });
}

/**
 * A list of `item`, without those that have too long an id. Stops at the first invalid item: reporting thousands of them
 * would take seconds.
 */
function arrayOf<Item extends z.ZodType>(item: Item) {
  return z.array(z.unknown()).transform((wire, context): z.output<Item>[] => {
    const items: z.output<Item>[] = [];
    for (const [index, input] of wire.entries()) {
      if (hasLongId(input)) continue;
      const parsed = item.safeParse(input);
      if (!parsed.success) {
        for (const issue of parsed.error.issues.slice(0, MAX_ISSUES)) {
          const path = [index, ...issue.path];
          context.issues.push({ code: 'custom', input, message: describeIssue(issue), path });
        }
        return z.NEVER;
      }
      items.push(parsed.data);
    }
    return items;
  });
}

/** The problem: a code, or our own words. Never a value from the response. */
export function describeIssue({ code, message }: z.core.$ZodIssue): string {
  return code === 'custom' ? message : code;
}

export const projectSchema = record({
  id: idSchema,
  title: nameSchema,
  description: valueOr(textUpTo(MAX_TEXT_LENGTH), ''),
});

/** A project: a channel's tasks and files. */
export type Project = z.output<typeof projectSchema>;

const reviewSchema = record({
  /** Values not documented; `running`, `completed`, `failed` are expected. */
  status: wordSchema,
  /** The message that holds the findings. */
  message_id: optionalWordSchema,
  error_message: errorSchema,
});

/** A review of a task's work, listed once its findings are written. */
export type Review = z.output<typeof reviewSchema>;

export const taskSchema = record({
  id: idSchema,
  /** All times are ISO 8601 in UTC. */
  created_at: timeSchema,
  /** `idle`, `running`, `completed`, `cancelled`, `failed`. */
  status: wordSchema,
  project_id: idSchema,
  title: valueOr(nameSchema, ''),
  /** Only Get a task fills it. */
  reviews: valueOr(arrayOf(reviewSchema), []),
});

/** A task: one conversation with the agent. */
export type Task = z.output<typeof taskSchema>;

const textBlockSchema = z.object({ type: z.literal('text'), text: z.string() });

const toolUseBlockSchema = z.object({
  type: z.literal('tool_use'),
  id: idSchema,
  name: textUpTo(MAX_TOOL_NAME_LENGTH),
  input: valueOr(z.record(z.string(), z.unknown()), {}),
});

const toolResultBlockSchema = record({
  type: z.literal('tool_result'),
  tool_use_id: idSchema,
  content: z.string(),
});

/** An undocumented kind, or a known kind of another shape: kept unchanged, so that nothing fails on it. */
const otherBlockSchema = z
  .looseObject({ type: z.string().optional() })
  .transform((wire) => ({ type: 'other' as const, kind: wire.type ?? '', raw: wire }));

export const contentBlockSchema = z.union([
  textBlockSchema,
  toolUseBlockSchema,
  toolResultBlockSchema,
  otherBlockSchema,
]);

/** A part of a message: text, a tool's call or result, or something undocumented. */
export type ContentBlock = z.output<typeof contentBlockSchema>;

export const messageSchema = record({
  id: idSchema,
  task_id: idSchema,
  created_at: timeSchema,
  /** `user`, `assistant`, `system`. */
  role: wordSchema,
  content: arrayOf(contentBlockSchema),
  /** `pending`, `streaming`, `completed`, `cancelling`, `cancelled`, `failed`; null on other roles. */
  status: wordSchema.nullable().default(null),
  /** `stop`, `length`, `cancelled`, `error`. */
  stop_reason: optionalWordSchema,
  completed_at: optionalWordSchema,
  /** The beginning of the agent's error text. */
  error: errorSchema,
  /** What an assistant message replies to; `fileIds` is null if the service does not say. */
  input: record({
    user_message_id: optionalWordSchema,
    file_ids: arrayOf(idSchema).nullable().default(null),
  })
    .nullable()
    .default(null),
});

/** A message of a task. An assistant reply is one message that grows. */
export type Message = z.output<typeof messageSchema>;

/** The text blocks of a message, joined. */
export function messageText({ content }: Message): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** The response to a send, which has taken effect: a part of an undocumented shape becomes null instead of an error. */
export const sendResultSchema = record({
  task: taskSchema.nullable().default(null).catch(null),
  user_message: messageSchema.nullable().default(null).catch(null),
  /** The reply so far; null before the agent has started. */
  assistant_message: messageSchema.nullable().default(null).catch(null),
});

export type SendResult = z.output<typeof sendResultSchema>;

export const fileSchema = record({
  id: idSchema,
  created_at: timeSchema,
  filename: nameSchema,
  size_bytes: z.number(),
  /** `input`, `output`. */
  purpose: optionalWordSchema,
  mime_type: valueOr(nameSchema, 'application/octet-stream'),
  project_id: idSchema,
});

export type FileRecord = z.output<typeof fileSchema>;

export const resultFileSchema = record({
  result_id: idSchema,
  name: nameSchema,
  size_bytes: z.number(),
  mime_type: valueOr(nameSchema, 'application/octet-stream'),
  created_at: timeSchema,
  /** A time-limited, signed link; null if it was not requested, or is too long. A secret: never log it. */
  download_url: nullIfLonger(MAX_LINK_LENGTH),
}).transform(({ resultId, ...file }) => ({ id: resultId, ...file }));

export type ResultFile = z.output<typeof resultFileSchema>;

/** `id` and the new `status` after a cancel. */
export const statusSchema = z.object({ id: idSchema, status: wordSchema });

export type Status = z.output<typeof statusSchema>;

export const deletedSchema = z.object({ id: idSchema });

export const partUrlsSchema = z
  .looseObject({ part_urls: z.record(z.string(), z.string()) })
  .transform(({ part_urls }) => {
    const urls = Object.entries(part_urls).filter(([, url]) => url.length <= MAX_LINK_LENGTH);
    return new Map(urls.map(([part, url]) => [Number(part), url]));
  });

/** The envelope that all lists share. A schema is compiled at its first use, so each list has one. */
function listSchema<Item extends z.ZodType>(item: Item) {
  return record({
    data: arrayOf(item),
    has_more: valueOr(z.boolean(), false),
    first_id: optionalWordSchema,
    last_id: optionalWordSchema,
  }).transform(({ data, ...page }) => ({ items: data, ...page }));
}

export type Page<Item> = z.output<ReturnType<typeof listSchema<z.ZodType<Item>>>>;

export const taskListSchema = listSchema(taskSchema);
export const resultListSchema = listSchema(resultFileSchema);
export const messageListSchema = listSchema(messageSchema);
