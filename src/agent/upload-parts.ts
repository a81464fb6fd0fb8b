import { unlessAborted } from '../calls/retries-and-waits.ts';
import { AgentError } from './errors.ts';
import { BrokenRequestError } from './http-request.ts';
import type { AgentUploadRequest } from './request-bodies.ts';

export interface PartBuffer {
  readonly bytes: Buffer;
  /** Gives the memory back, once; `reusable` only if nothing can still be reading from it. */
  release(reusable: boolean): void;
}

/** The operator's own account: five parts of 16 MiB, and a little more. */
export const OPERATOR_UPLOAD_MEMORY_BYTES = 96 * 1024 * 1024;

/** The accounts of all workspaces together. */
export const WORKSPACES_UPLOAD_MEMORY_BYTES = 64 * 1024 * 1024;

/** One workspace's share, so that a slow one leaves room for the others: two parts of 16 MiB. */
const WORKSPACE_SHARE_BYTES = 32 * 1024 * 1024;

/** The memory that multipart uploads share. First come, first served. */
export class UploadMemory {
  /** The largest part that fits, in bytes. In a memory that is not a share, a part larger than all of it gets in alone. */
  readonly maxPartBytes: number;
  readonly #maxBytes: number;
  readonly #whole: UploadMemory | undefined;
  #usedBytes = 0;
  /** Settles once everyone who came before has got room, or has left. */
  #earlier: Promise<void> = Promise.resolve();
  /** Resolves when memory is given back. */
  #released = Promise.withResolvers<void>();
  /** Kept for the next part of the same size, because the allocator is slow to return memory. */
  #reusable: Buffer[] = [];

  /** With `whole`, a share of that larger memory. */
  constructor(maxBytes: number, whole?: UploadMemory) {
    this.maxPartBytes = whole === undefined ? Number.POSITIVE_INFINITY : maxBytes;
    this.#maxBytes = maxBytes;
    this.#whole = whole;
  }

  /** One workspace's share of this memory. */
  share(maxBytes: number = WORKSPACE_SHARE_BYTES): UploadMemory {
    return new UploadMemory(maxBytes, this);
  }

  /** Waits for room for `size` bytes; rejects with the signal's reason. */
  async acquire(size: number, signal: AbortSignal): Promise<PartBuffer> {
    signal.throwIfAborted();
    await this.#waitForRoom(size, signal);
    const whole = await this.#whole?.acquire(size, signal).catch((error: unknown) => {
      this.#release(size);
      throw error;
    });
    const bytes = whole?.bytes ?? this.#takeBuffer(size);
    const release = (reusable: boolean) => {
      whole?.release(reusable);
      if (reusable && whole === undefined) this.#reusable.push(bytes);
      this.#release(size);
    };
    return { bytes, release };
  }

  async #waitForRoom(size: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const earlier = this.#earlier;
    this.#earlier = promise;
    try {
      await unlessAborted(earlier, signal);
      while (this.#usedBytes > 0 && this.#usedBytes + size > this.#maxBytes)
        await unlessAborted(this.#released.promise, signal);
      this.#usedBytes += size;
    } finally {
      resolve(earlier);
    }
  }

  #release(size: number): void {
    this.#usedBytes -= size;
    if (this.#usedBytes === 0) this.#reusable = [];
    this.#released.resolve();
    this.#released = Promise.withResolvers();
  }

  #takeBuffer(size: number): Buffer {
    const at = this.#reusable.findIndex(({ length }) => length === size);
    if (at >= 0) return this.#reusable.splice(at, 1)[0] ?? Buffer.allocUnsafeSlow(size);
    let keptBytes = this.#reusable.reduce((sum, { length }) => sum + length, 0);
    while (keptBytes > 0 && this.#usedBytes + keptBytes > this.#maxBytes) {
      keptBytes -= this.#reusable.shift()?.length ?? 0;
    }
    return Buffer.allocUnsafeSlow(size);
  }
}

/** Opens a file at an offset; an error of its source is thrown as the cause of a BrokenRequestError. */
export async function openSource(
  { open }: Pick<AgentUploadRequest, 'open'>,
  offset: number,
): Promise<AsyncIterable<Uint8Array>> {
  try {
    return await open(offset);
  } catch (error) {
    throw new BrokenRequestError('unread_body', error);
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
  [Symbol.dispose](): void {
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
        throw new BrokenRequestError('unread_body', error);
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
