import { unlessAborted } from '../../calls/retries-and-waits.ts';

/** The shortest pause between two reads of a live reply (ms), whatever the rate allows. */
const MIN_READ_INTERVAL_MS = 1_000;

/** After this many permits in a row for due reads, another read gets one. */
const MAX_DUE_IN_A_ROW = 3;

/** Shares the reads under one service key among the live replies of this process. */
export class ReadRate {
  readonly #perSecond: number;
  readonly #dueWaiters: ((granted: boolean) => void)[] = [];
  readonly #otherWaiters: ((granted: boolean) => void)[] = [];
  #dueInARow = 0;
  #readerCount = 0;
  /** When the rate allows the next read, and until when the service asked for a pause. */
  #freeAt = 0;
  #pausedUntil = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** One more live reply reads; call the returned function once it is done. */
  join(): () => void {
    this.#readerCount += 1;
    return () => {
      this.#readerCount -= 1;
    };
  }

  /** How often each live reply may read (ms): once a second, or as often as the rate allows. */
  intervalMs(): number {
    return Math.max(MIN_READ_INTERVAL_MS, (this.#readerCount / this.#perSecond) * 1_000);
  }

  /**
   * Waits for a permit to read, in the order of the calls. A read that an edit waits for gives `dueWithinMs`: it goes
   * before the others, and gives up after that time. False if it gave up, or `wake` was aborted. Rejects with the
   * signal's reason.
   */
  async acquire(signal: AbortSignal, wake?: AbortSignal, dueWithinMs?: number): Promise<boolean> {
    signal.throwIfAborted();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const queue = dueWithinMs === undefined ? this.#otherWaiters : this.#dueWaiters;
    const leave = () => {
      const place = queue.indexOf(resolve);
      if (place >= 0) queue.splice(place, 1);
      resolve(false);
    };
    const timer = dueWithinMs === undefined ? undefined : setTimeout(leave, dueWithinMs);
    for (const one of [signal, wake]) one?.addEventListener('abort', leave);
    queue.push(resolve);
    this.#grantNext();
    const granted = await promise;
    clearTimeout(timer);
    for (const one of [signal, wake]) one?.removeEventListener('abort', leave);
    if (!granted) signal.throwIfAborted();
    return granted;
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
    const step = 1_000 / this.#perSecond;
    // Timers are always a little late: the next one makes up for it, or the rate would never be reached.
    this.#freeAt = Math.max(this.#freeAt, now - step) + step;
    grant(true);
    this.#grantNext();
  }

  /** The next read that gets a permit: however many are due, the others get their share. */
  #nextWaiter(): ((granted: boolean) => void) | undefined {
    const isOthersTurn = this.#dueInARow >= MAX_DUE_IN_A_ROW && this.#otherWaiters.length > 0;
    const due = isOthersTurn ? undefined : this.#dueWaiters.shift();
    this.#dueInARow = due === undefined ? 0 : this.#dueInARow + 1;
    return due ?? this.#otherWaiters.shift();
  }
}
