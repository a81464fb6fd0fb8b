import { valueAt } from '../calls/json.ts';
import type { NewFile, NewMessage, NewTask, UploadedPart } from './client-options.ts';
import type { ServiceOptions } from './service-options.ts';

/** Body of Start a task: documented fields, and those that AGENT_DIALECT names. */
export function newTaskBody(task: NewTask, serviceOptions: ServiceOptions): Record<string, unknown> {
  return withoutUnnamed({
    project_id: task.projectId,
    title: task.title,
    model: task.model,
    [serviceOptions.autoModeField]: task.autoMode,
    [serviceOptions.planModeField]: task.planMode,
    [serviceOptions.noFallbackField]: task.noFallback,
  });
}

/** Body of Send a message. */
export function newMessageBody({ content, fileIds, skill }: NewMessage): Record<string, unknown> {
  return { content, file_ids: fileIds?.length === 0 ? undefined : fileIds, skill };
}

/** Body that starts an upload. */
export function newFileBody(file: NewFile, serviceOptions: ServiceOptions): Record<string, unknown> {
  return {
    [serviceOptions.uploadProjectField]: file.projectId,
    [serviceOptions.uploadFilenameField]: file.filename,
    [serviceOptions.uploadSizeField]: file.sizeBytes,
    [serviceOptions.uploadMimeTypeField]: file.mimeType,
    purpose: serviceOptions.uploadPurpose || undefined,
  };
}

/** Body of finalize; null for an upload in one piece. */
export function finalizeBody(
  multipart: { readonly uploadId: string; readonly parts: readonly UploadedPart[] } | null,
  serviceOptions: ServiceOptions,
): Record<string, unknown> {
  if (multipart === null) return {};
  return {
    [serviceOptions.finalizeUploadIdField]: multipart.uploadId,
    [serviceOptions.finalizePartsField]: multipart.parts
      .toSorted((one, other) => one.number - other.number)
      .map(({ number, etag }) => ({
        [serviceOptions.finalizePartNumberField]: number,
        [serviceOptions.finalizeEtagField]: etag,
      })),
  };
}

/** Characters of a cursor, which goes into an address. */
const MAX_CURSOR_LENGTH = 4_000;

/** The cursor to the next page of a list, or null. `lastId`: of the page's last item, in case the list does not name it. */
export function nextCursor(raw: unknown, { cursorField }: ServiceOptions, lastId?: string): string | null {
  const cursor = valueAt(raw, cursorField) ?? (cursorField === 'last_id' ? lastId : null);
  return typeof cursor === 'string' && cursor !== '' && cursor.length <= MAX_CURSOR_LENGTH ? cursor : null;
}

/** Leaves out the field whose name is empty; JSON itself leaves out those that are undefined. */
function withoutUnnamed(body: Record<string, unknown>): Record<string, unknown> {
  const { '': _, ...named } = body;
  return named;
}
