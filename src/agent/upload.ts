import { Readable } from 'node:stream';
import { AgentAbortedError, AgentError } from './errors.ts';
import { BodyFailure } from './failure.ts';
import type { FileCalls } from './file-calls.ts';
import { linkCall } from './links.ts';
import { uploadParts } from './multipart.ts';
import { checkSize, PieceReader } from './parts.ts';
import type { FileRecord } from './schema.ts';
import type { MultipartProgress, UploadRequest } from './upload-request.ts';

/**
 * Uploads a file, in one piece or in parts as the service says, and finalizes it. Streams: never holds more
 * than a few parts. Throws AgentError (AgentFileSizeError where the bytes are not as many as promised; nothing
 * is finalized then), and the source's own error where reading it fails.
 */
export async function uploadFile(client: FileCalls, request: UploadRequest): Promise<FileRecord> {
  checkSize(request.sizeBytes);
  try {
    if (request.resume !== undefined) return await multipart(client, request, request.resume);
    const started = await client.startUpload(request, { signal: request.signal });
    const { fileId, uploadId, partBytes, headers } = started;
    if (uploadId !== null) {
      return await multipart(client, request, { fileId, uploadId, partBytes, headers, parts: [] });
    }
    await sendWhole(client, request, started);
    if (client.dialect.finalizeSingle === 'skip') return await client.getFile(fileId, request);
    return await finalize(client, fileId, null, request.signal);
  } catch (error) {
    throw request.signal?.aborted === true && !(error instanceof AgentError) ? stopped(error) : own(error);
  }
}

async function multipart(
  client: FileCalls,
  request: UploadRequest,
  progress: MultipartProgress,
): Promise<FileRecord> {
  const { fileId, uploadId } = progress;
  const parts = await uploadParts(client, request, progress);
  return await finalize(client, fileId, { uploadId, parts }, request.signal);
}

async function sendWhole(
  client: FileCalls,
  request: UploadRequest,
  { url, headers }: { readonly url: string | null; readonly headers: Readonly<Record<string, string>> },
): Promise<void> {
  const { sizeBytes, mimeType, signal, onProgress } = request;
  const called = linkCall('upload link', client.dialect);
  const body = async () => {
    const source = 'open' in request ? await opened(request.open) : request.body;
    const reader = new PieceReader(source, 0, sizeBytes, signal ?? new AbortController().signal);
    return Readable.from(counted(reader, onProgress), { objectMode: false });
  };
  await client.putLink({
    called,
    method: client.dialect.uploadMethod,
    url: url ?? '',
    headers: { 'content-type': mimeType, ...headers },
    body,
    sizeBytes,
    repeat: 'open' in request,
    signal,
  });
}

async function* counted(
  reader: PieceReader,
  onProgress: ((doneBytes: number) => void) | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
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
async function finalize(
  client: FileCalls,
  fileId: string,
  parts: Parameters<FileCalls['finalizeUpload']>[1],
  signal: AbortSignal | undefined,
): Promise<FileRecord> {
  try {
    const file = await client.finalizeUpload(fileId, parts, { signal });
    if (file !== null) return file;
  } catch (error) {
    if (!(error instanceof AgentError) || error.status === undefined) throw error;
    const singleDone = parts === null && client.dialect.finalizeDoneStatuses.includes(error.status);
    const repeatDone = error.attempts > 1 && error.outcome === 'refused' && error.code !== 'rate_limited';
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
