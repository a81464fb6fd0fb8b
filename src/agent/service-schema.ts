import camelcaseKeys from 'camelcase-keys';
import { z } from 'zod';
import { truncatedCopy } from './truncated-copy.ts';

/*
 * The service's responses, read tolerantly: only the fields that the app uses are read, enums are strings (comments list
 * the known values), ids are opaque, and fields that the document calls nullable may also be missing.
 */

const nullableTextSchema = z.string().nullable().default(null);
/** Ids are logged with each step; a longer one is refused (characters). */
export const MAX_ID_LENGTH = 200;
const idSchema = z.string().max(MAX_ID_LENGTH);
const nullableIdSchema = idSchema.nullable().default(null);
/** Tool names are stored in the audit trail (characters). */
const MAX_NAME_LENGTH = 100;
/** Characters of an agent's error text: more than a thread shows. */
const MAX_ERROR_LENGTH = 4_000;

/** A value; `fallback` if it is null or missing. */
function valueOr<Value>(schema: z.ZodType<Value>, fallback: Value) {
  return schema.nullish().transform((value) => value ?? fallback);
}

/** An object with our names for the service's fields: `created_at` becomes `createdAt`. */
function record<Fields extends z.ZodRawShape>(fields: Fields) {
  return z.object(fields).transform((wire) => camelcaseKeys(wire));
}

const MAX_ISSUES = 3;

/** A list of `item`. Stops at the first invalid item: reporting thousands of them would take seconds. */
function arrayOf<Item extends z.ZodType>(item: Item) {
  return z.array(z.unknown()).transform((wire, context): z.output<Item>[] => {
    const items: z.output<Item>[] = [];
    for (const [index, input] of wire.entries()) {
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
  title: z.string(),
  description: valueOr(z.string(), ''),
});

/** A project: a channel's tasks and files. */
export type Project = z.output<typeof projectSchema>;

const reviewSchema = record({
  /** Values not documented; `running`, `completed`, `failed` are expected. */
  status: z.string(),
  /** The message that holds the findings. */
  message_id: nullableIdSchema,
  error_message: nullableTextSchema,
});

/** A review of a task's work, listed once its findings are written. */
export type Review = z.output<typeof reviewSchema>;

export const taskSchema = record({
  id: idSchema,
  /** All times are ISO 8601 in UTC. */
  created_at: z.string(),
  /** `idle`, `running`, `completed`, `cancelled`, `failed`. */
  status: z.string(),
  project_id: idSchema,
  title: valueOr(z.string(), ''),
  /** Only Get a task fills it. */
  reviews: valueOr(arrayOf(reviewSchema), []),
});

/** A task: one conversation with the agent. */
export type Task = z.output<typeof taskSchema>;

const textBlockSchema = z.object({ type: z.literal('text'), text: z.string() });

const toolUseBlockSchema = z.object({
  type: z.literal('tool_use'),
  id: idSchema,
  name: z.string().transform((name) => name.slice(0, MAX_NAME_LENGTH)),
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
  created_at: z.string(),
  /** `user`, `assistant`, `system`. */
  role: z.string(),
  content: arrayOf(contentBlockSchema),
  /** `pending`, `streaming`, `completed`, `cancelling`, `cancelled`, `failed`; null on other roles. */
  status: nullableTextSchema,
  /** `stop`, `length`, `cancelled`, `error`. */
  stop_reason: nullableTextSchema,
  completed_at: nullableTextSchema,
  /** The beginning of the agent's error text. */
  error: nullableTextSchema.transform((error) => error && truncatedCopy(error, MAX_ERROR_LENGTH)),
  /** What an assistant message replies to; `fileIds` is null if the service does not say. */
  input: record({
    user_message_id: nullableIdSchema,
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
  created_at: z.string(),
  filename: z.string(),
  size_bytes: z.number(),
  /** `input`, `output`. */
  purpose: nullableTextSchema,
  mime_type: valueOr(z.string(), 'application/octet-stream'),
  project_id: idSchema,
});

export type FileRecord = z.output<typeof fileSchema>;

export const resultFileSchema = record({
  result_id: idSchema,
  name: z.string(),
  size_bytes: z.number(),
  mime_type: valueOr(z.string(), 'application/octet-stream'),
  created_at: z.string(),
  /** A time-limited, signed link; null if it was not requested. A secret: never log it. */
  download_url: nullableTextSchema,
}).transform(({ resultId, ...file }) => ({ id: resultId, ...file }));

export type ResultFile = z.output<typeof resultFileSchema>;

/** `id` and the new `status` after a cancel. */
export const statusSchema = z.object({ id: idSchema, status: z.string() });

export type Status = z.output<typeof statusSchema>;

export const deletedSchema = z.object({ id: idSchema });

export const partUrlsSchema = z
  .looseObject({ part_urls: z.record(z.string(), z.string()) })
  .transform((wire) => new Map(Object.entries(wire.part_urls).map(([part, url]) => [Number(part), url])));

/** The envelope that all lists share. A schema is compiled at its first use, so each list has one. */
function listSchema<Item extends z.ZodType>(item: Item) {
  return record({
    data: arrayOf(item),
    has_more: valueOr(z.boolean(), false),
    first_id: nullableTextSchema,
    last_id: nullableTextSchema,
  }).transform(({ data, ...page }) => ({ items: data, ...page }));
}

export type Page<Item> = z.output<ReturnType<typeof listSchema<z.ZodType<Item>>>>;

export const taskListSchema = listSchema(taskSchema);
export const resultListSchema = listSchema(resultFileSchema);
export const messageListSchema = listSchema(messageSchema);
