import { z } from 'zod';
import { firstTextAt, idUpTo, valueAt } from '../calls/json.ts';
import type { ServiceOptions } from './service-options.ts';
import { MAX_LINK_LENGTH, optionalIdSchema, sizeSchema } from './service-schema.ts';

export interface NewTask {
  readonly projectId: string;
  readonly title: string;
  /** `standard`, `fast` or `max`; the default if left out. */
  readonly model?: string | undefined;
  /** Fail rather than use a fallback model; sent only if AGENT_DIALECT names the flag. */
  readonly noFallback?: boolean | undefined;
  /** Work without asking back; sent only if AGENT_DIALECT names the field. */
  readonly autoMode?: boolean | undefined;
  /** Make a plan first; sent only if AGENT_DIALECT names the field. */
  readonly planMode?: boolean | undefined;
}

export interface NewMessage {
  readonly content: string;
  /** Finalized files of the task's project. */
  readonly fileIds?: readonly string[] | undefined;
  /** Id or name. */
  readonly skill?: string | undefined;
}

export interface NewFile {
  readonly projectId: string;
  readonly filename: string;
  readonly sizeBytes: number;
  readonly mimeType: string;
}

/** A part that the storage has, with its ETag exactly as received. */
export interface UploadedPart {
  readonly number: number;
  readonly etag: string;
}

/** A started upload: everything that another process needs to resume it. */
export interface ResumableUpload {
  readonly fileId: string;
  /** Null for an upload in one piece. */
  readonly uploadId: string | null;
  /** Bytes of a part, no fewer than S3 accepts; null until the service or the plan of the upload says so. */
  readonly partBytes: number | null;
  /** Headers that the storage requires with the bytes, names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly parts: readonly UploadedPart[];
  /** All bytes are uploaded, and the finalize may have taken effect. */
  readonly finalizing?: boolean | undefined;
}

export interface AgentUploadRequest extends NewFile {
  /** Opens the file's bytes at an offset: again for each retry or restart. */
  readonly open: (offset: number) => Promise<AsyncIterable<Uint8Array>>;
  /** Called with the bytes that the storage has so far. */
  readonly onProgress?: ((doneBytes: number) => void) | undefined;
  /** Awaited when an upload has started or restarted; what was reported before no longer counts. */
  readonly onStart?: ((started: ResumableUpload) => void | Promise<void>) | undefined;
  /** Called after each part, and awaited before the finalize. */
  readonly onPart?: ((part: UploadedPart) => void | Promise<void>) | undefined;
  /** Awaited before the finalize. */
  readonly onFinalize?: (() => void | Promise<void>) | undefined;
  /** Resumes an upload; finished parts are not sent again. If the service no longer knows the upload, it is restarted. */
  readonly resume?: ResumableUpload | undefined;
  readonly signal?: AbortSignal | undefined;
}

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

const cursorSchema = idUpTo(MAX_CURSOR_LENGTH)
  .transform((cursor) => (cursor === '0' ? null : cursor))
  .nullable()
  .catch(null);

/** The cursor to the next page of a list, or null. `lastId`: of the page's last item, in case the list does not name it. */
export function nextCursor(raw: unknown, { cursorField }: ServiceOptions, lastId?: string): string | null {
  return cursorSchema.parse(valueAt(raw, cursorField) ?? (cursorField === 'last_id' ? lastId : null));
}

/** Leaves out the field whose name is empty; JSON itself leaves out those that are undefined. */
function withoutUnnamed(body: Record<string, unknown>): Record<string, unknown> {
  const { '': _, ...named } = body;
  return named;
}

const headerSchema = z.union([z.string(), z.number(), z.array(z.string())]).transform(String);
const headersSchema = z.record(z.string().toLowerCase(), headerSchema).catch({});
/** Characters of all headers that go with each part: they are recorded, and storages accept no more. */
const MAX_HEADERS_LENGTH = 8 * 1024;
/** S3-compatible storage uses long ids (characters). */
const MAX_UPLOAD_ID_LENGTH = 2_000;

export interface StartedUpload extends Omit<ResumableUpload, 'parts' | 'finalizing'> {
  /** The link for an upload in one piece. A secret. */
  readonly url: string | null;
}

/** The schema of that response. AGENT_DIALECT names its fields. */
export function startedUploadSchema(serviceOptions: ServiceOptions) {
  return z
    .looseObject({
      upload_type: z.unknown().optional(),
      upload_id: idUpTo(MAX_UPLOAD_ID_LENGTH).nullable().catch(null),
    })
    .transform((wire, context): StartedUpload => {
      const fileIds = serviceOptions.uploadFileIdFields.map((path) => valueAt(wire, path));
      const fileId = fileIds.map((id) => optionalIdSchema.parse(id)).find((id) => id !== null) ?? null;
      const url = firstTextAt(wire, serviceOptions.uploadUrlFields, MAX_LINK_LENGTH);
      const multipart = wire.upload_type === 'multipart' || (url === null && wire.upload_id !== null);
      const uploadId = multipart ? wire.upload_id : null;
      const missing = fileId === null ? 'a file id' : multipart ? 'an upload_id' : 'an upload URL';
      const partBytes = sizeSchema.parse(valueAt(wire, serviceOptions.uploadPartSizeField));
      const headers = headersSchema.parse(valueAt(wire, serviceOptions.uploadHeadersField));
      const refuse = (message: string) => {
        context.issues.push({ code: 'custom', input: '', message });
        return z.NEVER;
      };
      if (fileId === null || (multipart ? uploadId : url) === null)
        return refuse(`${missing} is missing; name its field in AGENT_DIALECT`);
      if (Object.entries(headers).flat().join('').length > MAX_HEADERS_LENGTH)
        return refuse(`the headers for the storage have more than ${MAX_HEADERS_LENGTH} characters`);
      return {
        fileId,
        uploadId,
        url: multipart ? null : url,
        partBytes: partBytes ? Math.max(partBytes, serviceOptions.leastPartBytes) : null,
        headers,
      };
    });
}
