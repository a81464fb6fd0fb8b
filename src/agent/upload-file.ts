import { Readable } from 'node:stream';
import type { AgentClient } from './agent-client.ts';
import { RequestBodyError } from './error-mapping.ts';
import { AgentBusyError, AgentError, AgentNotFoundError, AgentRejectedError } from './errors.ts';
import { MultipartUpload } from './multipart-upload.ts';
import { openSource, PartReader } from './part-reader.ts';
import type { AgentUploadRequest, ResumableUpload } from './request-bodies.ts';
import type { FileRecord } from './service-schema.ts';

/**
 * Uploads a file, in one piece or in parts as the service decides, and finalizes it. Streams, and holds no more than a
 * few parts in memory. Throws an AgentError (`wrong_size`) if the number of bytes is wrong (nothing is finalized then), any other
 * AgentError if a call fails, and the source's own error if reading it fails.
 */
export async function uploadFile(client: AgentClient, request: AgentUploadRequest): Promise<FileRecord> {
  try {
    const resumed =
      request.resume === undefined ? undefined : await resumeUpload(client, request, request.resume);
    return resumed ?? (await uploadFromStart(client, request));
  } catch (error) {
    throw request.signal?.aborted === true && !(error instanceof AgentError)
      ? uploadAborted(error)
      : error instanceof RequestBodyError
        ? error.cause
        : error;
  }
}

async function uploadFromStart(client: AgentClient, request: AgentUploadRequest): Promise<FileRecord> {
  const started = await client.startUpload(request, { signal: request.signal });
  const { fileId, uploadId, partBytes, headers } = started;
  const upload = { fileId, uploadId, partBytes, headers, parts: [] };
  if (uploadId !== null) return await finishMultipart(client, request, { ...upload, uploadId });
  await request.onStart?.(upload);
  await sendInOnePiece(client, request, started);
  return await finalizeUpload(client, request, upload);
}

/** Resumes an upload; undefined if it must be restarted. */
async function resumeUpload(
  client: AgentClient,
  request: AgentUploadRequest,
  resume: ResumableUpload,
): Promise<FileRecord | undefined> {
  const { uploadId } = resume;
  try {
    if (uploadId !== null) return await finishMultipart(client, request, { ...resume, uploadId });
    return resume.finalizing === true ? await finalizeUpload(client, request, resume) : undefined;
  } catch (error) {
    if (!isStale(error)) throw error;
    return undefined;
  }
}

/** The service, or its storage, no longer knows the upload. */
function isStale(error: unknown): boolean {
  return (
    error instanceof AgentNotFoundError ||
    error instanceof AgentBusyError ||
    error instanceof AgentRejectedError
  );
}

async function finishMultipart(
  client: AgentClient,
  request: AgentUploadRequest,
  upload: ResumableUpload & { readonly uploadId: string },
): Promise<FileRecord> {
  const parts = await new MultipartUpload(client, request, upload).run();
  return await finalizeUpload(client, request, { ...upload, parts });
}

async function sendInOnePiece(
  client: AgentClient,
  request: AgentUploadRequest,
  { url, headers }: { readonly url: string | null; readonly headers: Readonly<Record<string, string>> },
): Promise<void> {
  const { sizeBytes, mimeType, signal } = request;
  await client.links.put({
    name: 'upload link',
    method: client.serviceOptions.uploadMethod,
    url: url ?? '',
    headers: { 'content-type': mimeType, ...headers },
    body: () => Readable.from(fileBytes(request), { objectMode: false }),
    sizeBytes,
    signal,
  });
}

/** The file's bytes. Opens the source only when the storage reads it: an unread source would never be closed. */
async function* fileBytes(request: AgentUploadRequest): AsyncGenerator<Uint8Array, void, undefined> {
  const { sizeBytes, signal, onProgress } = request;
  const source = await openSource(request, 0);
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

/** Finalizes. If an earlier attempt may have succeeded, Get a file decides. */
async function finalizeUpload(
  client: AgentClient,
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
    const isRepeat = error.attempts > 1 || upload.finalizing === true;
    const isSingleDone =
      uploadId === null && client.serviceOptions.finalizeDoneStatuses.includes(error.status);
    const isRepeatDone = isRepeat && error.outcome === 'refused' && error.code !== 'rate_limited';
    if (!isSingleDone && !isRepeatDone) throw error;
    const file = await client.getFile(fileId, { signal }).catch(() => null);
    if (file === null) throw error;
    return file;
  }
  return await client.getFile(fileId, { signal });
}

function uploadAborted(cause: unknown): AgentError {
  return new AgentError('aborted', {
    sentence: 'The upload was stopped, and the file was not finalized.',
    outcome: 'unknown',
    cause,
  });
}
