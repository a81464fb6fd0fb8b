import { z } from 'zod';

/*
 * The wire of the service, read openly: unknown fields pass, enums are strings (their known values are named
 * in comments), ids are opaque, and what the document calls nullable may also be missing.
 */

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? null);
/** Ids are logged with each step: what is longer is none (characters). */
export const mostOfId = 200;
const id = z.string().max(mostOfId);
const maybeId = id.nullish().transform((value) => value ?? null);
/** A tool's name stands in the audit trail (characters). */
const mostOfName = 100;
const platform = z
  .string()
  .nullish()
  .transform((value) => value ?? 'api');

/** Issues that are told of an item. */
const mostIssues = 3;

/**
 * A list of what `item` reads, which is left at the first that it does not: to say of each of thousands what is wrong
 * with it takes seconds.
 */
function arrayOf<Item extends z.ZodType>(item: Item) {
  return z.array(z.unknown()).transform((wire, context): z.output<Item>[] => {
    const items: z.output<Item>[] = [];
    for (const [index, input] of wire.entries()) {
      const read = item.safeParse(input);
      if (!read.success) {
        for (const issue of read.error.issues.slice(0, mostIssues)) {
          const path = [index, ...issue.path];
          context.issues.push({ code: 'custom', input, message: issueWord(issue), path });
        }
        return z.NEVER;
      }
      items.push(read.data);
    }
    return items;
  });
}

/** What is wrong: a code, or our own words. Never a value of the wire. */
export function issueWord({ code, message }: z.core.$ZodIssue): string {
  return code === 'custom' ? message : code;
}

export const projectSchema = z
  .looseObject({
    id,
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

/** A project: a channel's tasks and files. Times are ISO 8601 in UTC, here and everywhere. */
export type Project = z.output<typeof projectSchema>;

const reviewSchema = z
  .looseObject({ status: z.string(), message_id: maybeId, error_message: text })
  .transform((wire) => ({
    /** Values not documented; `running`, `completed`, `failed` are expected. */
    status: wire.status,
    /** The message that holds the findings. */
    messageId: wire.message_id,
    errorMessage: wire.error_message,
  }));

/** A review of a task's work, listed once it has written its findings. */
export type Review = z.output<typeof reviewSchema>;

export const taskSchema = z
  .looseObject({
    id,
    created_at: z.string(),
    status: z.string(),
    project_id: id,
    title: z.string().nullish(),
    platform,
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

const textBlock = z
  .looseObject({ type: z.literal('text'), text: z.string() })
  .transform((wire) => ({ type: 'text' as const, text: wire.text }));

const toolUseBlock = z
  .looseObject({
    type: z.literal('tool_use'),
    id,
    name: z.string(),
    input: z.record(z.string(), z.unknown()).nullish(),
  })
  .transform((wire) => ({
    type: 'tool_use' as const,
    id: wire.id,
    name: wire.name.slice(0, mostOfName),
    input: wire.input ?? {},
  }));

const toolResultBlock = z
  .looseObject({ type: z.literal('tool_result'), tool_use_id: id, content: z.string() })
  .transform((wire) => ({
    type: 'tool_result' as const,
    toolUseId: wire.tool_use_id,
    content: wire.content,
  }));

/** Any kind not shown, and a known kind in another shape: kept as it came, so that nothing breaks on it. */
const otherBlock = z
  .looseObject({ type: z.string().optional() })
  .transform((wire) => ({ type: 'other' as const, kind: wire.type ?? '', raw: wire }));

export const contentBlockSchema = z.union([textBlock, toolUseBlock, toolResultBlock, otherBlock]);

/** A piece of a message: text, a tool's call or result, or something that the document does not show. */
export type ContentBlock = z.output<typeof contentBlockSchema>;

export const messageSchema = z
  .looseObject({
    id,
    task_id: id,
    created_at: z.string(),
    role: z.string(),
    content: arrayOf(contentBlockSchema),
    status: text,
    stop_reason: text,
    finish_reason: text,
    started_at: text,
    completed_at: text,
    error: text,
    platform,
    input: z.looseObject({ user_message_id: maybeId, file_ids: arrayOf(id).nullish() }).nullish(),
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
    /** What an assistant message answers; `fileIds` is null where the service does not say. */
    input: wire.input
      ? { userMessageId: wire.input.user_message_id, fileIds: wire.input.file_ids ?? null }
      : null,
    /** Contents not documented. */
    output: wire.output ?? null,
  }));

/** A message of a task. One assistant reply is one message, read again while it grows. */
export type Message = z.output<typeof messageSchema>;

/** The text of a message, without what else is in it. */
export function textOf({ content }: Message): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/**
 * The answer to a send. Its inner shapes are not shown, and it comes after the message took effect, so a part
 * in an unknown shape is null instead of an error: the messages can be read afterwards.
 */
export const messageResultSchema = z
  .looseObject({
    task: taskSchema.nullish().catch(null),
    user_message: messageSchema.nullish().catch(null),
    assistant_message: messageSchema.nullish().catch(null),
  })
  .transform((wire) => ({
    task: wire.task ?? null,
    userMessage: wire.user_message ?? null,
    /** The whole reply, or as much of it as there is; null before the agent has begun. */
    assistantMessage: wire.assistant_message ?? null,
  }));

export type MessageResult = z.output<typeof messageResultSchema>;

export const fileSchema = z
  .looseObject({
    id,
    created_at: z.string(),
    filename: z.string(),
    size_bytes: z.number(),
    purpose: text,
    mime_type: z.string().nullish(),
    project_id: id,
    platform,
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
    result_id: id,
    name: z.string(),
    size_bytes: z.number(),
    mime_type: z.string().nullish(),
    created_at: z.string(),
    download_url: text,
  })
  .transform((wire) => ({
    id: wire.result_id,
    name: wire.name,
    sizeBytes: wire.size_bytes,
    mimeType: wire.mime_type ?? 'application/octet-stream',
    createdAt: wire.created_at,
    /** A time-limited, signed link; null when it was not asked for. A secret: never log it. */
    downloadUrl: wire.download_url,
  }));

/** A file that the agent made. */
export type ResultFile = z.output<typeof resultFileSchema>;

/** `id` and the new `status` after a cancel. */
export const statusSchema = z
  .looseObject({ id, status: z.string() })
  .transform(({ id, status }) => ({ id, status }));

export type TaskStatus = z.output<typeof statusSchema>;
export type MessageStatus = z.output<typeof statusSchema>;

export const deletedSchema = z.looseObject({ id }).transform(({ id }) => ({ id }));

export const partUrlsSchema = z
  .looseObject({ part_urls: z.record(z.string(), z.string()) })
  .transform((wire) => new Map(Object.entries(wire.part_urls).map(([part, url]) => [Number(part), url])));

/** The shared envelope of lists, around items of one kind. */
export function listSchema<Item extends z.ZodType>(item: Item) {
  return z
    .looseObject({
      data: arrayOf(item),
      has_more: z.boolean().nullish(),
      first_id: text,
      last_id: text,
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
