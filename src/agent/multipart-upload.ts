import { Readable } from 'node:stream';
import { anySignal } from '../calls/retries-and-waits.ts';
import type { AgentClient } from './agent-client.ts';
import { AgentError, AgentRejectedError } from './errors.ts';
import type { AgentUploadRequest, ResumableUpload } from './request-bodies.ts';
import { MEBIBYTE, type ServiceOptions } from './service-options.ts';
import { openSource, type PartBuffer, PartReader } from './upload-parts.ts';

/** Parts sent at the same time. Uses the memory of one part more. */
const CONCURRENCY = 4;
/** Bytes written to the connection at once: small enough that a slow connection does not look idle. */
const SLICE_BYTES = 1024 * 1024;
const MAX_ETAG_LENGTH = 1024;

/** An upload in parts that was started. */
type MultipartState = ResumableUpload & { readonly uploadId: string };

/** Uploads the missing parts of a file. */
export class MultipartUpload {
  readonly #client: AgentClient;
  readonly #request: AgentUploadRequest;
  readonly #upload: MultipartState;
  readonly #parts: readonly Part[];
  readonly #etags: Map<number, string>;
  /** Aborted with the first failure, which ends all other parts. */
  readonly #failure = new AbortController();
  readonly #signal: AbortSignal;
  readonly #urls = new Map<number, string>();

  constructor(client: AgentClient, request: AgentUploadRequest, upload: MultipartState) {
    this.#client = client;
    this.#request = request;
    const { serviceOptions, uploadMemory } = client;
    const plan = planParts(request.sizeBytes, upload.partBytes, serviceOptions, uploadMemory.maxPartBytes);
    this.#parts = plan.parts;
    this.#upload = { ...upload, partBytes: plan.partBytes };
    this.#etags = new Map(upload.parts.map(({ number, etag }) => [number, etag]));
    this.#signal = anySignal([request.signal, this.#failure.signal]);
  }

