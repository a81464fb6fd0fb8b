import type { Readable } from 'node:stream';
import { readText } from './exchange.ts';

const mebibyte = 1024 * 1024;

/** What the JSON answers of a service may take, so that none fills the memory or keeps the process busy. */
export interface AnswerBounds {
  /** Bytes of one answer. */
  readonly mostBytes: number;
  /** Objects, lists and members of one answer, whose parsing takes far more memory than its bytes. */
  readonly mostValues: number;
  /** Bytes of all answers that are being read at one time: `mostBytes` are kept for the oldest, the others wait. */
  readonly atOnceBytes: number;
  /** Bytes of all pages of one list. */
  readonly listBytes: number;
  /** Bytes a second in the long run: reads wait until the service is within it. */
  readonly bytesPerSecond: number;
}

/** For the operator's own service. */
export const operatorBounds: AnswerBounds = {
  mostBytes: 64 * mebibyte,
  mostValues: 4_000_000,
  atOnceBytes: 256 * mebibyte,
  listBytes: 512 * mebibyte,
  bytesPerSecond: Number.POSITIVE_INFINITY,
};

/** For a service that an admin of a workspace named: other workspaces must not feel what it answers. */
export const tenantBounds: AnswerBounds = {
  // One answer may be 500,000 characters outside the basic plane, each escaped in 12 bytes, beside what was asked.
  mostBytes: 16 * mebibyte,
  mostValues: 100_000,
  atOnceBytes: 48 * mebibyte,
  listBytes: 64 * mebibyte,
  bytesPerSecond: 4 * mebibyte,
};

/** How deep an answer's lists and objects may lie in each other. */
const mostDepth = 100;
/** What may come at once before reads wait (seconds of `bytesPerSecond`). */
const burstSeconds = 8;

/** An answer that is being read, as far as it is. */
interface Read {
  bytes: number;
}

/** Reads the answers of one service within their bounds. */
export class AnswerReader {
  readonly bounds: AnswerBounds;
  /** What is being read, the oldest first. */
  readonly #reads = new Set<Read>();
  /** Reads that found no room. */
  readonly #waiting = new Set<() => void>();
  /** Until when what was read is paid off (ms, as `performance.now()`). */
  #paidAt = Number.NEGATIVE_INFINITY;

  constructor(bounds: AnswerBounds) {
    this.bounds = bounds;
  }

  /** How long the next read has to wait (ms). */
  waitMs(now: number = performance.now()): number {
    return Math.max(0, this.#paidAt - now - burstSeconds * 1_000);
  }

  /** For sentences: what one answer may hold at most. */
  get most(): string {
    const { mostBytes, mostValues } = this.bounds;
    return `${Math.floor(mostBytes / mebibyte)} MiB and ${mostValues} values`;
  }

  /** An answer's text; `whole` is false where it is larger than one may be. Waits where too much is read at once. */
  async text(body: Readable): Promise<{ text: string; whole: boolean; bytes: number }> {
    const held: Read = { bytes: 0 };
    const onBytes = async (size: number) => {
      const now = performance.now();
      this.#paidAt = Math.max(this.#paidAt, now) + (size / this.bounds.bytesPerSecond) * 1_000;
      held.bytes += size;
      while (!this.#hasRoom(held) && !body.destroyed) await this.#change(body);
    };
    this.#reads.add(held);
    try {
      return { ...(await readText(body, this.bounds.mostBytes, onBytes)), bytes: held.bytes };
    } finally {
      this.#reads.delete(held);
      for (const wake of this.#waiting) wake();
    }
  }

  /** Whether a JSON text holds no more than may be parsed. */
  isModest(text: string): boolean {
    return isModest(text, this.bounds.mostValues);
  }

  /** The oldest may always go on, so that what waits for room gets it. */
  #hasRoom(held: Read): boolean {
    const [oldest, ...others] = this.#reads;
    const othersBytes = others.reduce((sum, { bytes }) => sum + bytes, 0);
    return held === oldest || othersBytes <= this.bounds.atOnceBytes - this.bounds.mostBytes;
  }

  /** Waits until another read is over, or this body's own is. */
  async #change(body: Readable): Promise<void> {
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
export function isModest(text: string, mostValues: number): boolean {
  let values = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case '"': {
        const end = endOfString(text, at);
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
    if (values > mostValues || depth > mostDepth) return false;
  }
  return true;
}

/** The place of the quote that ends a string which begins at `from`; -1 where none does. */
function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text[before] === '\\') before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return -1;
}
