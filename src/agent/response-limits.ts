import type { Readable } from 'node:stream';
import { readText } from './http-request.ts';

const MEBIBYTE = 1024 * 1024;

/** What the JSON answers of a service may take, so that none fills the memory or keeps the process busy. */
export interface ResponseLimits {
  /** Bytes of one answer. */
  readonly maxBytes: number;
  /** Objects, lists and members of one answer, whose parsing takes far more memory than its bytes. */
  readonly maxValues: number;
  /** Bytes of all answers that are being read at one time: `mostBytes` are kept for the oldest, the others wait. */
  readonly maxConcurrentBytes: number;
  /** Bytes of all pages of one list. */
  readonly maxListBytes: number;
  /** Bytes a second in the long run: reads wait until the service is within it. */
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

/** For a service that an admin of a workspace named: other workspaces must not feel what it answers. */
export const WORKSPACE_RESPONSE_LIMITS: ResponseLimits = {
  // One answer may be 500,000 characters outside the basic plane, each escaped in 12 bytes, beside what was asked.
  maxBytes: 16 * MEBIBYTE,
  maxValues: 100_000,
  maxConcurrentBytes: 48 * MEBIBYTE,
  maxListBytes: 64 * MEBIBYTE,
  bytesPerSecond: 4 * MEBIBYTE,
};

/** How deep an answer's lists and objects may lie in each other. */
const MAX_DEPTH = 100;
/** What may come at once before reads wait (seconds of `bytesPerSecond`). */
const BURST_SECONDS = 8;

/** An answer that is being read, as far as it is. */
interface PendingRead {
  bytes: number;
}

/** Reads the answers of one service within their bounds. */
export class ResponseReader {
  readonly limits: ResponseLimits;
  /** What is being read, the oldest first. */
  readonly #reads = new Set<PendingRead>();
  /** Reads that found no room. */
  readonly #waiting = new Set<() => void>();
  /** Until when what was read is paid off (ms, as `performance.now()`). */
  #paidOffAt = Number.NEGATIVE_INFINITY;

  constructor(bounds: ResponseLimits) {
    this.limits = bounds;
  }

  /** How long the next read has to wait (ms). */
  waitMs(now: number = performance.now()): number {
    return Math.max(0, this.#paidOffAt - now - BURST_SECONDS * 1_000);
  }

  /** For sentences: what one answer may hold at most. */
  get maxDescription(): string {
    const { maxBytes: mostBytes, maxValues: mostValues } = this.limits;
    return `${Math.floor(mostBytes / MEBIBYTE)} MiB and ${mostValues} values`;
  }

  /** An answer's text; `whole` is false where it is larger than one may be. Waits where too much is read at once. */
  async readText(body: Readable): Promise<{ text: string; whole: boolean; bytes: number }> {
    const held: PendingRead = { bytes: 0 };
    const onBytes = async (size: number) => {
      const now = performance.now();
      this.#paidOffAt = Math.max(this.#paidOffAt, now) + (size / this.limits.bytesPerSecond) * 1_000;
      held.bytes += size;
      while (!this.#hasRoom(held) && !body.destroyed) await this.#waitForRoom(body);
    };
    this.#reads.add(held);
    try {
      return { ...(await readText(body, this.limits.maxBytes, onBytes)), bytes: held.bytes };
    } finally {
      this.#reads.delete(held);
      for (const wake of this.#waiting) wake();
    }
  }

  /** Whether a JSON text holds no more than may be parsed. */
  isWithinLimits(text: string): boolean {
    return isJsonWithinLimits(text, this.limits.maxValues);
  }

  /** The oldest may always go on, so that what waits for room gets it. */
  #hasRoom(held: PendingRead): boolean {
    const [oldest, ...others] = this.#reads;
    const othersBytes = others.reduce((sum, { bytes }) => sum + bytes, 0);
    return held === oldest || othersBytes <= this.limits.maxConcurrentBytes - this.limits.maxBytes;
  }

  /** Waits until another read is over, or this body's own is. */
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

/** Whether a JSON text holds at most so many values, none of them too deep. */
export function isJsonWithinLimits(text: string, mostValues: number): boolean {
  let values = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case '"': {
        const end = closingQuote(text, at);
        // It is no JSON then.
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
    if (values > mostValues || depth > MAX_DEPTH) return false;
  }
  return true;
}

/** The place of the quote that ends a string which begins at `from`; -1 where none does. */
function closingQuote(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text[before] === '\\') before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return -1;
}
