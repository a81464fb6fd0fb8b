import type { Dialect } from './dialect.ts';
import { valueAt } from './error-words.ts';
import type { NewFile, NewMessage, NewTask, UploadedPart } from './options.ts';

/** Body of Start a task: documented fields, and the dialect's where they are asked for. */
export function newTaskBody(task: NewTask, dialect: Dialect): Record<string, unknown> {
  return {
    project_id: task.projectId,
    title: task.title,
    ...(task.model === undefined ? {} : { model: task.model }),
    ...field(dialect.autoModeField, task.autoMode),
    ...field(dialect.planModeField, task.planMode),
    ...field(dialect.noFallbackField, task.noFallback),
    ...(task.initialMessages === undefined
      ? {}
      : {
          initial_messages: task.initialMessages.map(({ role, content }) => ({
            [dialect.initialMessageRoleField]: role,
            [dialect.initialMessageContentField]: content,
          })),
        }),
  };
}

/** Body of Send a message. */
export function messageBody(message: NewMessage, dialect: Dialect): Record<string, unknown> {
  return {
    content: message.content,
    ...(message.fileIds === undefined || message.fileIds.length === 0 ? {} : { file_ids: message.fileIds }),
    ...(message.skill === undefined ? {} : { skill: message.skill }),
    ...field(dialect.sendMessageModelField, message.model),
  };
}

/** Body that starts an upload. */
export function newFileBody(file: NewFile, dialect: Dialect): Record<string, unknown> {
  return {
    [dialect.uploadProjectField]: file.projectId,
    [dialect.uploadFilenameField]: file.filename,
    [dialect.uploadSizeField]: file.sizeBytes,
    [dialect.uploadMimeTypeField]: file.mimeType,
    ...(dialect.uploadPurpose === '' ? {} : { purpose: dialect.uploadPurpose }),
  };
}

/** Body of finalize; null for an upload in one piece. */
export function finalizeBody(
  multipart: { readonly uploadId: string; readonly parts: readonly UploadedPart[] } | null,
  dialect: Dialect,
): Record<string, unknown> {
  if (multipart === null) return {};
  return {
    [dialect.finalizeUploadIdField]: multipart.uploadId,
    [dialect.finalizePartsField]: multipart.parts
      .toSorted((one, other) => one.number - other.number)
      .map(({ number, etag }) => ({
        [dialect.finalizePartNumberField]: number,
        [dialect.finalizeEtagField]: etag,
      })),
  };
}

/** The cursor to the next page in a list's answer, or null. */
export function cursorOf(raw: unknown, dialect: Dialect): string | null {
  const cursor = valueAt(raw, dialect.cursorField);
  return typeof cursor === 'string' && cursor !== '' ? cursor : null;
}

function field(name: string, value: unknown): Record<string, unknown> {
  return name === '' || value === undefined ? {} : { [name]: value };
}
