import type { Readable } from 'node:stream';
import { AgentResponseError } from './errors.ts';
import { readText } from './http-request.ts';
import { MEBIBYTE } from './service-options.ts';

/** Limits of a service's JSON responses, so that none fills the memory or blocks the process. */
export interface ResponseLimits {
  /** Bytes of one response. */
  readonly maxBytes: number;
  /** Objects, lists and members of one response: parsed, they take far more memory than its bytes. */
  readonly maxValues: number;
  /** Bytes of all responses in progress. `maxBytes` of it is kept for the oldest; the others wait. */
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
  maxConcurrentBytes: 48 * MEBIBYTE,
  maxListBytes: 64 * MEBIBYTE,
  bytesPerSecond: 4 * MEBIBYTE,
};

/** Nesting depth of lists and objects. */
const MAX_DEPTH = 100;
/** How much may arrive at once before reads wait (seconds of `bytesPerSecond`). */
const BURST_SECONDS = 8;

/** A response in progress. */
interface PendingRead {
  bytes: number;
}

/** Reads the responses of one service within its limits. */
export class ResponseReader {
  readonly limits: ResponseLimits;
  /** Responses in progress, the oldest first. */
  readonly #reads = new Set<PendingRead>();
  /** Wakes the reads that wait for room. */
  readonly #waiting = new Set<() => void>();
  /** When the bytes read so far fit `bytesPerSecond` (ms, as `performance.now()`). */
  #withinRateAt = Number.NEGATIVE_INFINITY;

  constructor(limits: ResponseLimits) {
    this.limits = limits;
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

  /** Adds up the pages that `list` reads. Throws AgentResponseError when the whole list is too large. */
  withListLimit<Cursor, Page extends { bytes: number }>(
    list: (cursor: Cursor) => Promise<Page>,
  ): (cursor: Cursor) => Promise<Page> {
    let bytes = 0;
    return async (cursor) => {
      const page = await list(cursor);
      bytes += page.bytes;
      if (bytes <= this.limits.maxListBytes) return page;
      const sentence = 'A list from the agent service is too large to read. Continue in a new thread.';
      throw new AgentResponseError({ sentence, outcome: 'refused' });
    };
  }

  /** A response's text; `isWhole` is false if it is too large. Waits while other responses use the memory. */
  async readText(body: Readable): Promise<{ text: string; isWhole: boolean; bytes: number }> {
    const read: PendingRead = { bytes: 0 };
    const onBytes = async (size: number) => {
      const now = performance.now();
      this.#withinRateAt = Math.max(this.#withinRateAt, now) + (size / this.limits.bytesPerSecond) * 1_000;
      read.bytes += size;
      while (!this.#hasRoom(read) && !body.destroyed) await this.#waitForRoom(body);
    };
    this.#reads.add(read);
    try {
      return { ...(await readText(body, this.limits.maxBytes, onBytes)), bytes: read.bytes };
    } finally {
      this.#reads.delete(read);
      for (const wake of this.#waiting) wake();
    }
  }

  /** Whether a JSON text is within the limits for parsing. */
  isWithinLimits(text: string): boolean {
    return isJsonWithinLimits(text, this.limits.maxValues);
  }

  /** The oldest may always continue, so that the others get room in the end. */
  #hasRoom(read: PendingRead): boolean {
    const [oldest, ...others] = this.#reads;
    const othersBytes = others.reduce((sum, { bytes }) => sum + bytes, 0);
    return read === oldest || othersBytes <= this.limits.maxConcurrentBytes - this.limits.maxBytes;
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
