import { Readable } from 'node:stream';
import { AgentAnswerError, AgentRejectedError } from './errors.ts';
import { BodyFailure } from './failure.ts';
import type { FileCalls } from './file-calls.ts';
import { linkCall } from './links.ts';
import type { UploadedPart } from './options.ts';
import type { PartRoom } from './part-memory.ts';
import { type PartPlan, PieceReader, partSize, planParts } from './parts.ts';
import type { BegunUpload, UploadRequest } from './upload-request.ts';

const usualConcurrency = 4;
/** Bytes that go to the connection at once, so that it is seen not to be idle. */
const sliceBytes = 1024 * 1024;

type Upload = BegunUpload & { readonly uploadId: string };

/** Uploads the parts that are not done yet and answers with all of them. */
export async function uploadParts(
  client: FileCalls,
  request: UploadRequest,
  upload: Upload,
): Promise<UploadedPart[]> {
  return await new Multipart(client, request, upload).run();
}

class Multipart {
  readonly #client: FileCalls;
  readonly #request: UploadRequest;
  readonly #upload: Upload;
  readonly #plan: PartPlan;
  readonly #concurrency: number;
  readonly #done: Map<number, string>;
  /** Ends all parts when one has failed or the caller stops. */
  readonly #failed = new AbortController();
  readonly #signal: AbortSignal;
  readonly #urls = new Map<number, string>();
  #noting: Promise<void> = Promise.resolve();

