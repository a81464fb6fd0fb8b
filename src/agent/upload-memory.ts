import { ByteSemaphore } from './byte-semaphore.ts';

/** Memory that uploads take their parts' room from. */
export interface UploadMemory {
  /** Bytes of the largest part that it takes. */
  readonly maxPartBytes: number;
  /** Waits for room for `size` bytes; rejects with the signal's reason. */
  acquire(size: number, signal: AbortSignal): Promise<PartBuffer>;
}

/** Room for one part of an upload. */
export interface PartBuffer {
  readonly bytes: Buffer;
  /** Gives the room back; `reusable` only where nothing can still be reading from it. */
  release(reusable: boolean): void;
}

/** Bytes that uploads in parts hold at once: five parts of 16 MiB, and a little. */
export const OPERATOR_UPLOAD_MEMORY_BYTES = 96 * 1024 * 1024;

/**
 * The memory that all uploads in parts share, so that many at once hold no more than one. Whoever comes first is
 * served first; a part larger than all of it is held alone.
 */
export class SharedUploadMemory implements UploadMemory {
  readonly maxPartBytes = Number.POSITIVE_INFINITY;
  readonly #semaphore: ByteSemaphore;
  /** Used before, for the next part of the same size: the allocator is slow to give memory back. */
  #reusable: Buffer[] = [];

  constructor(mostBytes: number) {
    this.#semaphore = new ByteSemaphore(mostBytes);
  }

  /** Waits for room for `size` bytes; rejects with the signal's reason. */
  async acquire(size: number, signal: AbortSignal): Promise<PartBuffer> {
    await this.#semaphore.enter(size, signal);
    const at = this.#reusable.findIndex(({ length }) => length === size);
    const bytes = this.#reusable.splice(at, at < 0 ? 0 : 1)[0] ?? this.#allocate(size);
    let held = true;
    return {
      bytes,
      release: (reusable) => {
        if (!held) return;
        held = false;
        if (reusable) this.#reusable.push(bytes);
        this.#semaphore.leave(size);
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

/** The same for the accounts that workspaces have of their own, all together: none of them takes the operator's. */
export const WORKSPACES_UPLOAD_MEMORY_BYTES = 64 * 1024 * 1024;

/** What one account may hold of a memory that many share, so that a slow one leaves room for the others: two parts. */
const ACCOUNT_SHARE_BYTES = 32 * 1024 * 1024;

/** An account's share of a memory. */
export class UploadMemoryShare implements UploadMemory {
  readonly maxPartBytes: number;
  readonly #shared: UploadMemory;
  readonly #semaphore: ByteSemaphore;

  constructor(of: UploadMemory, mostBytes: number = ACCOUNT_SHARE_BYTES) {
    this.#shared = of;
    this.maxPartBytes = mostBytes;
    this.#semaphore = new ByteSemaphore(mostBytes);
  }

  async acquire(size: number, signal: AbortSignal): Promise<PartBuffer> {
    await this.#semaphore.enter(size, signal);
    let held = true;
    const leave = () => {
      if (held) this.#semaphore.leave(size);
      held = false;
    };
    try {
      const room = await this.#shared.acquire(size, signal);
      return {
        bytes: room.bytes,
        release: (reusable) => {
          room.release(reusable);
          leave();
        },
      };
    } catch (error) {
      leave();
      throw error;
    }
  }
}
