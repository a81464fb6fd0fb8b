import { Readable } from 'node:stream';
import {
  AgentAbortedError,
  AgentBusyError,
  AgentError,
  AgentNotFoundError,
  AgentRejectedError,
} from './errors.ts';
import { BodyFailure } from './failure.ts';
import type { FileCalls } from './file-calls.ts';
import { linkCall } from './links.ts';
import { uploadParts } from './multipart.ts';
import { checkSize, PieceReader } from './parts.ts';
import type { FileRecord } from './schema.ts';
import type { BegunUpload, UploadRequest } from './upload-request.ts';

/**
 * Uploads a file, in one piece or in parts as the service says, and finalizes it. Streams: never holds more
 * than a few parts. Throws AgentError (AgentFileSizeError where the bytes are not as many as promised; nothing
 * is finalized then), and the source's own error where reading it fails.
 */
export async function uploadFile(client: FileCalls, request: UploadRequest): Promise<FileRecord> {
  checkSize(request.sizeBytes);
  try {
    const resumed = request.resume === undefined ? undefined : await goneOn(client, request, request.resume);
    return resumed ?? (await begun(client, request));
  } catch (error) {
    throw request.signal?.aborted === true && !(error instanceof AgentError) ? stopped(error) : own(error);
  }
}

async function begun(client: FileCalls, request: UploadRequest): Promise<FileRecord> {
  const started = await client.startUpload(request, { signal: request.signal });
  const { fileId, uploadId, partBytes, headers } = started;
  const begun = { fileId, uploadId, partBytes, headers, parts: [] };
  if (uploadId !== null) return await multipart(client, request, { ...begun, uploadId });
  await request.onStart?.(begun);
  await sendWhole(client, request, started);
  return await finalized(client, request, begun);
}

/** Goes on with an upload; undefined where it must begin anew. */
async function goneOn(
  client: FileCalls,
  request: UploadRequest,
  resume: BegunUpload,
): Promise<FileRecord | undefined> {
  const { uploadId } = resume;
  try {
    if (uploadId !== null) return await multipart(client, request, { ...resume, uploadId });
    return resume.finalizing === true ? await finalized(client, request, resume) : undefined;
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

async function multipart(
  client: FileCalls,
  request: UploadRequest,
  upload: BegunUpload & { readonly uploadId: string },
): Promise<FileRecord> {
  const parts = await uploadParts(client, request, upload);
  return await finalized(client, request, { ...upload, parts });
}

async function sendWhole(
  client: FileCalls,
  request: UploadRequest,
  { url, headers }: { readonly url: string | null; readonly headers: Readonly<Record<string, string>> },
): Promise<void> {
  const { sizeBytes, mimeType, signal } = request;
  const called = linkCall('upload link', client.dialect);
  await client.putLink({
    called,
    method: client.dialect.uploadMethod,
    url: url ?? '',
    headers: { 'content-type': mimeType, ...headers },
    body: () => Readable.from(wholeOf(request), { objectMode: false }),
    sizeBytes,
    repeat: 'open' in request,
    signal,
  });
}

/** The file's bytes. The source is opened when the storage takes them: nobody could let go of one that was not begun. */
async function* wholeOf(request: UploadRequest): AsyncGenerator<Uint8Array, void, undefined> {
  const { sizeBytes, signal, onProgress } = request;
  const source = 'open' in request ? await opened(request.open) : request.body;
  const reader = new PieceReader(source, 0, sizeBytes, signal ?? new AbortController().signal);
  let done = 0;
  try {
    for await (const chunk of reader.all()) {
      yield chunk;
      done += chunk.length;
      onProgress?.(done);
    }
  } finally {
    reader.close();
  }
}

/** Finalizes; where an earlier try may have done it already, Get a file decides. */
async function finalized(
  client: FileCalls,
  request: UploadRequest,
  upload: BegunUpload,
): Promise<FileRecord> {
  const { fileId, uploadId, parts } = upload;
  const { signal } = request;
  if (upload.finalizing !== true) await request.onFinalize?.();
  if (uploadId === null && client.dialect.finalizeSingle === 'skip') {
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
    const singleDone = uploadId === null && client.dialect.finalizeDoneStatuses.includes(error.status);
    const repeatDone = again && error.outcome === 'refused' && error.code !== 'rate_limited';
    if (!singleDone && !repeatDone) throw error;
    const file = await client.getFile(fileId, { signal }).catch(() => null);
    if (file === null) throw error;
    return file;
  }
  return await client.getFile(fileId, { signal });
}

async function opened(
  open: (offset: number) => Promise<AsyncIterable<Uint8Array>>,
): Promise<AsyncIterable<Uint8Array>> {
  try {
    return await open(0);
  } catch (error) {
    throw new BodyFailure(error);
  }
}

function own(error: unknown): unknown {
  return error instanceof BodyFailure ? error.cause : error;
}

function stopped(cause: unknown): AgentAbortedError {
  return new AgentAbortedError({
    sentence: 'The upload was stopped. The file was not finalized.',
    outcome: 'unknown',
    cause,
  });
}
