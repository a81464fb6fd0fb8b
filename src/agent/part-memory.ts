import { ByteGate } from './byte-gate.ts';

/** Memory that uploads take their parts' room from. */
export interface UploadMemory {
  /** Bytes of the largest part that it takes. */
  readonly mostPartBytes: number;
  /** Waits for room for `size` bytes; rejects with the signal's reason. */
  take(size: number, signal: AbortSignal): Promise<PartRoom>;
}

/** Room for one part of an upload. */
export interface PartRoom {
  readonly bytes: Buffer;
  /** Gives the room back; `reusable` only where nothing can still be reading from it. */
  release(reusable: boolean): void;
}

/** Bytes that uploads in parts hold at once: five parts of 16 MiB, and a little. */
export const partMemoryBytes = 96 * 1024 * 1024;

/**
 * The memory that all uploads in parts share, so that many at once hold no more than one. Whoever comes first is
 * served first; a part larger than all of it is held alone.
 */
export class PartMemory implements UploadMemory {
  readonly mostPartBytes = Number.POSITIVE_INFINITY;
  readonly #gate: ByteGate;
  /** Used before, for the next part of the same size: the allocator is slow to give memory back. */
  #kept: Buffer[] = [];

  constructor(mostBytes: number) {
    this.#gate = new ByteGate(mostBytes);
  }

  /** Waits for room for `size` bytes; rejects with the signal's reason. */
  async take(size: number, signal: AbortSignal): Promise<PartRoom> {
    await this.#gate.enter(size, signal);
    const at = this.#kept.findIndex(({ length }) => length === size);
    const bytes = this.#kept.splice(at, at < 0 ? 0 : 1)[0] ?? this.#made(size);
    let held = true;
    return {
      bytes,
      release: (reusable) => {
        if (!held) return;
        held = false;
        if (reusable) this.#kept.push(bytes);
        this.#gate.leave(size);
        if (this.#gate.usedBytes === 0) this.#kept = [];
      },
    };
  }

  #made(size: number): Buffer {
    let keptBytes = this.#kept.reduce((sum, { length }) => sum + length, 0);
    while (keptBytes > 0 && this.#gate.usedBytes + keptBytes > this.#gate.mostBytes) {
      keptBytes -= this.#kept.shift()?.length ?? 0;
    }
    return Buffer.allocUnsafeSlow(size);
  }
}

/** The same for the accounts that workspaces have of their own, all together: none of them takes the operator's. */
export const ownPartMemoryBytes = 64 * 1024 * 1024;

/** What one account may hold of a memory that many share, so that a slow one leaves room for the others: two parts. */
const shareBytes = 32 * 1024 * 1024;

/** An account's share of a memory. */
export class PartShare implements UploadMemory {
  readonly mostPartBytes: number;
  readonly #of: UploadMemory;
  readonly #gate: ByteGate;

  constructor(of: UploadMemory, mostBytes: number = shareBytes) {
    this.#of = of;
    this.mostPartBytes = mostBytes;
    this.#gate = new ByteGate(mostBytes);
  }

  async take(size: number, signal: AbortSignal): Promise<PartRoom> {
    await this.#gate.enter(size, signal);
    let held = true;
    const leave = () => {
      if (held) this.#gate.leave(size);
      held = false;
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
}
