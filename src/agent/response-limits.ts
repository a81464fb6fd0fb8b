import type { Readable } from 'node:stream';
import { readText } from '../calls/content-coding.ts';
import { AgentError } from './errors.ts';
import { MEBIBYTE } from './service-options.ts';

/** Limits of a service's JSON responses, so that none fills the memory or blocks the process. */
export interface ResponseLimits {
  readonly maxBytes: number;
  /** Objects, lists and members of one response: parsed, they take far more memory than its bytes. */
  readonly maxValues: number;
  /** Bytes of one owner's responses in progress. `maxBytes` of it is kept for the oldest; the others wait. */
  readonly maxConcurrentBytes: number;
  /** Bytes of all pages of one list. */
  readonly maxListBytes: number;
  /** Average bytes per second: reads wait until the service is within it. */
  readonly bytesPerSecond: number;
}

/** For the operator's own service. */
export const OPERATOR_RESPONSE_LIMITS: ResponseLimits = {
  maxBytes: 64 * MEBIBYTE,
  maxValues: 4_000_000,
  maxConcurrentBytes: 256 * MEBIBYTE,
  maxListBytes: 512 * MEBIBYTE,
  bytesPerSecond: Number.POSITIVE_INFINITY,
};

/** For a service that a workspace admin set: its responses must not slow down other workspaces. */
export const WORKSPACE_RESPONSE_LIMITS: ResponseLimits = {
  // A reply may hold 500,000 characters outside the basic plane, each escaped in 12 bytes, and the question.
  maxBytes: 16 * MEBIBYTE,
  maxValues: 100_000,
  maxConcurrentBytes: 32 * MEBIBYTE,
  maxListBytes: 64 * MEBIBYTE,
  bytesPerSecond: 4 * MEBIBYTE,
};

/** Bytes of the responses in progress of all workspaces' own services. Parsing one response takes four times its bytes. */
export const WORKSPACES_RESPONSE_BYTES = 32 * MEBIBYTE;

const MAX_DEPTH = 100;
/** How much may arrive at once before reads wait (seconds of `bytesPerSecond`). */
const BURST_SECONDS = 8;

/** Reads the responses of one service within its limits. */
export class ResponseReader {
  readonly limits: ResponseLimits;
  readonly #share: ResponseMemoryShare;
  /** When the bytes read so far fit `bytesPerSecond` (ms, as `performance.now()`). */
  #withinRateAt = Number.NEGATIVE_INFINITY;

  constructor(
    limits: ResponseLimits,
    share: ResponseMemoryShare = { memory: new ResponseMemory(), owner: '' },
  ) {
    this.limits = limits;
    this.#share = share;
  }

  /** How long the next read has to wait (ms). */
  waitMs(now: number = performance.now()): number {
    return Math.max(0, this.#withinRateAt - now - BURST_SECONDS * 1_000);
  }

  /** For error sentences: the limits of one response. */
  get maxDescription(): string {
    const { maxBytes, maxValues } = this.limits;
    return `${Math.floor(maxBytes / MEBIBYTE)} MiB and ${maxValues} values`;
  }

  /** Adds up the pages that `list` reads. Throws an AgentError (`not_understood`) when the whole list is too large. */
  withListLimit<Cursor, Page extends { bytes: number }>(
    list: (cursor: Cursor) => Promise<Page>,
  ): (cursor: Cursor) => Promise<Page> {
    let bytes = 0;
    return async (cursor) => {
      const page = await list(cursor);
      bytes += page.bytes;
      if (bytes <= this.limits.maxListBytes) return page;
      const sentence = 'A list from the agent service is too large to read. Continue in a new thread.';
      throw new AgentError('not_understood', { sentence, outcome: 'refused' });
    };
  }

  /** A response's text; `isWhole` is false if it is too large. Waits while other responses use the memory. */
  async readText(body: Readable): Promise<{ text: string; isWhole: boolean; bytes: number }> {
    const { maxBytes, maxConcurrentBytes, bytesPerSecond } = this.limits;
    const { memory, owner } = this.#share;
    using read = memory.begin(body, owner);
    const onBytes = async (size: number) => {
      this.#withinRateAt = Math.max(this.#withinRateAt, performance.now()) + (size / bytesPerSecond) * 1_000;
      await memory.add(read, size, maxConcurrentBytes - maxBytes);
    };
    return { ...(await readText(body, maxBytes, onBytes)), bytes: read.bytes };
  }
}

/** Whether a JSON text holds at most `maxValues` values, none of them nested too deeply. */
export function isJsonWithinLimits(text: string, maxValues: number): boolean {
  let values = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case '"': {
        const end = closingQuote(text, at);
        // Not JSON.
        if (end < 0) return true;
        at = end;
        break;
      }
      case '[':
      case '{':
        depth += 1;
        values += 1;
        break;
      case ']':
      case '}':
        depth -= 1;
        break;
      case ',':
        values += 1;
        break;
    }
    if (values > maxValues || depth > MAX_DEPTH) return false;
  }
  return true;
}

/** The index of the quote that ends the string starting at `from`, or -1. */
function closingQuote(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text[before] === '\\') before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return -1;
}

/** Counts until it is disposed of. */
interface PendingRead extends Disposable {
  readonly body: Readable;
  readonly owner: string;
  bytes: number;
}

/** A workspace's share of the memory: all of its accounts have the same `owner`. */
export interface ResponseMemoryShare {
  readonly memory: ResponseMemory;
  readonly owner: string;
}

/** The memory for responses in progress. Once it is full, the owner that uses most loses a response. */
export class ResponseMemory {
  readonly #maxBytes: number;
  /** The oldest first. */
  readonly #reads = new Set<PendingRead>();
  /** Resolves when a response has been read, or is given up. */
  #changed = Promise.withResolvers<void>();

  constructor(maxBytes: number = Number.POSITIVE_INFINITY) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return bytesOf([...this.#reads]);
  }

  begin(body: Readable, owner: string): PendingRead {
    const read: PendingRead = { body, owner, bytes: 0, [Symbol.dispose]: () => this.#end(read) };
    this.#reads.add(read);
    body.once('close', () => this.#wake());
    return read;
  }

  /** Adds bytes to a response, and waits while its owner's others use more than `maxOtherBytes`. The oldest never waits. */
  async add(read: PendingRead, size: number, maxOtherBytes: number): Promise<void> {
    read.bytes += size;
    while (this.bytes > this.#maxBytes) this.#abandonLargest();
    while (!this.#mayContinue(read, maxOtherBytes) && !read.body.destroyed) await this.#changed.promise;
  }

  #end(read: PendingRead): void {
    this.#reads.delete(read);
    this.#wake();
  }

  #mayContinue(read: PendingRead, maxOtherBytes: number): boolean {
    const own = [...this.#reads].filter(({ owner }) => owner === read.owner);
    return read === own[0] || bytesOf(own) - read.bytes <= maxOtherBytes;
  }

  /** Gives the memory of a response back: it breaks, and its call may be repeated. */
  #abandonLargest(): void {
    const byOwner = [...Map.groupBy(this.#reads, ({ owner }) => owner).values()];
    const [most] = byOwner.sort((a, b) => bytesOf(b) - bytesOf(a));
    const [largest] = most?.sort((a, b) => b.bytes - a.bytes) ?? [];
    if (largest === undefined) return;
    largest.body.destroy(new Error('The responses of the agent services take too much memory'));
    this.#end(largest);
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

function bytesOf(reads: readonly PendingRead[]): number {
  return reads.reduce((sum, { bytes }) => sum + bytes, 0);
}
