import { Readable } from 'node:stream';
import type { UploadedPart } from './client-options.ts';
import { RequestBodyError } from './error-mapping.ts';
import { AgentRejectedError, AgentResponseError } from './errors.ts';
import type { FileCalls } from './file-calls.ts';
import { linkCallContext } from './signed-links.ts';
import type { PartBuffer } from './upload-memory.ts';
import { type PartPlan, PartReader, partSize, planParts } from './upload-parts.ts';
import type { AgentUploadRequest, ResumableUpload } from './upload-request.ts';

const DEFAULT_CONCURRENCY = 4;
/** Bytes that go to the connection at once, so that it is seen not to be idle. */
const SLICE_BYTES = 1024 * 1024;

type MultipartState = ResumableUpload & { readonly uploadId: string };

/** Uploads the parts that are not done yet and answers with all of them. */
export async function uploadParts(
  client: FileCalls,
  request: AgentUploadRequest,
  upload: MultipartState,
): Promise<UploadedPart[]> {
  return await new MultipartUpload(client, request, upload).run();
}

class MultipartUpload {
  readonly #client: FileCalls;
  readonly #request: AgentUploadRequest;
  readonly #upload: MultipartState;
  readonly #plan: PartPlan;
  readonly #concurrency: number;
  readonly #etags: Map<number, string>;
  /** Ends all parts when one has failed or the caller stops. */
  readonly #failure = new AbortController();
  readonly #signal: AbortSignal;
  readonly #urls = new Map<number, string>();
  #recording: Promise<void> = Promise.resolve();

