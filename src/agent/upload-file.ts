import { Readable } from 'node:stream';
import type { AgentClient } from './agent-client.ts';
import { AgentError } from './errors.ts';
import { BrokenRequestError } from './http-request.ts';
import { MultipartUpload } from './multipart-upload.ts';
import type { AgentUploadRequest, ResumableUpload, StartedUpload } from './request-bodies.ts';
import type { FileRecord } from './service-schema.ts';
import { openSource, PartReader } from './upload-parts.ts';

/**
 * Uploads a file, in one piece or in parts as the service decides, and finalizes it. Streams, and holds no more than a
 * few parts in memory. Throws an AgentError (`wrong_size`) if the number of bytes is wrong (nothing is finalized then), any other
 * AgentError if a call fails, and the source's own error if reading it fails.
 */
export async function uploadFile(client: AgentClient, request: AgentUploadRequest): Promise<FileRecord> {
  try {
    return (await resume(client, request)) ?? (await finalize(client, request, await send(client, request)));
  } catch (error) {
    if (request.signal?.aborted === true && !(error instanceof AgentError)) {
      const sentence = 'The upload was stopped, and the file was not finalized.';
      throw new AgentError('aborted', { sentence, outcome: 'unknown', cause: error });
    }
    const isOfSource = error instanceof BrokenRequestError && error.kind === 'unread_body';
    throw isOfSource ? error.cause : error;
  }
}

/** The service, or its storage, no longer knows the upload. */
const STALE_CODES = new Set(['not_found', 'busy', 'rejected']);
/** A file that is too large stays so. */
const CONTENT_TOO_LARGE = 413;

function isStale(error: unknown): boolean {
  if (!(error instanceof AgentError) || error.outcome === 'not_sent') return false;
  return STALE_CODES.has(error.code) && error.status !== CONTENT_TOO_LARGE;
}

/** Sends the bytes to the storage, and once more if the upload is lost meanwhile, as with a link that has expired. */
async function send(client: AgentClient, request: AgentUploadRequest): Promise<ResumableUpload> {
  const start = () => client.startUpload(request, { signal: request.signal });
  const started = await start();
  try {
    return await sendTo(started, client, request);
  } catch (error) {
    if (!isStale(error)) throw error;
    return await sendTo(await start(), client, request);
  }
}

/** Sends the bytes, in one piece or in parts. */
async function sendTo(
  { url, ...started }: StartedUpload,
  client: AgentClient,
  request: AgentUploadRequest,
): Promise<ResumableUpload> {
  const upload = { ...started, parts: [] };
  const { uploadId } = upload;
  if (uploadId !== null) return await new MultipartUpload(client, request, { ...upload, uploadId }).run();
  await request.onStart?.(upload);
  await client.links.put({
    name: 'upload link',
    method: client.serviceOptions.uploadMethod,
    url: url ?? '',
    headers: { 'content-type': request.mimeType, ...upload.headers },
    body: () => Readable.from(bytesOf(request), { objectMode: false }),
    sizeBytes: request.sizeBytes,
    signal: request.signal,
  });
  return upload;
}

/** Resumes an upload; undefined if there is none, or if it must be restarted. */
async function resume(client: AgentClient, request: AgentUploadRequest): Promise<FileRecord | undefined> {
  const upload = request.resume;
  if (upload === undefined || (upload.uploadId === null && upload.finalizing !== true)) return undefined;
  const { uploadId } = upload;
  try {
    const sent =
      uploadId === null ? upload : await new MultipartUpload(client, request, { ...upload, uploadId }).run();
    return await finalize(client, request, sent);
  } catch (error) {
    if (isStale(error)) return undefined;
    throw error;
  }
}

/** The file's bytes. Opens the source only when the storage reads it: an unread source would never be closed. */
async function* bytesOf(request: AgentUploadRequest): AsyncGenerator<Uint8Array, void, undefined> {
  const { sizeBytes, signal = new AbortController().signal, onProgress } = request;
  using reader = new PartReader(await openSource(request, 0), 0, sizeBytes, signal);
  let done = 0;
  for await (const chunk of reader.stream()) {
    yield chunk;
    done += chunk.length;
    onProgress?.(done);
  }
}

/** Finalizes. If an earlier attempt may have succeeded, Get a file decides. */
async function finalize(
  client: AgentClient,
  { signal, onFinalize }: AgentUploadRequest,
  { fileId, uploadId, parts, finalizing = false }: ResumableUpload,
): Promise<FileRecord> {
  const { finalizeSingle, finalizeDoneStatuses } = client.serviceOptions;
  if (!finalizing) await onFinalize?.();
  const getFile = () => client.getFile(fileId, { signal });
  if (uploadId === null && finalizeSingle === 'skip') return await getFile();
  try {
    const multipart = uploadId === null ? null : { uploadId, parts };
    const file = await client.finalizeUpload(fileId, multipart, { signal });
    if (file !== null) return file;
  } catch (error) {
    if (!(error instanceof AgentError) || error.status === undefined) throw error;
    const isRepeat = error.attempts > 1 || finalizing;
    const isSingleDone = uploadId === null && finalizeDoneStatuses.includes(error.status);
    const isRepeatDone = isRepeat && error.outcome === 'refused' && error.code !== 'rate_limited';
    if (!isSingleDone && !isRepeatDone) throw error;
    return await getFile().catch(() => {
      throw error;
    });
  }
  return await getFile();
}
