import { RequestBodyError } from './error-mapping.ts';
import { AgentFileSizeError, AgentRejectedError } from './errors.ts';
import type { ServiceOptions } from './service-options.ts';

const MEBIBYTE = 1024 * 1024;

/** How a file is cut into parts. */
export interface PartPlan {
  /** Bytes of every part but the last. */
  readonly partBytes: number;
  readonly count: number;
}

/**
 * Cuts a file into parts of the size that the service gave, else the dialect's, raised so that there are not
 * too many and none but the last is too small (S3's rules). An empty file is one empty part. Throws
 * AgentRejectedError where a part would be larger than `mostBytes`.
 */
export function planParts(
  sizeBytes: number,
  givenBytes: number | null,
  serviceOptions: Pick<ServiceOptions, 'partBytes' | 'mostParts' | 'leastPartBytes'>,
  mostBytes = Number.POSITIVE_INFINITY,
): PartPlan {
  const least = givenBytes ?? Math.max(serviceOptions.partBytes, serviceOptions.leastPartBytes);
  const partBytes = Math.max(least, Math.ceil(sizeBytes / serviceOptions.mostParts));
  if (Math.min(partBytes, sizeBytes) > mostBytes) {
    const wanted = `parts of ${Math.ceil(partBytes / MEBIBYTE)} MiB`;
    throw new AgentRejectedError({
      sentence: `The agent service wants ${wanted}, and ${Math.floor(mostBytes / MEBIBYTE)} MiB are held at most.`,
      outcome: 'not_sent',
      words: `it wants ${wanted}, which is too large`,
    });
  }
  return { partBytes, count: Math.max(1, Math.ceil(sizeBytes / partBytes)) };
}

/** Bytes of part `index` (from 0). */
export function partSize(plan: PartPlan, sizeBytes: number, index: number): number {
  return Math.max(0, Math.min(plan.partBytes, sizeBytes - index * plan.partBytes));
}

/** Reads a source of chunks in pieces of an asked size, and ends at once when the signal does. */
export class PartReader {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #signal: AbortSignal;
  readonly #sizeBytes: number;
  #unread: Uint8Array = new Uint8Array(0);
  #readBytes: number;
  #ended = false;
  /** Ends the wait for the source. */
  #stop: ((reason: unknown) => void) | undefined;
  readonly #onAbort = () => this.#stop?.(this.#signal.reason);

  /** `offset` is where the source begins in the file of `promised` bytes. */
  constructor(source: AsyncIterable<Uint8Array>, offset: number, promised: number, signal: AbortSignal) {
    this.#source = source[Symbol.asyncIterator]();
    this.#readBytes = offset;
    this.#sizeBytes = promised;
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Fills `piece` with the next bytes. Throws AgentFileSizeError where the source ends before it is full. */
  async fill(piece: Buffer): Promise<void> {
    let filled = 0;
    while (filled < piece.length) {
      const taken = await this.#take(piece.length - filled);
      piece.set(taken, filled);
      filled += taken.length;
    }
  }

  /** Passes over bytes that are not needed. Throws like `fill`. */
  async skip(size: number): Promise<void> {
    let left = size;
    while (left > 0) left -= (await this.#take(left)).length;
  }

  /** Throws AgentFileSizeError where the source goes on. */
  async expectEnd(): Promise<void> {
    if (this.#unread.length > 0 || (await this.#more()))
      throw wrongSizeError(this.#sizeBytes, this.#sizeBytes, 'more');
  }

  /** All bytes as a stream. A chunk is held back until the next is there, so a source too long never completes. */
  async *stream(): AsyncGenerator<Uint8Array, void, undefined> {
    let held: Uint8Array | undefined;
    while (this.#unread.length > 0 || (await this.#more())) {
      this.#readBytes += this.#unread.length;
      if (this.#readBytes > this.#sizeBytes) throw wrongSizeError(this.#sizeBytes, this.#sizeBytes, 'more');
      if (held !== undefined) yield held;
      held = this.#unread;
      this.#unread = new Uint8Array(0);
    }
    if (this.#readBytes < this.#sizeBytes) throw wrongSizeError(this.#sizeBytes, this.#readBytes, 'fewer');
    if (held !== undefined) yield held;
  }

  /** Lets the source go; a source that hangs is not waited for. */
  close(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
    if (this.#ended) return;
    this.#ended = true;
    void this.#source.return?.()?.catch(() => undefined);
  }

  /** The next bytes, `most` at most. */
  async #take(most: number): Promise<Uint8Array> {
    if (this.#unread.length === 0 && !(await this.#more()))
      throw wrongSizeError(this.#sizeBytes, this.#readBytes, 'fewer');
    const taken = this.#unread.subarray(0, most);
    this.#unread = this.#unread.subarray(taken.length);
    this.#readBytes += taken.length;
    return taken;
  }

  async #more(): Promise<boolean> {
    while (!this.#ended) {
      const next = await this.#next();
      if (next.done === true) {
        this.#ended = true;
        return false;
      }
      if (next.value.length > 0) {
        this.#unread = next.value;
        return true;
      }
    }
    return false;
  }

  async #next(): Promise<IteratorResult<Uint8Array>> {
    this.#signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<Uint8Array>>();
    this.#stop = reject;
    try {
      this.#source.next().then(resolve, reject);
      return await promise;
    } catch (error) {
      throw new RequestBodyError(error);
    } finally {
      this.#stop = undefined;
    }
  }
}

/** Throws where a file could never be uploaded as it is described. */
export function assertUploadableSize(sizeBytes: number): void {
  if (Number.isSafeInteger(sizeBytes) && sizeBytes >= 0) return;
  throw new AgentRejectedError({
    sentence: `A file of ${sizeBytes} bytes cannot be uploaded.`,
    outcome: 'not_sent',
    words: '',
  });
}

function wrongSizeError(promised: number, had: number, than: 'fewer' | 'more'): AgentFileSizeError {
  const what = than === 'fewer' ? `ended after ${had} bytes` : 'has more';
  return new AgentFileSizeError({
    sentence: `The file should have ${promised} bytes but ${what}, so it was not attached. Share it again.`,
    outcome: 'refused',
  });
}
