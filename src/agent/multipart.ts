import { AgentAnswerError, AgentRejectedError } from './errors.ts';
import { BodyFailure } from './failure.ts';
import type { FileCalls } from './file-calls.ts';
import { linkCall } from './links.ts';
import type { UploadedPart } from './options.ts';
import { type PartPlan, PieceReader, partSize, planParts } from './parts.ts';
import type { MultipartProgress, UploadRequest } from './upload-request.ts';

const usualConcurrency = 4;

/** Uploads the parts that are not done yet and answers with all of them. */
export async function uploadParts(
  client: FileCalls,
  request: UploadRequest,
  progress: MultipartProgress,
): Promise<UploadedPart[]> {
  return await new Multipart(client, request, progress).run();
}

class Multipart {
  readonly #client: FileCalls;
  readonly #request: UploadRequest;
  readonly #progress: MultipartProgress;
  readonly #plan: PartPlan;
  readonly #done: Map<number, string>;
  /** Ends all parts when one has failed or the caller stops. */
  readonly #failed = new AbortController();
  readonly #signal: AbortSignal;
  readonly #urls = new Map<number, string>();

  constructor(client: FileCalls, request: UploadRequest, progress: MultipartProgress) {
    this.#client = client;
    this.#request = request;
    this.#plan = planParts(request.sizeBytes, progress.partBytes, client.dialect);
    this.#progress = { ...progress, partBytes: this.#plan.partBytes };
    this.#done = new Map(progress.parts.map(({ number, etag }) => [number, etag]));
    this.#signal = AbortSignal.any(
      [request.signal, this.#failed.signal].filter((signal) => signal !== undefined),
    );
  }

  async run(): Promise<UploadedPart[]> {
    await this.#tell();
    const missing = this.#missing();
    if (missing[0] !== undefined) await this.#send(missing[0]);
    return this.#parts();
  }

  /** Reads the file once from the first missing part on, with a few parts under way. */
  async #send(first: number): Promise<void> {
    const concurrency = this.#request.concurrency ?? usualConcurrency;
    const reader = await this.#reader(first);
    const under = new Set<Promise<void>>();
    try {
      for (let index = this.#indexOf(first); index < this.#plan.count; index += 1) {
        const number = this.#numberOf(index);
        const size = partSize(this.#plan, this.#request.sizeBytes, index);
        if (this.#done.has(number)) {
          await reader.skip(size);
          continue;
        }
        const piece = await reader.piece(size);
        while (under.size >= concurrency) await Promise.race(under);
        const url = await this.#urlOf(number);
        const sending = this.#sendPart(number, url, piece)
          .catch((error: unknown) => this.#fail(error))
          .finally(() => under.delete(sending));
        under.add(sending);
      }
      await reader.end();
    } catch (error) {
      this.#fail(error);
    } finally {
      reader.close();
      await Promise.all(under);
    }
    if (this.#failed.signal.aborted) throw this.#failed.signal.reason;
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

  async #sendPart(number: number, url: string, piece: Buffer): Promise<void> {
    const etag = await this.#putPart(number, url, piece).catch(async (error: unknown) => {
      if (!this.#isExpired(error)) throw error;
      this.#urls.delete(number);
      const fresh = await this.#ask([number]);
      return await this.#putPart(number, this.#one(fresh, number), piece);
    });
    this.#done.set(number, etag);
    await this.#tell();
  }

  async #putPart(number: number, url: string, piece: Buffer): Promise<string> {
    const { etag } = await this.#client.putLink({
      called: linkCall(`upload link of part ${number}`, this.#client.dialect),
      method: 'PUT',
      url,
      headers: this.#progress.headers ?? {},
      body: () => piece,
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
      const batch = 2 * (this.#request.concurrency ?? usualConcurrency);
      const asked = this.#missing().filter((other) => other >= number);
      for (const [part, url] of await this.#ask(asked.slice(0, batch))) this.#urls.set(part, url);
    }
    return this.#one(this.#urls, number);
  }

  async #ask(numbers: readonly number[]): Promise<Map<number, string>> {
    const { fileId, uploadId } = this.#progress;
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

  async #tell(): Promise<void> {
    const parts = this.#parts();
    const doneBytes = parts.reduce((sum, { number }) => {
      return sum + partSize(this.#plan, this.#request.sizeBytes, this.#indexOf(number));
    }, 0);
    this.#request.onProgress?.(doneBytes);
    await this.#request.onPart?.({ ...this.#progress, parts });
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
