import { Readable } from 'node:stream';
import { RequestBodyError } from './error-mapping.ts';
import {
  AgentAbortedError,
  AgentBusyError,
  AgentError,
  AgentNotFoundError,
  AgentRejectedError,
} from './errors.ts';
import type { FileCalls } from './file-calls.ts';
import { uploadParts } from './multipart-upload.ts';
import type { FileRecord } from './service-schema.ts';
import { linkCallContext } from './signed-links.ts';
import { assertUploadableSize, PartReader } from './upload-parts.ts';
import type { AgentUploadRequest, ResumableUpload } from './upload-request.ts';

/**
 * Uploads a file, in one piece or in parts as the service says, and finalizes it. Streams: never holds more
 * than a few parts. Throws AgentError (AgentFileSizeError where the bytes are not as many as promised; nothing
 * is finalized then), and the source's own error where reading it fails.
 */
export async function uploadFile(client: FileCalls, request: AgentUploadRequest): Promise<FileRecord> {
  assertUploadableSize(request.sizeBytes);
  try {
    const resumed =
      request.resume === undefined ? undefined : await resumeUpload(client, request, request.resume);
    return resumed ?? (await uploadFromStart(client, request));
  } catch (error) {
    throw request.signal?.aborted === true && !(error instanceof AgentError)
      ? uploadAborted(error)
      : unwrapBodyError(error);
  }
}

async function uploadFromStart(client: FileCalls, request: AgentUploadRequest): Promise<FileRecord> {
  const started = await client.startUpload(request, { signal: request.signal });
  const { fileId, uploadId, partBytes, headers } = started;
  const begun = { fileId, uploadId, partBytes, headers, parts: [] };
  if (uploadId !== null) return await finishMultipart(client, request, { ...begun, uploadId });
  await request.onStart?.(begun);
  await sendInOnePiece(client, request, started);
  return await finalizeUpload(client, request, begun);
}

/** Goes on with an upload; undefined where it must begin anew. */
async function resumeUpload(
  client: FileCalls,
  request: AgentUploadRequest,
  resume: ResumableUpload,
): Promise<FileRecord | undefined> {
  const { uploadId } = resume;
  try {
    if (uploadId !== null) return await finishMultipart(client, request, { ...resume, uploadId });
    return resume.finalizing === true ? await finalizeUpload(client, request, resume) : undefined;
  } catch (error) {
    if (!('open' in request) || !isStale(error)) throw error;
    return undefined;
  }
}

/** The service, or its storage, does not know the upload any more. */
function isStale(error: unknown): boolean {
  return (
    error instanceof AgentNotFoundError ||
    error instanceof AgentBusyError ||
    error instanceof AgentRejectedError
  );
}

async function finishMultipart(
  client: FileCalls,
  request: AgentUploadRequest,
  upload: ResumableUpload & { readonly uploadId: string },
): Promise<FileRecord> {
  const parts = await uploadParts(client, request, upload);
  return await finalizeUpload(client, request, { ...upload, parts });
}

async function sendInOnePiece(
  client: FileCalls,
  request: AgentUploadRequest,
  { url, headers }: { readonly url: string | null; readonly headers: Readonly<Record<string, string>> },
): Promise<void> {
  const { sizeBytes, mimeType, signal } = request;
  const context = linkCallContext('upload link', client.serviceOptions);
  await client.uploadToLink({
    context,
    method: client.serviceOptions.uploadMethod,
    url: url ?? '',
    headers: { 'content-type': mimeType, ...headers },
    body: () => Readable.from(fileBytes(request), { objectMode: false }),
    sizeBytes,
    repeat: 'open' in request,
    signal,
  });
}

/** The file's bytes. The source is opened when the storage takes them: nobody could let go of one that was not begun. */
async function* fileBytes(request: AgentUploadRequest): AsyncGenerator<Uint8Array, void, undefined> {
  const { sizeBytes, signal, onProgress } = request;
  const source = 'open' in request ? await openSource(request.open) : request.body;
  const reader = new PartReader(source, 0, sizeBytes, signal ?? new AbortController().signal);
  let done = 0;
  try {
    for await (const chunk of reader.stream()) {
      yield chunk;
      done += chunk.length;
      onProgress?.(done);
    }
  } finally {
    reader.close();
  }
}

/** Finalizes; where an earlier try may have done it already, Get a file decides. */
async function finalizeUpload(
  client: FileCalls,
  request: AgentUploadRequest,
  upload: ResumableUpload,
): Promise<FileRecord> {
  const { fileId, uploadId, parts } = upload;
  const { signal } = request;
  if (upload.finalizing !== true) await request.onFinalize?.();
  if (uploadId === null && client.serviceOptions.finalizeSingle === 'skip') {
    return await client.getFile(fileId, { signal });
  }
  try {
    const file = await client.finalizeUpload(fileId, uploadId === null ? null : { uploadId, parts }, {
      signal,
    });
    if (file !== null) return file;
  } catch (error) {
    if (!(error instanceof AgentError) || error.status === undefined) throw error;
    const again = error.attempts > 1 || upload.finalizing === true;
    const singleDone = uploadId === null && client.serviceOptions.finalizeDoneStatuses.includes(error.status);
    const repeatDone = again && error.outcome === 'refused' && error.code !== 'rate_limited';
    if (!singleDone && !repeatDone) throw error;
    const file = await client.getFile(fileId, { signal }).catch(() => null);
    if (file === null) throw error;
    return file;
  }
  return await client.getFile(fileId, { signal });
}

async function openSource(
  open: (offset: number) => Promise<AsyncIterable<Uint8Array>>,
): Promise<AsyncIterable<Uint8Array>> {
  try {
    return await open(0);
  } catch (error) {
    throw new RequestBodyError(error);
  }
}

function unwrapBodyError(error: unknown): unknown {
  return error instanceof RequestBodyError ? error.cause : error;
}

function uploadAborted(cause: unknown): AgentAbortedError {
  return new AgentAbortedError({
    sentence: 'The upload was stopped. The file was not finalized.',
    outcome: 'unknown',
    cause,
  });
}
