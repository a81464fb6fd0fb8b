import type { FileRecord, MessageRecord, ProjectRecord, ResultRecord, TaskRecord } from './records.ts';
import type { ServiceBehaviour } from './service-behaviour.ts';

/** The service's JSON objects, as the document defines them. */

export function projectJson(project: ProjectRecord): object {
  return {
    id: project.id,
    type: 'project',
    title: project.title,
    description: project.description,
    created_at: date(project.createdAt),
    updated_at: date(project.updatedAt),
  };
}

export function taskJson(task: TaskRecord): object {
  return {
    id: task.id,
    type: 'task',
    created_at: date(task.createdAt),
    status: task.status,
    project_id: task.project.id,
    title: task.title,
    platform: 'api',
  };
}

/** A task as Get a task returns it. */
export function taskWithReviewsJson(task: TaskRecord): object {
  const reviews = task.reviews.map(({ status, messageId, errorMessage }) => ({
    status,
    message_id: messageId,
    error_message: errorMessage,
  }));
  return { ...taskJson(task), reviews };
}

export function messageJson(message: MessageRecord, behaviour: ServiceBehaviour): object {
  return {
    id: message.id,
    type: 'message',
    task_id: message.taskId,
    created_at: date(message.createdAt),
    role: message.role,
    content: message.content,
    status: message.status,
    stop_reason: message.stopReason,
    finish_reason: message.stopReason === null ? null : `agent_${message.stopReason}`,
    started_at: dateOrNull(message.startedAt),
    completed_at: dateOrNull(message.completedAt),
    error: message.error,
    platform: 'api',
    input: inputJson(message, behaviour),
    output: null,
  };
}

function inputJson({ input }: MessageRecord, behaviour: ServiceBehaviour): object | null {
  if (input === null || behaviour.input === 'null') return null;
  const file_ids = behaviour.input === 'null-file-ids' ? null : input.fileIds;
  return { user_message_id: input.userMessageId, file_ids };
}

export function fileJson(file: FileRecord): object {
  return {
    id: file.id,
    type: 'file',
    created_at: date(file.createdAt),
    filename: file.name,
    size_bytes: file.size,
    purpose: file.purpose,
    mime_type: file.mime,
    project_id: file.project.id,
    platform: 'api',
  };
}

/** `link` is undefined if the client did not request links. */
export function resultJson(result: ResultRecord, link: string | undefined): object {
  return {
    type: 'result_file',
    result_id: result.id,
    name: result.file.name,
    size_bytes: result.file.size,
    mime_type: result.file.mime,
    created_at: date(result.createdAt),
    ...(link === undefined ? {} : { download_url: link }),
  };
}

/** One page of a list. */
export function listJson(data: readonly object[], ids: readonly string[], more: boolean): object {
  return {
    type: 'list',
    data,
    has_more: more,
    first_id: ids.at(0) ?? null,
    last_id: ids.at(-1) ?? null,
  };
}

function date(at: number): string {
  return new Date(at).toISOString();
}

function dateOrNull(at: number | null): string | null {
  return at === null ? null : date(at);
}
