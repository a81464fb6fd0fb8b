import type { Wait } from '../patience.ts';

/** A live reply is read at most so often (ms), whatever the rate allows. */
const shortestMs = 1_000;

/** After so many turns in a row for reads whose edit is due, another that waits gets one. */
const dueInARow = 3;

/** How somebody waits for a turn. */
export interface TurnManner {
  /** An edit waits for the read: it goes before the others. */
  readonly due?: boolean;
  /** Give up when there is no turn within this time (ms). */
  readonly withinMs?: number;
  /** Can be ended early. */
  readonly wait?: Wait;
}

/** Shares the reads under one service key among the live replies of this process. */
export class ReadRate {
  readonly #perSecond: number;
  readonly #due: ((had: boolean) => void)[] = [];
  readonly #others: ((had: boolean) => void)[] = [];
  #dueGiven = 0;
  #members = 0;
  /** When the rate has room for the next read, and until when the service asked for a pause. */
  #freeAt = 0;
  #heldUntil = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `perSecond`: the most reads a second. */
  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** One more live reply reads; call the answer when it is done. */
  join(): () => void {
    this.#members += 1;
    let left = false;
    return () => {
      if (!left) this.#members -= 1;
      left = true;
    };
  }

  /** How often each live reply may read (ms): once a second, or as often as the rate allows. */
  intervalMs(): number {
    return Math.max(shortestMs, (this.#members / this.#perSecond) * 1_000);
  }

  /**
   * Waits until the rate has room, in the order of asking, those that are due first. False where the time was up or the
   * wait was ended before. Rejects with the signal's reason.
   */
  async turn(signal: AbortSignal, { due = false, withinMs, wait }: TurnManner = {}): Promise<boolean> {
    signal.throwIfAborted();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const queue = due ? this.#due : this.#others;
    const leave = () => {
      const place = queue.indexOf(resolve);
      if (place >= 0) queue.splice(place, 1);
      resolve(false);
    };
    const timer = withinMs === undefined ? undefined : setTimeout(leave, withinMs);
    if (wait !== undefined) wait.end = leave;
    signal.addEventListener('abort', leave, { once: true });
    queue.push(resolve);
    this.#serve();
    const had = await promise;
    clearTimeout(timer);
    if (wait?.end === leave) wait.end = undefined;
    signal.removeEventListener('abort', leave);
    if (!had) signal.throwIfAborted();
    return had;
  }

  /** The service asks for a pause (ms): nobody reads. */
  hold(ms: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, performance.now() + ms);
  }

  /** Waits for the end of a pause that the service asked for. Rejects with the signal's reason. */
  async open(signal: AbortSignal): Promise<void> {
    for (let left = this.#left(); left > 0; left = this.#left()) {
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

  #left(): number {
    return this.#heldUntil - performance.now();
  }

  #take(now: number): void {
    const step = 1_000 / this.#perSecond;
    // A timer is always a little late: the next one makes up for it, or the rate would never be reached.
    this.#freeAt = Math.max(this.#freeAt, now - step) + step;
  }

  #serve(): void {
    if (this.#timer !== undefined || this.#due.length + this.#others.length === 0) return;
    const now = performance.now();
    const at = Math.max(this.#freeAt, this.#heldUntil);
    if (at > now) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.#serve();
      }, at - now);
      return;
    }
    const go = this.#next();
    if (go === undefined) return;
    this.#take(now);
    go(true);
    this.#serve();
  }

  /** Who has the next turn: however many are due, the others have their share. */
  #next(): ((had: boolean) => void) | undefined {
    const passesOver = this.#due.length > 0 && this.#others.length > 0;
    if (!passesOver) this.#dueGiven = 0;
    else if (this.#dueGiven < dueInARow) this.#dueGiven += 1;
    else {
      this.#dueGiven = 0;
      return this.#others.shift();
    }
    return this.#due.shift() ?? this.#others.shift();
  }
}
