/** Memory that uploads take their parts' room from. */
export interface UploadMemory {
  /** Waits for room for `size` bytes; rejects with the signal's reason. */
  take(size: number, signal: AbortSignal): Promise<PartRoom>;
}

/** Room for one part of an upload. */
export interface PartRoom {
  readonly bytes: Buffer;
  /** Gives the room back; `reusable` only where nothing can still be reading from it. */
  release(reusable: boolean): void;
}

interface Waiting {
  readonly size: number;
  grant(room: PartRoom): void;
}

/** Bytes that uploads in parts hold at once: five parts of 16 MiB, and a little. */
export const partMemoryBytes = 96 * 1024 * 1024;

/**
 * The memory that all uploads in parts share, so that many at once hold no more than one. Whoever comes first is
 * served first; a part larger than all of it is held alone.
 */
export class PartMemory implements UploadMemory {
  readonly #mostBytes: number;
  readonly #waiting: Waiting[] = [];
  /** Used before, for the next part of the same size: the allocator is slow to give memory back. */
  #kept: Buffer[] = [];
  #usedBytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** Waits for room for `size` bytes; rejects with the signal's reason. */
  async take(size: number, signal: AbortSignal): Promise<PartRoom> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<PartRoom>();
    const waiting: Waiting = { size, grant: resolve };
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
    return await promise.finally(() => signal.removeEventListener('abort', withdraw));
  }

  #serve(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (this.#usedBytes > 0 && this.#usedBytes + next.size > this.#mostBytes) return;
      this.#waiting.shift();
      next.grant(this.#room(next.size));
    }
    if (this.#usedBytes === 0) this.#kept = [];
  }

  #room(size: number): PartRoom {
    const at = this.#kept.findIndex(({ length }) => length === size);
    const bytes = this.#kept.splice(at, at < 0 ? 0 : 1)[0] ?? this.#made(size);
    this.#usedBytes += size;
    let held = true;
    const release = (reusable: boolean) => {
      if (!held) return;
      held = false;
      this.#usedBytes -= size;
      if (reusable) this.#kept.push(bytes);
      this.#serve();
    };
    return { bytes, release };
  }

  #made(size: number): Buffer {
    let keptBytes = this.#kept.reduce((sum, { length }) => sum + length, 0);
    while (keptBytes > 0 && this.#usedBytes + keptBytes + size > this.#mostBytes) {
      keptBytes -= this.#kept.shift()?.length ?? 0;
    }
    return Buffer.allocUnsafeSlow(size);
  }
}

/** What one account may hold of a memory that many share, so that a slow one leaves room for the others: two parts. */
const shareBytes = 32 * 1024 * 1024;

/** An account's share of a memory. */
export class PartShare implements UploadMemory {
  readonly #of: UploadMemory;
  readonly #mostBytes: number;
  readonly #waiting: { size: number; go: () => void }[] = [];
  #usedBytes = 0;

  constructor(of: UploadMemory, mostBytes: number = shareBytes) {
    this.#of = of;
    this.#mostBytes = mostBytes;
  }

  async take(size: number, signal: AbortSignal): Promise<PartRoom> {
    await this.#turn(size, signal);
    let held = true;
    const leave = () => {
      if (held) this.#usedBytes -= size;
      held = false;
      this.#serve();
    };
    try {
      const room = await this.#of.take(size, signal);
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

  async #turn(size: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { size, go: resolve };
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

  #serve(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (this.#usedBytes > 0 && this.#usedBytes + next.size > this.#mostBytes) return;
      this.#waiting.shift();
      this.#usedBytes += next.size;
      next.go();
    }
  }
}
