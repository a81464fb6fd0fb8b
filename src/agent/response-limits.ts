import type { Readable } from 'node:stream';
import { AgentError } from './errors.ts';
import { readText } from './http-request.ts';
import { MEBIBYTE } from './service-options.ts';

/** Limits of a service's JSON responses, so that none fills the memory or blocks the process. */
export interface ResponseLimits {
  /** Bytes of one response. */
  readonly maxBytes: number;
  /** Objects, lists and members of one response: parsed, they take far more memory than its bytes. */
  readonly maxValues: number;
  /** Bytes of one client's responses in progress. `maxBytes` of it is kept for the oldest; the others wait. */
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
  readonly #memory: ResponseMemoryShare;
  /** When the bytes read so far fit `bytesPerSecond` (ms, as `performance.now()`). */
  #withinRateAt = Number.NEGATIVE_INFINITY;

  constructor(limits: ResponseLimits, memory: ResponseMemoryShare = new ResponseMemoryShare()) {
    this.limits = limits;
    this.#memory = memory;
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
    const read = this.#memory.begin(body);
    const onBytes = async (size: number) => {
      this.#withinRateAt = Math.max(this.#withinRateAt, performance.now()) + (size / bytesPerSecond) * 1_000;
      await this.#memory.add(read, size, maxConcurrentBytes - maxBytes);
    };
    try {
      return { ...(await readText(body, maxBytes, onBytes)), bytes: read.bytes };
    } finally {
      this.#memory.end(read);
    }
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

export interface PendingRead {
  readonly body: Readable;
  bytes: number;
}

/** The memory for responses in progress of several clients. Once it is full, the one that uses most loses a response. */
export class ResponseMemory {
  readonly #maxBytes: number;
  readonly #shares = new Set<ResponseMemoryShare>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** A client's share has grown, or has been used up. */
  onChanged(share: ResponseMemoryShare): void {
    if (share.bytes > 0) this.#shares.add(share);
    else this.#shares.delete(share);
    while (this.#totalBytes() > this.#maxBytes) {
      const [largest] = [...this.#shares].sort((a, b) => b.bytes - a.bytes);
      largest?.abandonLargest();
    }
  }

  #totalBytes(): number {
    return [...this.#shares].reduce((sum, { bytes }) => sum + bytes, 0);
  }
}

/** One client's share of that memory. Several accounts of a workspace have one share. */
export class ResponseMemoryShare {
  readonly #memory: ResponseMemory | undefined;
  /** Responses in progress, the oldest first. */
  readonly #reads = new Set<PendingRead>();
  /** Wakes the reads that wait for room. */
  readonly #waiting = new Set<() => void>();

  constructor(memory?: ResponseMemory) {
    this.#memory = memory;
  }

  /** Bytes of the responses in progress. */
  get bytes(): number {
    return [...this.#reads].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  begin(body: Readable): PendingRead {
    const read = { body, bytes: 0 };
    this.#reads.add(read);
    return read;
  }

  /** Adds bytes to a response, and waits while the others use more than `maxOtherBytes`. The oldest never waits. */
  async add(read: PendingRead, size: number, maxOtherBytes: number): Promise<void> {
    read.bytes += size;
    this.#memory?.onChanged(this);
    while (!this.#mayContinue(read, maxOtherBytes) && !read.body.destroyed)
      await this.#waitForRoom(read.body);
  }

  end(read: PendingRead): void {
    this.#reads.delete(read);
    this.#memory?.onChanged(this);
    for (const wake of this.#waiting) wake();
  }

  /** Gives the memory of the largest response back: it breaks, and its call may be repeated. */
  abandonLargest(): void {
    const [largest] = [...this.#reads].sort((a, b) => b.bytes - a.bytes);
    if (largest === undefined) return;
    largest.body.destroy(new Error('The responses of the agent services take too much memory'));
    this.end(largest);
  }

  #mayContinue(read: PendingRead, maxOtherBytes: number): boolean {
    const [oldest] = this.#reads;
    return read === oldest || this.bytes - read.bytes <= maxOtherBytes;
  }

  /** Waits until another response has been read, or this body closes. */
  async #waitForRoom(body: Readable): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        body.off('close', wake);
        resolve();
      };
      this.#waiting.add(wake);
      body.once('close', wake);
    });
  }
}