  constructor(client: FileCalls, request: UploadRequest, upload: Upload) {
    this.#client = client;
    this.#request = request;
    this.#concurrency = request.concurrency ?? usualConcurrency;
    this.#plan = planParts(
      request.sizeBytes,
      upload.partBytes,
      client.dialect,
      client.partMemory.mostPartBytes,
    );
    this.#upload = { ...upload, partBytes: this.#plan.partBytes };
    this.#done = new Map(upload.parts.map(({ number, etag }) => [number, etag]));
    this.#signal = AbortSignal.any(
      [request.signal, this.#failed.signal].filter((signal) => signal !== undefined),
    );
  }

  async run(): Promise<UploadedPart[]> {
    if (this.#request.resume?.uploadId !== this.#upload.uploadId) await this.#request.onStart?.(this.#upload);
    this.#tell();
    const missing = this.#missing();
    if (missing[0] !== undefined) await this.#send(missing[0]);
    return this.#parts();
  }

  /** Reads the file once from the first missing part on, with a few parts under way. */
  async #send(first: number): Promise<void> {
    const reader = await this.#reader(first);
    const under = new Set<Promise<void>>();
    try {
      for (let index = this.#indexOf(first); index < this.#plan.count; index += 1) {
        const number = this.#numberOf(index);
        const size = partSize(this.#plan, this.#request.sizeBytes, index);
        if (this.#done.has(number)) await reader.skip(size);
        else await this.#begin(number, size, reader, under);
      }
      await reader.end();
    } catch (error) {
      this.#fail(error);
    } finally {
      reader.close();
      await Promise.all(under);
      await this.#noting;
    }
    if (this.#failed.signal.aborted) throw this.#failed.signal.reason;
  }

  /** Reads a part, and sends it off once few enough are `under` way; does not wait for its end. */
  async #begin(number: number, size: number, reader: PieceReader, under: Set<Promise<void>>): Promise<void> {
    const room = await this.#client.partMemory.take(size, this.#signal);
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
    if (!this.#failed.signal.aborted) this.#failed.abort(error);
  }

  async #reader(first: number): Promise<PieceReader> {
    const { sizeBytes } = this.#request;
    const offset = this.#indexOf(first) * this.#plan.partBytes;
    if ('open' in this.#request) {
      const source = await this.#request.open(offset).catch((error: unknown) => {
        throw new BodyFailure(error);
      });
      return new PieceReader(source, offset, sizeBytes, this.#signal);
    }
    const reader = new PieceReader(this.#request.body, 0, sizeBytes, this.#signal);
    await reader.skip(offset);
    return reader;
  }

  async #sendPart(number: number, url: string, room: PartRoom): Promise<void> {
    let etag: string | undefined;
    try {
      etag = await this.#putPart(number, url, room.bytes).catch(async (error: unknown) => {
        if (!this.#isExpired(error)) throw error;
        this.#urls.delete(number);
        const fresh = await this.#ask([number]);
        return await this.#putPart(number, this.#one(fresh, number), room.bytes);
      });
    } finally {
      room.release(etag !== undefined);
    }
    this.#done.set(number, etag);
    this.#note({ number, etag });
    this.#tell();
  }

  /** Has a part recorded, one after the other: the next parts need not wait for that. */
  #note(part: UploadedPart): void {
    const { onPart } = this.#request;
    if (onPart === undefined) return;
    this.#noting = this.#noting.then(() => onPart(part)).catch((error: unknown) => this.#fail(error));
  }

  async #putPart(number: number, url: string, piece: Buffer): Promise<string> {
    const { etag } = await this.#client.putLink({
      called: linkCall(`upload link of part ${number}`, this.#client.dialect),
      method: 'PUT',
      url,
      headers: this.#upload.headers ?? {},
      body: () => Readable.from(slices(piece), { objectMode: false, highWaterMark: 2 * sliceBytes }),
      sizeBytes: piece.length,
      repeat: true,
      signal: this.#signal,
    });
    if (etag !== undefined) return etag;
    throw new AgentAnswerError({
      sentence: `The agent service's file storage took part ${number} but gave no ETag for it.`,
      outcome: 'unknown',
    });
  }

  /** The part's URL; URLs are asked for in small batches because they expire. */
  async #urlOf(number: number): Promise<string> {
    if (!this.#urls.has(number)) {
      const asked = this.#missing().filter((other) => other >= number);
      const batch = asked.slice(0, 2 * this.#concurrency);
      for (const [part, url] of await this.#ask(batch)) this.#urls.set(part, url);
    }
    return this.#one(this.#urls, number);
  }

  async #ask(numbers: readonly number[]): Promise<Map<number, string>> {
    const { fileId, uploadId } = this.#upload;
    return await this.#client.partUrls(fileId, uploadId, numbers, { signal: this.#signal });
  }

  #one(urls: ReadonlyMap<number, string>, number: number): string {
    const url = urls.get(number);
    if (url !== undefined) return url;
    throw new AgentAnswerError({
      sentence: `The agent service gave no upload link for part ${number}.`,
      outcome: 'refused',
    });
  }

  #isExpired(error: unknown): boolean {
    const statuses = this.#client.dialect.expiredLinkStatuses;
    return (
      error instanceof AgentRejectedError && error.status !== undefined && statuses.includes(error.status)
    );
  }

  #tell(): void {
    let doneBytes = 0;
    for (const number of this.#done.keys()) {
      doneBytes += partSize(this.#plan, this.#request.sizeBytes, this.#indexOf(number));
    }
    this.#request.onProgress?.(doneBytes);
  }

  #parts(): UploadedPart[] {
    return [...this.#done]
      .map(([number, etag]) => ({ number, etag }))
      .toSorted((one, other) => one.number - other.number);
  }

  #missing(): number[] {
    const all = Array.from({ length: this.#plan.count }, (_, index) => this.#numberOf(index));
    return all.filter((number) => !this.#done.has(number));
  }

  #numberOf(index: number): number {
    return index + this.#client.dialect.firstPartNumber;
  }

  #indexOf(number: number): number {
    return number - this.#client.dialect.firstPartNumber;
  }
}

function* slices(piece: Buffer): Generator<Buffer, void, undefined> {
  for (let at = 0; at < piece.length; at += sliceBytes) yield piece.subarray(at, at + sliceBytes);
}