  async run(): Promise<ResumableUpload> {
    if (this.#request.resume?.uploadId !== this.#upload.uploadId) await this.#request.onStart?.(this.#upload);
    this.#reportProgress();
    const first = this.#parts.find((part) => this.#isMissing(part));
    if (first !== undefined) await this.#sendMissing(first);
    return { ...this.#upload, parts: Array.from(this.#etags, ([number, etag]) => ({ number, etag })) };
  }

  /** Reads the file once from the first missing part on, and sends a few parts at the same time. */
  async #sendMissing({ number: first, offset }: Part): Promise<void> {
    const source = await openSource(this.#request, offset);
    const inProgress = new Set<Promise<void>>();
    try {
      using reader = new PartReader(source, offset, this.#request.sizeBytes, this.#signal);
      for (const part of this.#parts) {
        if (part.number < first) continue;
        if (this.#isMissing(part)) await this.#startPart(part, reader, inProgress);
        else await reader.skip(part.size);
      }
      await reader.expectEnd();
    } catch (error) {
      this.#fail(error);
    }
    await Promise.all(inProgress);
    if (this.#failure.signal.aborted) throw this.#failure.signal.reason;
  }

  /** Reads a part and starts sending it when fewer than `CONCURRENCY` are in progress. Does not wait for its end. */
  async #startPart({ number, size }: Part, reader: PartReader, inProgress: Set<Promise<void>>) {
    const buffer = await this.#client.uploadMemory.acquire(size, this.#signal);
    try {
      await reader.fill(buffer.bytes);
      while (inProgress.size >= CONCURRENCY) await Promise.race(inProgress);
      const url = await this.#urlOf(number);
      this.#signal.throwIfAborted();
      const sending = this.#sendPart(number, url, buffer)
        .catch((error: unknown) => this.#fail(error))
        .finally(() => inProgress.delete(sending));
      inProgress.add(sending);
    } catch (error) {
      buffer.release(false);
      throw error;
    }
  }

  /** The first failure ends the other parts, and the caller gets it. */
  #fail(error: unknown): void {
    if (!this.#failure.signal.aborted) this.#failure.abort(error);
  }

  async #sendPart(number: number, url: string, buffer: PartBuffer): Promise<void> {
    let etag: string | undefined;
    try {
      etag = await this.#client.links.renewingOnce(async (isExpired) => {
        const fresh = isExpired ? this.#requireUrl(await this.#requestUrls([number]), number) : url;
        return await this.#putPart(number, fresh, buffer.bytes);
      });
    } finally {
      buffer.release(etag !== undefined);
    }
    this.#etags.set(number, etag);
    this.#reportProgress();
    await this.#request.onPart?.({ number, etag });
  }

  async #putPart(number: number, url: string, piece: Buffer): Promise<string> {
    const etag = await this.#client.links.put({
      name: `upload link of part ${number}`,
      method: 'PUT',
      url,
      headers: this.#upload.headers ?? {},
      body: () => Readable.from(slices(piece), { objectMode: false, highWaterMark: 2 * SLICE_BYTES }),
      sizeBytes: piece.length,
      signal: this.#signal,
    });
    if (etag && etag.length <= MAX_ETAG_LENGTH) return etag;
    throw new AgentError('not_understood', {
      sentence: `The agent service's file storage returned no usable ETag for part ${number}. Upload the file again.`,
      outcome: 'unknown',
    });
  }

  /** The part's URL. URLs expire, so they are requested in small batches. */
  async #urlOf(number: number): Promise<string> {
    if (!this.#urls.has(number)) {
      const missing = this.#parts.filter((part) => part.number >= number && this.#isMissing(part));
      const batch = missing.slice(0, 2 * CONCURRENCY).map((part) => part.number);
      for (const [part, url] of await this.#requestUrls(batch)) this.#urls.set(part, url);
    }
    return this.#requireUrl(this.#urls, number);
  }

  async #requestUrls(numbers: readonly number[]): Promise<Map<number, string>> {
    const { fileId, uploadId } = this.#upload;
    return await this.#client.partUrls(fileId, uploadId, numbers, { signal: this.#signal });
  }

  #requireUrl(urls: ReadonlyMap<number, string>, number: number): string {
    const url = urls.get(number);
    if (url !== undefined) return url;
    throw new AgentError('not_understood', {
      sentence: `The agent service returned no upload link for part ${number}. Upload the file again.`,
      outcome: 'refused',
    });
  }

  #reportProgress(): void {
    const done = this.#parts.filter((part) => !this.#isMissing(part));
    this.#request.onProgress?.(done.reduce((sum, { size }) => sum + size, 0));
  }

  #isMissing({ number }: Part): boolean {
    return !this.#etags.has(number);
  }
}

function* slices(piece: Buffer): Generator<Buffer, void, undefined> {
  for (let at = 0; at < piece.length; at += SLICE_BYTES) yield piece.subarray(at, at + SLICE_BYTES);
}

/** One part: its number at the service, and its bytes in the file. */
interface Part {
  readonly number: number;
  readonly offset: number;
  readonly size: number;
}

/** Splits a file into parts of the given or configured size, raised to S3's limits. Throws above `maxBytes`. */
export function planParts(
  sizeBytes: number,
  givenBytes: number | null,
  serviceOptions: ServiceOptions,
  maxBytes: number,
): { partBytes: number; parts: Part[] } {
  const minBytes = givenBytes ?? Math.max(serviceOptions.partBytes, serviceOptions.leastPartBytes);
  const partBytes = Math.max(minBytes, Math.ceil(sizeBytes / serviceOptions.mostParts));
  if (Math.min(partBytes, sizeBytes) > maxBytes) {
    const needed = `parts of ${Math.ceil(partBytes / MEBIBYTE)} MiB`;
    throw new AgentRejectedError({
      sentence: `The agent service needs ${needed}, but at most ${Math.floor(maxBytes / MEBIBYTE)} MiB fit in memory. Share a smaller file.`,
      outcome: 'not_sent',
      reason: `it needs ${needed}, which is too large`,
    });
  }
  const parts = Array.from({ length: Math.max(1, Math.ceil(sizeBytes / partBytes)) }, (_, index) => ({
    number: index + serviceOptions.firstPartNumber,
    offset: index * partBytes,
    size: Math.min(partBytes, sizeBytes - index * partBytes),
  }));
  return { partBytes, parts };
}
