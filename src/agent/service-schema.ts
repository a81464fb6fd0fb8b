import { z } from 'zod';

/*
 * The service's responses, read tolerantly: unknown fields are ignored, enums are strings (comments list the known
 * values), ids are opaque, and fields that the document calls nullable may also be missing.
 */

const nullableTextSchema = z
  .string()
  .nullish()
  .transform((value) => value ?? null);
/** Ids are logged with each step; a longer one is refused (characters). */
export const MAX_ID_LENGTH = 200;
const idSchema = z.string().max(MAX_ID_LENGTH);
const nullableIdSchema = idSchema.nullish().transform((value) => value ?? null);
/** Tool names are stored in the audit trail (characters). */
const MAX_NAME_LENGTH = 100;
const platformSchema = z
  .string()
  .nullish()
  .transform((value) => value ?? 'api');

/** Issues reported for one item. */
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

export const projectSchema = z
  .looseObject({
    id: idSchema,
    title: z.string(),
    description: z.string().nullish(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .transform((wire) => ({
    id: wire.id,
    title: wire.title,
    description: wire.description ?? '',
    createdAt: wire.created_at,
    updatedAt: wire.updated_at,
  }));

/** A project: a channel's tasks and files. All times are ISO 8601 in UTC. */
export type Project = z.output<typeof projectSchema>;

const reviewSchema = z
  .looseObject({ status: z.string(), message_id: nullableIdSchema, error_message: nullableTextSchema })
  .transform((wire) => ({
    /** Values not documented; `running`, `completed`, `failed` are expected. */
    status: wire.status,
    /** The message that holds the findings. */
    messageId: wire.message_id,
    errorMessage: wire.error_message,
  }));

/** A review of a task's work, listed once its findings are written. */
export type Review = z.output<typeof reviewSchema>;

export const taskSchema = z
  .looseObject({
    id: idSchema,
    created_at: z.string(),
    status: z.string(),
    project_id: idSchema,
    title: z.string().nullish(),
    platform: platformSchema,
    reviews: arrayOf(reviewSchema).nullish(),
  })
  .transform((wire) => ({
    id: wire.id,
    createdAt: wire.created_at,
    /** `idle`, `running`, `completed`, `cancelled`, `failed`. */
    status: wire.status,
    projectId: wire.project_id,
    title: wire.title ?? '',
    platform: wire.platform,
    /** Only Get a task fills it. */
    reviews: wire.reviews ?? [],
  }));

/** A task: one conversation with the agent. */
export type Task = z.output<typeof taskSchema>;

const textBlockSchema = z
  .looseObject({ type: z.literal('text'), text: z.string() })
  .transform((wire) => ({ type: 'text' as const, text: wire.text }));

const toolUseBlockSchema = z
  .looseObject({
    type: z.literal('tool_use'),
    id: idSchema,
    name: z.string(),
    input: z.record(z.string(), z.unknown()).nullish(),
  })
  .transform((wire) => ({
    type: 'tool_use' as const,
    id: wire.id,
    name: wire.name.slice(0, MAX_NAME_LENGTH),
    input: wire.input ?? {},
  }));

const toolResultBlockSchema = z
  .looseObject({ type: z.literal('tool_result'), tool_use_id: idSchema, content: z.string() })
  .transform((wire) => ({
    type: 'tool_result' as const,
    toolUseId: wire.tool_use_id,
    content: wire.content,
  }));

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

export const messageSchema = z
  .looseObject({
    id: idSchema,
    task_id: idSchema,
    created_at: z.string(),
    role: z.string(),
    content: arrayOf(contentBlockSchema),
    status: nullableTextSchema,
    stop_reason: nullableTextSchema,
    finish_reason: nullableTextSchema,
    started_at: nullableTextSchema,
    completed_at: nullableTextSchema,
    error: nullableTextSchema,
    platform: platformSchema,
    input: z
      .looseObject({ user_message_id: nullableIdSchema, file_ids: arrayOf(idSchema).nullish() })
      .nullish(),
    output: z.record(z.string(), z.unknown()).nullish(),
  })
  .transform((wire) => ({
    id: wire.id,
    taskId: wire.task_id,
    createdAt: wire.created_at,
    /** `user`, `assistant`, `system`. */
    role: wire.role,
    content: wire.content,
    /** `pending`, `streaming`, `completed`, `cancelling`, `cancelled`, `failed`; null on other roles. */
    status: wire.status,
    /** `stop`, `length`, `cancelled`, `error`. */
    stopReason: wire.stop_reason,
    /** Values not documented. */
    finishReason: wire.finish_reason,
    startedAt: wire.started_at,
    completedAt: wire.completed_at,
    /** The agent's error text. */
    error: wire.error,
    platform: wire.platform,
    /** What an assistant message replies to; `fileIds` is null if the service does not say. */
    input: wire.input
      ? { userMessageId: wire.input.user_message_id, fileIds: wire.input.file_ids ?? null }
      : null,
    /** Contents not documented. */
    output: wire.output ?? null,
  }));

/** A message of a task. An assistant reply is one message that grows. */
export type Message = z.output<typeof messageSchema>;

/** The text blocks of a message, joined. */
export function messageText({ content }: Message): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/**
 * The response to a send. The message has already taken effect, so a part of an undocumented shape becomes null instead
 * of an error; the messages can be read afterwards.
 */
export const sendResultSchema = z
  .looseObject({
    task: taskSchema.nullish().catch(null),
    user_message: messageSchema.nullish().catch(null),
    assistant_message: messageSchema.nullish().catch(null),
  })
  .transform((wire) => ({
    task: wire.task ?? null,
    userMessage: wire.user_message ?? null,
    /** The reply so far; null before the agent has started. */
    assistantMessage: wire.assistant_message ?? null,
  }));

export type SendResult = z.output<typeof sendResultSchema>;

export const fileSchema = z
  .looseObject({
    id: idSchema,
    created_at: z.string(),
    filename: z.string(),
    size_bytes: z.number(),
    purpose: nullableTextSchema,
    mime_type: z.string().nullish(),
    project_id: idSchema,
    platform: platformSchema,
  })
  .transform((wire) => ({
    id: wire.id,
    createdAt: wire.created_at,
    filename: wire.filename,
    sizeBytes: wire.size_bytes,
    /** `input`, `output`. */
    purpose: wire.purpose,
    mimeType: wire.mime_type ?? 'application/octet-stream',
    projectId: wire.project_id,
    platform: wire.platform,
  }));

/** A file's metadata. */
export type FileRecord = z.output<typeof fileSchema>;

export const resultFileSchema = z
  .looseObject({
    result_id: idSchema,
    name: z.string(),
    size_bytes: z.number(),
    mime_type: z.string().nullish(),
    created_at: z.string(),
    download_url: nullableTextSchema,
  })
  .transform((wire) => ({
    id: wire.result_id,
    name: wire.name,
    sizeBytes: wire.size_bytes,
    mimeType: wire.mime_type ?? 'application/octet-stream',
    createdAt: wire.created_at,
    /** A time-limited, signed link; null if it was not requested. A secret: never log it. */
    downloadUrl: wire.download_url,
  }));

/** A file that the agent created. */
export type ResultFile = z.output<typeof resultFileSchema>;

/** `id` and the new `status` after a cancel. */
export const statusSchema = z
  .looseObject({ id: idSchema, status: z.string() })
  .transform(({ id, status }) => ({ id, status }));

export type TaskStatus = z.output<typeof statusSchema>;
export type MessageStatus = z.output<typeof statusSchema>;

export const deletedSchema = z.looseObject({ id: idSchema }).transform(({ id }) => ({ id }));

export const partUrlsSchema = z
  .looseObject({ part_urls: z.record(z.string(), z.string()) })
  .transform((wire) => new Map(Object.entries(wire.part_urls).map(([part, url]) => [Number(part), url])));

/** The envelope that all lists share. */
export function listSchema<Item extends z.ZodType>(item: Item) {
  return z
    .looseObject({
      data: arrayOf(item),
      has_more: z.boolean().nullish(),
      first_id: nullableTextSchema,
      last_id: nullableTextSchema,
    })
    .transform((wire) => ({
      items: wire.data,
      hasMore: wire.has_more ?? false,
      firstId: wire.first_id,
      lastId: wire.last_id,
    }));
}

/** One page of a list. */
export interface Page<Item> {
  readonly items: Item[];
  readonly hasMore: boolean;
  readonly firstId: string | null;
  readonly lastId: string | null;
}
