/** Limits the bytes in use at once. First come, first served; a request larger than the limit gets in alone. */
export class ByteSemaphore {
  readonly maxBytes: number;
  readonly #waiting: { size: number; grant: () => void }[] = [];
  #usedBytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Waits until `size` bytes fit; rejects with the signal's reason. */
  async acquire(size: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { size, grant: resolve };
    const withdraw = () => {
      const at = this.#waiting.indexOf(waiting);
      if (at < 0) return;
      this.#waiting.splice(at, 1);
      reject(signal.reason);
      this.#serve();
    };
    signal.addEventListener('abort', withdraw, { once: true });
    this.#waiting.push(waiting);
    this.#serve();
    await promise.finally(() => signal.removeEventListener('abort', withdraw));
  }

  /** Gives `size` acquired bytes back. */
  release(size: number): void {
    this.#usedBytes -= size;
    this.#serve();
  }

  #serve(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (this.#usedBytes > 0 && this.#usedBytes + next.size > this.maxBytes) return;
      this.#waiting.shift();
      this.#usedBytes += next.size;
      next.grant();
    }
  }
}
