import { ByteSemaphore } from './byte-semaphore.ts';

export interface UploadMemory {
  /** The largest part that fits, in bytes. */
  readonly maxPartBytes: number;
  /** Waits for room for `size` bytes; rejects with the signal's reason. */
  acquire(size: number, signal: AbortSignal): Promise<PartBuffer>;
}

export interface PartBuffer {
  readonly bytes: Buffer;
  /** Gives the memory back; `reusable` only if nothing can still be reading from it. */
  release(reusable: boolean): void;
}

/** The operator's own account: five parts of 16 MiB, and a little more. */
export const OPERATOR_UPLOAD_MEMORY_BYTES = 96 * 1024 * 1024;

/** The memory that all multipart uploads share. First come, first served; a part larger than all of it gets in alone. */
export class SharedUploadMemory implements UploadMemory {
  readonly maxPartBytes = Number.POSITIVE_INFINITY;
  readonly #semaphore: ByteSemaphore;
  /** Kept for the next part of the same size, because the allocator is slow to return memory. */
  #reusable: Buffer[] = [];

  constructor(maxBytes: number) {
    this.#semaphore = new ByteSemaphore(maxBytes);
  }

  /** Waits for room for `size` bytes; rejects with the signal's reason. */
  async acquire(size: number, signal: AbortSignal): Promise<PartBuffer> {
    await this.#semaphore.acquire(size, signal);
    const at = this.#reusable.findIndex(({ length }) => length === size);
    const bytes = this.#reusable.splice(at, at < 0 ? 0 : 1)[0] ?? this.#allocate(size);
    let isHeld = true;
    return {
      bytes,
      release: (reusable) => {
        if (!isHeld) return;
        isHeld = false;
        if (reusable) this.#reusable.push(bytes);
        this.#semaphore.release(size);
        if (this.#semaphore.usedBytes === 0) this.#reusable = [];
      },
    };
  }

  #allocate(size: number): Buffer {
    let keptBytes = this.#reusable.reduce((sum, { length }) => sum + length, 0);
    while (keptBytes > 0 && this.#semaphore.usedBytes + keptBytes > this.#semaphore.maxBytes) {
      keptBytes -= this.#reusable.shift()?.length ?? 0;
    }
    return Buffer.allocUnsafeSlow(size);
  }
}

/** The accounts of all workspaces together. */
export const WORKSPACES_UPLOAD_MEMORY_BYTES = 64 * 1024 * 1024;

/** One workspace's share, so that a slow one leaves room for the others: two parts of 16 MiB. */
const WORKSPACE_SHARE_BYTES = 32 * 1024 * 1024;

/** One workspace's share of a larger memory. */
export class UploadMemoryShare implements UploadMemory {
  readonly maxPartBytes: number;
  readonly #shared: UploadMemory;
  readonly #semaphore: ByteSemaphore;

  constructor(shared: UploadMemory, maxBytes: number = WORKSPACE_SHARE_BYTES) {
    this.#shared = shared;
    this.maxPartBytes = maxBytes;
    this.#semaphore = new ByteSemaphore(maxBytes);
  }

  async acquire(size: number, signal: AbortSignal): Promise<PartBuffer> {
    await this.#semaphore.acquire(size, signal);
    let isHeld = true;
    const leave = () => {
      if (isHeld) this.#semaphore.release(size);
      isHeld = false;
    };
    try {
      const buffer = await this.#shared.acquire(size, signal);
      return {
        bytes: buffer.bytes,
        release: (reusable) => {
          buffer.release(reusable);
          leave();
        },
      };
    } catch (error) {
      leave();
      throw error;
    }
  }
}