  constructor(client: FileCalls, request: AgentUploadRequest, upload: MultipartState) {
    this.#client = client;
    this.#request = request;
    this.#concurrency = request.concurrency ?? DEFAULT_CONCURRENCY;
    this.#plan = planParts(
      request.sizeBytes,
      upload.partBytes,
      client.serviceOptions,
      client.uploadMemory.maxPartBytes,
    );
    this.#upload = { ...upload, partBytes: this.#plan.partBytes };
    this.#etags = new Map(upload.parts.map(({ number, etag }) => [number, etag]));
    this.#signal = AbortSignal.any(
      [request.signal, this.#failure.signal].filter((signal) => signal !== undefined),
    );
  }

  async run(): Promise<UploadedPart[]> {
    if (this.#request.resume?.uploadId !== this.#upload.uploadId) await this.#request.onStart?.(this.#upload);
    this.#reportProgress();
    const missing = this.#missingNumbers();
    if (missing[0] !== undefined) await this.#sendMissing(missing[0]);
    return this.#uploadedParts();
  }

  /** Reads the file once from the first missing part on, with a few parts under way. */
  async #sendMissing(first: number): Promise<void> {
    const reader = await this.#openReader(first);
    const under = new Set<Promise<void>>();
    try {
      for (let index = this.#indexOf(first); index < this.#plan.count; index += 1) {
        const number = this.#numberOf(index);
        const size = partSize(this.#plan, this.#request.sizeBytes, index);
        if (this.#etags.has(number)) await reader.skip(size);
        else await this.#startPart(number, size, reader, under);
      }
      await reader.expectEnd();
    } catch (error) {
      this.#fail(error);
    } finally {
      reader.close();
      await Promise.all(under);
      await this.#recording;
    }
    if (this.#failure.signal.aborted) throw this.#failure.signal.reason;
  }

  /** Reads a part, and sends it off once few enough are `under` way; does not wait for its end. */
  async #startPart(
    number: number,
    size: number,
    reader: PartReader,
    under: Set<Promise<void>>,
  ): Promise<void> {
    const room = await this.#client.uploadMemory.acquire(size, this.#signal);
    try {
      await reader.fill(room.bytes);
      while (under.size >= this.#concurrency) await Promise.race(under);
      const url = await this.#urlOf(number);
      this.#signal.throwIfAborted();
      const sending = this.#sendPart(number, url, room)
        .catch((error: unknown) => this.#fail(error))
        .finally(() => under.delete(sending));
      under.add(sending);
    } catch (error) {
      room.release(false);
      throw error;
    }
  }

  /** The first failure ends the rest, and is the one that the caller sees. */
  #fail(error: unknown): void {
    if (!this.#failure.signal.aborted) this.#failure.abort(error);
  }

  async #openReader(first: number): Promise<PartReader> {
    const { sizeBytes } = this.#request;
    const offset = this.#indexOf(first) * this.#plan.partBytes;
    if ('open' in this.#request) {
      const source = await this.#request.open(offset).catch((error: unknown) => {
        throw new RequestBodyError(error);
      });
      return new PartReader(source, offset, sizeBytes, this.#signal);
    }
    const reader = new PartReader(this.#request.body, 0, sizeBytes, this.#signal);
    await reader.skip(offset);
    return reader;
  }

  async #sendPart(number: number, url: string, room: PartBuffer): Promise<void> {
    let etag: string | undefined;
    try {
      etag = await this.#putPart(number, url, room.bytes).catch(async (error: unknown) => {
        if (!this.#isExpired(error)) throw error;
        this.#urls.delete(number);
        const fresh = await this.#requestUrls([number]);
        return await this.#putPart(number, this.#requireUrl(fresh, number), room.bytes);
      });
    } finally {
      room.release(etag !== undefined);
    }
    this.#etags.set(number, etag);
    this.#recordPart({ number, etag });
    this.#reportProgress();
  }

  /** Has a part recorded, one after the other: the next parts need not wait for that. */
  #recordPart(part: UploadedPart): void {
    const { onPart } = this.#request;
    if (onPart === undefined) return;
    this.#recording = this.#recording.then(() => onPart(part)).catch((error: unknown) => this.#fail(error));
  }

  async #putPart(number: number, url: string, piece: Buffer): Promise<string> {
    const { etag } = await this.#client.uploadToLink({
      context: linkCallContext(`upload link of part ${number}`, this.#client.serviceOptions),
      method: 'PUT',
      url,
      headers: this.#upload.headers ?? {},
      body: () => Readable.from(slices(piece), { objectMode: false, highWaterMark: 2 * SLICE_BYTES }),
      sizeBytes: piece.length,
      repeat: true,
      signal: this.#signal,
    });
    if (etag !== undefined) return etag;
    throw new AgentResponseError({
      sentence: `The agent service's file storage took part ${number} but gave no ETag for it.`,
      outcome: 'unknown',
    });
  }

  /** The part's URL; URLs are asked for in small batches because they expire. */
  async #urlOf(number: number): Promise<string> {
    if (!this.#urls.has(number)) {
      const asked = this.#missingNumbers().filter((other) => other >= number);
      const batch = asked.slice(0, 2 * this.#concurrency);
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
    throw new AgentResponseError({
      sentence: `The agent service gave no upload link for part ${number}.`,
      outcome: 'refused',
    });
  }

  #isExpired(error: unknown): boolean {
    const statuses = this.#client.serviceOptions.expiredLinkStatuses;
    return (
      error instanceof AgentRejectedError && error.status !== undefined && statuses.includes(error.status)
    );
  }

  #reportProgress(): void {
    let doneBytes = 0;
    for (const number of this.#etags.keys()) {
      doneBytes += partSize(this.#plan, this.#request.sizeBytes, this.#indexOf(number));
    }
    this.#request.onProgress?.(doneBytes);
  }

  #uploadedParts(): UploadedPart[] {
    return [...this.#etags]
      .map(([number, etag]) => ({ number, etag }))
      .toSorted((one, other) => one.number - other.number);
  }

  #missingNumbers(): number[] {
    const all = Array.from({ length: this.#plan.count }, (_, index) => this.#numberOf(index));
    return all.filter((number) => !this.#etags.has(number));
  }

  #numberOf(index: number): number {
    return index + this.#client.serviceOptions.firstPartNumber;
  }

  #indexOf(number: number): number {
    return number - this.#client.serviceOptions.firstPartNumber;
  }
}

function* slices(piece: Buffer): Generator<Buffer, void, undefined> {
  for (let at = 0; at < piece.length; at += SLICE_BYTES) yield piece.subarray(at, at + SLICE_BYTES);
}
