import { unlessAborted } from '../../calls/retries-and-waits.ts';
import { RELAY_LIMITS } from '../../limits.ts';
import { type Lease, waitWithLease } from './lease.ts';

/** After this many permits in a row for due reads, another read gets one. */
const MAX_DUE_IN_A_ROW = 3;

/** When a read may come (`performance.now()`): from `notBefore`; at once while an edit waits, until `dueUntil`. */
export interface ReadTimes {
  notBefore: number;
  dueUntil: number;
}

/** Shares the reads under one service key among the live replies of this process. */
export class ReadRate {
  readonly #perSecond: number;
  readonly #leastIntervalMs: number;
  /** The reads that wait for a permit, in the order of their requests, with what grants it. */
  readonly #waiting = new Map<ReadTimes, () => void>();
  #dueInARow = 0;
  #readerCount = 0;
  /** When the rate allows the next read, and until when the service asked for a pause. */
  #freeAt = 0;
  #pausedUntil = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(perSecond: number, leastIntervalMs = RELAY_LIMITS.readIntervalMs) {
    this.#perSecond = perSecond;
    this.#leastIntervalMs = leastIntervalMs;
  }

  /** One more live reply reads, until what this returns is disposed of. */
  join(): Disposable {
    this.#readerCount += 1;
    return {
      [Symbol.dispose]: () => {
        this.#readerCount -= 1;
      },
    };
  }

  /** How often a live reply may read (ms): once a second, twice if it may end soon, or as often as the rate allows. */
  intervalMs(mayEndSoon = false): number {
    const leastMs = mayEndSoon ? this.#leastIntervalMs / 2 : this.#leastIntervalMs;
    return Math.max(leastMs, (this.#readerCount / this.#perSecond) * 1_000);
  }

  /** Waits for a permit to read: due reads go first. Throws an Interruption, or the lease's reason. */
  acquire(lease: Lease, times: ReadTimes = { notBefore: performance.now(), dueUntil: 0 }): Promise<void> {
    return waitWithLease(lease, (grant) => {
      this.#waiting.set(times, grant);
      this.#grantNext();
      return () => this.#waiting.delete(times);
    });
  }

  /** Makes a read due for so long (ms), whether it waits for its permit now or only later. */
  makeDue(times: ReadTimes, forMs: number): void {
    times.dueUntil = performance.now() + forMs;
    this.#grantNext();
  }

  /** The service asks for a pause (ms): no read gets a permit. */
  pauseFor(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms);
  }

  /** Waits for the end of a pause that the service asked for. Rejects with the signal's reason. */
  async waitForPauseEnd(signal: AbortSignal): Promise<void> {
    for (let left = this.#pauseLeftMs(); left > 0; left = this.#pauseLeftMs()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      setTimeout(resolve, left).unref();
      await unlessAborted(promise, signal);
    }
  }

  #pauseLeftMs(): number {
    return this.#pausedUntil - performance.now();
  }

  /** Grants a permit as soon as one may be used. However many reads are due, the others get their share. */
  #grantNext(): void {
    clearTimeout(this.#timer);
    const now = performance.now();
    // The due read whose time ends first, and the other read that may come first.
    let due: ReadTimes | undefined;
    let other: ReadTimes | undefined;
    for (const times of this.#waiting.keys())
      if (times.dueUntil <= now)
        other = other !== undefined && other.notBefore <= times.notBefore ? other : times;
      else due = due !== undefined && due.dueUntil <= times.dueUntil ? due : times;
    const otherAt = other?.notBefore ?? Number.POSITIVE_INFINITY;
    const at = Math.max(this.#freeAt, this.#pausedUntil, due === undefined ? otherAt : now);
    const isOthersTurn = this.#dueInARow >= MAX_DUE_IN_A_ROW && otherAt <= now;
    const next = isOthersTurn ? other : (due ?? other);
    if (next === undefined) return;
    if (at > now) {
      this.#timer = setTimeout(() => this.#grantNext(), at - now);
      return;
    }
    this.#dueInARow = next === due ? this.#dueInARow + 1 : 0;
    const step = 1_000 / this.#perSecond;
    // Timers are always a little late: the next one makes up for it, or the rate would never be reached.
    this.#freeAt = Math.max(this.#freeAt, now - step) + step;
    this.#waiting.get(next)?.();
    this.#waiting.delete(next);
    this.#grantNext();
  }
}
