/** A live reply is read at most so often (ms), whatever the rate allows. */
const shortestMs = 1_000;

/** Shares the reads under one service key among the live replies of this process. */
export class ReadRate {
  readonly #perSecond: number;
  readonly #waiting: (() => void)[] = [];
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

  /** Waits until the rate has room, in the order of asking. Rejects with the signal's reason. */
  async turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const go = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(go);
      this.#serve();
    });
  }

  /** A read whose edit is due goes at once; the others make room for it. */
  due(): void {
    this.#take(performance.now());
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
    if (this.#timer !== undefined) return;
    const now = performance.now();
    const at = Math.max(this.#freeAt, this.#heldUntil);
    if (at > now) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.#serve();
      }, at - now);
      return;
    }
    const go = this.#waiting.shift();
    if (go === undefined) return;
    this.#take(now);
    go();
    this.#serve();
  }
}
