import type { InterruptibleWait } from './retry.ts';

/** A live reply is read at most so often (ms), whatever the rate allows. */
const MIN_READ_INTERVAL_MS = 1_000;

/** After so many turns in a row for reads whose edit is due, another that waits gets one. */
const MAX_DUE_IN_A_ROW = 3;

/** How somebody waits for a turn. */
export interface ReadPermitOptions {
  /** An edit waits for the read: it goes before the others. */
  readonly isDue?: boolean;
  /** Give up when there is no turn within this time (ms). */
  readonly withinMs?: number;
  /** Can be ended early. */
  readonly wait?: InterruptibleWait;
}

/** Shares the reads under one service key among the live replies of this process. */
export class ReadRate {
  readonly #perSecond: number;
  readonly #dueWaiters: ((granted: boolean) => void)[] = [];
  readonly #otherWaiters: ((granted: boolean) => void)[] = [];
  #grantedInARow = 0;
  #readerCount = 0;
  /** When the rate has room for the next read, and until when the service asked for a pause. */
  #freeAt = 0;
  #pausedUntil = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `perSecond`: the most reads a second. */
  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** One more live reply reads; call the answer when it is done. */
  join(): () => void {
    this.#readerCount += 1;
    let left = false;
    return () => {
      if (!left) this.#readerCount -= 1;
      left = true;
    };
  }

  /** How often each live reply may read (ms): once a second, or as often as the rate allows. */
  intervalMs(): number {
    return Math.max(MIN_READ_INTERVAL_MS, (this.#readerCount / this.#perSecond) * 1_000);
  }

  /**
   * Waits until the rate has room, in the order of asking, those that are due first. False where the time was up or the
   * wait was ended before. Rejects with the signal's reason.
   */
  async acquire(
    signal: AbortSignal,
    { isDue = false, withinMs, wait }: ReadPermitOptions = {},
  ): Promise<boolean> {
    signal.throwIfAborted();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const queue = isDue ? this.#dueWaiters : this.#otherWaiters;
    const leave = () => {
      const place = queue.indexOf(resolve);
      if (place >= 0) queue.splice(place, 1);
      resolve(false);
    };
    const timer = withinMs === undefined ? undefined : setTimeout(leave, withinMs);
    if (wait !== undefined) wait.end = leave;
    signal.addEventListener('abort', leave, { once: true });
    queue.push(resolve);
    this.#grantNext();
    const granted = await promise;
    clearTimeout(timer);
    if (wait?.end === leave) wait.end = undefined;
    signal.removeEventListener('abort', leave);
    if (!granted) signal.throwIfAborted();
    return granted;
  }

  /** The service asks for a pause (ms): nobody reads. */
  pauseFor(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms);
  }

  /** Waits for the end of a pause that the service asked for. Rejects with the signal's reason. */
  async waitForPauseEnd(signal: AbortSignal): Promise<void> {
    for (let left = this.#pauseLeftMs(); left > 0; left = this.#pauseLeftMs()) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, left);
      const leave = () => reject(signal.reason);
      signal.addEventListener('abort', leave, { once: true });
      await promise.finally(() => {
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
      });
    }
  }

  #pauseLeftMs(): number {
    return this.#pausedUntil - performance.now();
  }

  #countRead(now: number): void {
    const step = 1_000 / this.#perSecond;
    // A timer is always a little late: the next one makes up for it, or the rate would never be reached.
    this.#freeAt = Math.max(this.#freeAt, now - step) + step;
  }

  #grantNext(): void {
    if (this.#timer !== undefined || this.#dueWaiters.length + this.#otherWaiters.length === 0) return;
    const now = performance.now();
    const at = Math.max(this.#freeAt, this.#pausedUntil);
    if (at > now) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.#grantNext();
      }, at - now);
      return;
    }
    const grant = this.#nextWaiter();
    if (grant === undefined) return;
    this.#countRead(now);
    grant(true);
    this.#grantNext();
  }

  /** Who has the next turn: however many are due, the others have their share. */
  #nextWaiter(): ((granted: boolean) => void) | undefined {
    const passesOver = this.#dueWaiters.length > 0 && this.#otherWaiters.length > 0;
    if (!passesOver) this.#grantedInARow = 0;
    else if (this.#grantedInARow < MAX_DUE_IN_A_ROW) this.#grantedInARow += 1;
    else {
      this.#grantedInARow = 0;
      return this.#otherWaiters.shift();
    }
    return this.#dueWaiters.shift() ?? this.#otherWaiters.shift();
  }
}
