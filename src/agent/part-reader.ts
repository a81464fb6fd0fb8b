import { unlessAborted } from '../calls/waits.ts';
import { RequestBodyError } from './error-mapping.ts';
import { AgentError } from './errors.ts';
import type { AgentUploadRequest } from './request-bodies.ts';

/** Opens a file at an offset; an error of its source is thrown as the cause of a RequestBodyError. */
export async function openSource(
  { open }: Pick<AgentUploadRequest, 'open'>,
  offset: number,
): Promise<AsyncIterable<Uint8Array>> {
  try {
    return await open(offset);
  } catch (error) {
    throw new RequestBodyError(error);
  }
}

/** Reads a stream of chunks in pieces of any size, and ends as soon as the signal aborts. */
export class PartReader {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #signal: AbortSignal;
  readonly #sizeBytes: number;
  #unread: Uint8Array = new Uint8Array(0);
  #readBytes: number;
  #ended = false;

  /** `offset` is where the source starts in the file of `sizeBytes` bytes. */
  constructor(source: AsyncIterable<Uint8Array>, offset: number, sizeBytes: number, signal: AbortSignal) {
    this.#source = source[Symbol.asyncIterator]();
    this.#readBytes = offset;
    this.#sizeBytes = sizeBytes;
    this.#signal = signal;
  }

  /** Fills `piece` with the next bytes. Throws an AgentError (`wrong_size`) if the source ends too early. */
  async fill(piece: Buffer): Promise<void> {
    for (let filled = 0; filled < piece.length; ) {
      const taken = await this.#take(piece.length - filled);
      piece.set(taken, filled);
      filled += taken.length;
    }
  }

  /** Skips bytes. Throws like `fill`. */
  async skip(size: number): Promise<void> {
    let left = size;
    while (left > 0) left -= (await this.#take(left)).length;
  }

  /** Throws an AgentError (`wrong_size`) if the source has more bytes. */
  async expectEnd(): Promise<void> {
    if (await this.#hasMore()) throw wrongSizeError(this.#sizeBytes, this.#sizeBytes, 'more');
  }

  /** All other bytes as a stream. The last ones wait for the source's end, so that one that is too long never completes. */
  async *stream(): AsyncGenerator<Uint8Array, void, undefined> {
    for (let left = this.#sizeBytes - this.#readBytes; left > 0; ) {
      const taken = await this.#take(left);
      left -= taken.length;
      if (left === 0) await this.expectEnd();
      yield taken;
    }
    await this.expectEnd();
  }

  /** Closes the source without waiting for it. */
  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    void this.#source.return?.()?.catch(() => undefined);
  }

  /** The next bytes, `maxBytes` at most. */
  async #take(maxBytes: number): Promise<Uint8Array> {
    if (!(await this.#hasMore())) throw wrongSizeError(this.#sizeBytes, this.#readBytes, 'fewer');
    const taken = this.#unread.subarray(0, maxBytes);
    this.#unread = this.#unread.subarray(taken.length);
    this.#readBytes += taken.length;
    return taken;
  }

  /** Reads on until there are unread bytes or the source ends. */
  async #hasMore(): Promise<boolean> {
    while (!this.#ended && this.#unread.length === 0) {
      this.#signal.throwIfAborted();
      const next = await unlessAborted(this.#source.next(), this.#signal).catch((error: unknown) => {
        throw new RequestBodyError(error);
      });
      if (next.done === true) this.#ended = true;
      else this.#unread = next.value;
    }
    return this.#unread.length > 0;
  }
}

function wrongSizeError(sizeBytes: number, readBytes: number, found: 'fewer' | 'more'): AgentError {
  const what = found === 'fewer' ? `ended after ${readBytes} bytes` : 'has more';
  return new AgentError('wrong_size', {
    sentence: `The file should have ${sizeBytes} bytes but ${what}, so it was not attached. Share it again.`,
    outcome: 'refused',
  });
}
