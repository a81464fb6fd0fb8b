export interface PartBuffer {
  readonly bytes: Buffer;
  /** Gives the memory back, once; `reusable` only if nothing can still be reading from it. */
  release(reusable: boolean): void;
}

/** The operator's own account: five parts of 16 MiB, and a little more. */
export const OPERATOR_UPLOAD_MEMORY_BYTES = 96 * 1024 * 1024;

/** The accounts of all workspaces together. */
export const WORKSPACES_UPLOAD_MEMORY_BYTES = 64 * 1024 * 1024;

/** One workspace's share, so that a slow one leaves room for the others: two parts of 16 MiB. */
const WORKSPACE_SHARE_BYTES = 32 * 1024 * 1024;

/** The memory that multipart uploads share. First come, first served. */
export class UploadMemory {
  /** The largest part that fits, in bytes. In a memory that is not a share, a part larger than all of it gets in alone. */
  readonly maxPartBytes: number;
  readonly #semaphore: ByteSemaphore;
  readonly #whole: UploadMemory | undefined;
  /** Kept for the next part of the same size, because the allocator is slow to return memory. */
  #reusable: Buffer[] = [];

  /** With `whole`, a share of that larger memory. */
  constructor(maxBytes: number, whole?: UploadMemory) {
    this.maxPartBytes = whole === undefined ? Number.POSITIVE_INFINITY : maxBytes;
    this.#semaphore = new ByteSemaphore(maxBytes);
    this.#whole = whole;
  }

  /** One workspace's share of this memory. */
  share(maxBytes: number = WORKSPACE_SHARE_BYTES): UploadMemory {
    return new UploadMemory(maxBytes, this);
  }

  /** Waits for room for `size` bytes; rejects with the signal's reason. */
  async acquire(size: number, signal: AbortSignal): Promise<PartBuffer> {
    await this.#semaphore.acquire(size, signal);
    const whole = await this.#whole?.acquire(size, signal).catch((error: unknown) => {
      this.#semaphore.release(size);
      throw error;
    });
    const bytes = whole?.bytes ?? this.#takeBuffer(size);
    const release = (reusable: boolean) => {
      whole?.release(reusable);
      if (reusable && whole === undefined) this.#reusable.push(bytes);
      this.#semaphore.release(size);
      if (this.#semaphore.usedBytes === 0) this.#reusable = [];
    };
    return { bytes, release };
  }

  #takeBuffer(size: number): Buffer {
    const at = this.#reusable.findIndex(({ length }) => length === size);
    if (at >= 0) return this.#reusable.splice(at, 1)[0] ?? Buffer.allocUnsafeSlow(size);
    let keptBytes = this.#reusable.reduce((sum, { length }) => sum + length, 0);
    while (keptBytes > 0 && this.#semaphore.usedBytes + keptBytes > this.#semaphore.maxBytes) {
      keptBytes -= this.#reusable.shift()?.length ?? 0;
    }
    return Buffer.allocUnsafeSlow(size);
  }
}

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
