import { unlessAborted } from '../calls/retries-and-waits.ts';
import { AgentError } from './errors.ts';
import { BrokenRequestError } from './http-request.ts';
import type { AgentUploadRequest } from './request-bodies.ts';

/** The bytes of a file that is uploaded. Its source is opened once, and again for a piece that does not follow the one before. */
export class FileBytes {
  readonly #request: AgentUploadRequest;
  readonly #signal: AbortSignal;
  /** Where the last piece has ended. */
  #next: SourceReader | undefined;

  constructor(request: AgentUploadRequest) {
    this.#request = request;
    this.#signal = request.signal ?? new AbortController().signal;
  }

  /**
   * The bytes from `offset` on, `size` of them. Opens nothing before the first one is taken. Throws an AgentError
   * (`wrong_size`) if the file has more or fewer bytes than announced, and the source's errors as BrokenRequestError.
   */
  async *piece(offset: number, size: number): AsyncGenerator<Uint8Array, void, undefined> {
    const reader = this.#next?.at === offset ? this.#next : await this.#open(offset);
    this.#next = undefined;
    try {
      yield* reader.take(size);
      this.#next = reader;
    } finally {
      if (this.#next === undefined) reader.close();
    }
  }

  /** Closes the source without waiting for it. */
  close(): void {
    this.#next?.close();
  }

  async #open(offset: number): Promise<SourceReader> {
    this.close();
    const source = await this.#request.open(offset).catch(asUnreadBody);
    return new SourceReader(source, offset, this.#request.sizeBytes, this.#signal);
  }
}

/** An error of the source. */
function asUnreadBody(error: unknown): never {
  throw new BrokenRequestError('unread_body', error);
}

/** Reads a stream of chunks in pieces of any size, and ends as soon as the signal aborts. */
class SourceReader {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #signal: AbortSignal;
  readonly #sizeBytes: number;
  #unread: Uint8Array = new Uint8Array(0);
  #ended = false;
  /** Where the next byte is in the file of `sizeBytes` bytes. */
  at: number;

  constructor(source: AsyncIterable<Uint8Array>, offset: number, sizeBytes: number, signal: AbortSignal) {
    this.#source = source[Symbol.asyncIterator]();
    this.at = offset;
    this.#sizeBytes = sizeBytes;
    this.#signal = signal;
  }

  /** The next bytes. The file's last ones wait for the source's end, so that one that is too long never completes. */
  async *take(size: number): AsyncGenerator<Uint8Array, void, undefined> {
    const end = this.at + size;
    while (this.at < end) {
      if (!(await this.#hasMore())) throw this.#wrongSize(`ended after ${this.at} bytes`);
      const taken = this.#unread.subarray(0, end - this.at);
      this.#unread = this.#unread.subarray(taken.length);
      this.at += taken.length;
      if (this.at === this.#sizeBytes) await this.#expectEnd();
      yield taken;
    }
    if (this.at === this.#sizeBytes) await this.#expectEnd();
  }

  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    void this.#source.return?.()?.catch(() => undefined);
  }

  async #expectEnd(): Promise<void> {
    if (await this.#hasMore()) throw this.#wrongSize('has more');
  }

  /** Reads on until there are unread bytes or the source ends. */
  async #hasMore(): Promise<boolean> {
    while (!this.#ended && this.#unread.length === 0) {
      this.#signal.throwIfAborted();
      const next = await unlessAborted(this.#source.next(), this.#signal).catch(asUnreadBody);
      if (next.done === true) this.#ended = true;
      else this.#unread = next.value;
    }
    return this.#unread.length > 0;
  }

  #wrongSize(found: string): AgentError {
    return new AgentError('wrong_size', {
      sentence: `The file should have ${this.#sizeBytes} bytes but ${found}, so it was not attached. Share it again.`,
      outcome: 'refused',
    });
  }
}
