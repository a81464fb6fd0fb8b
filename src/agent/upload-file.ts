import { Readable } from 'node:stream';
import type { AgentClient } from './agent-client.ts';
import { RequestBodyError } from './error-mapping.ts';
import { AgentError } from './errors.ts';
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
  const upload = new FileUpload(client, request);
  try {
    return (await upload.resume()) ?? (await upload.start());
  } catch (error) {
    if (request.signal?.aborted === true && !(error instanceof AgentError)) throw uploadAborted(error);
    throw error instanceof RequestBodyError ? error.cause : error;
  }
}

/** The service, or its storage, no longer knows the upload. */
const STALE_CODES = new Set(['not_found', 'busy', 'rejected']);

class FileUpload {
  readonly #client: AgentClient;
  readonly #request: AgentUploadRequest;

  constructor(client: AgentClient, request: AgentUploadRequest) {
    this.#client = client;
    this.#request = request;
  }

  async start(): Promise<FileRecord> {
    const started = await this.#client.startUpload(this.#request, { signal: this.#request.signal });
    const { fileId, uploadId, partBytes, headers } = started;
    const upload = { fileId, uploadId, partBytes, headers, parts: [] };
    if (uploadId !== null) return await this.#finishMultipart({ ...upload, uploadId });
    await this.#request.onStart?.(upload);
    await this.#sendInOnePiece(started);
    return await this.#finalize(upload);
  }

  /** Resumes an upload; undefined if there is none, or if it must be restarted. */
  async resume(): Promise<FileRecord | undefined> {
    const { resume } = this.#request;
    if (resume === undefined) return undefined;
    const { uploadId } = resume;
    try {
      if (uploadId !== null) return await this.#finishMultipart({ ...resume, uploadId });
      return resume.finalizing === true ? await this.#finalize(resume) : undefined;
    } catch (error) {
      if (error instanceof AgentError && STALE_CODES.has(error.code)) return undefined;
      throw error;
    }
  }

  async #finishMultipart(upload: ResumableUpload & { readonly uploadId: string }): Promise<FileRecord> {
    const parts = await new MultipartUpload(this.#client, this.#request, upload).run();
    return await this.#finalize({ ...upload, parts });
  }

  async #sendInOnePiece({ url, headers }: StartedUpload): Promise<void> {
    const { sizeBytes, mimeType, signal } = this.#request;
    await this.#client.links.put({
      name: 'upload link',
      method: this.#client.serviceOptions.uploadMethod,
      url: url ?? '',
      headers: { 'content-type': mimeType, ...headers },
      body: () => Readable.from(this.#bytes(), { objectMode: false }),
      sizeBytes,
      signal,
    });
  }

  /** The file's bytes. Opens the source only when the storage reads it: an unread source would never be closed. */
  async *#bytes(): AsyncGenerator<Uint8Array, void, undefined> {
    const { sizeBytes, signal, onProgress } = this.#request;
    const source = await openSource(this.#request, 0);
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
  async #finalize({ fileId, uploadId, parts, finalizing = false }: ResumableUpload): Promise<FileRecord> {
    const { signal, onFinalize } = this.#request;
    const { finalizeSingle, finalizeDoneStatuses } = this.#client.serviceOptions;
    if (!finalizing) await onFinalize?.();
    const getFile = () => this.#client.getFile(fileId, { signal });
    if (uploadId === null && finalizeSingle === 'skip') return await getFile();
    try {
      const multipart = uploadId === null ? null : { uploadId, parts };
      const file = await this.#client.finalizeUpload(fileId, multipart, { signal });
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
}

function uploadAborted(cause: unknown): AgentError {
  return new AgentError('aborted', {
    sentence: 'The upload was stopped, and the file was not finalized.',
    outcome: 'unknown',
    cause,
  });
}
