import type { Readable } from 'node:stream';

export interface PendingRead {
  readonly body: Readable;
  bytes: number;
}

/** The memory for responses in progress of several clients. Once it is full, the one that uses most loses a response. */
export class ResponseMemory {
  readonly #maxBytes: number;
  readonly #shares = new Set<ResponseMemoryShare>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** A client's share has grown, or has been used up. */
  onChanged(share: ResponseMemoryShare): void {
    if (share.bytes > 0) this.#shares.add(share);
    else this.#shares.delete(share);
    while (this.#totalBytes() > this.#maxBytes) {
      const [largest] = [...this.#shares].sort((a, b) => b.bytes - a.bytes);
      largest?.abandonLargest();
    }
  }

  #totalBytes(): number {
    return [...this.#shares].reduce((sum, { bytes }) => sum + bytes, 0);
  }
}

/** One client's share of that memory. Several accounts of a workspace have one share. */
export class ResponseMemoryShare {
  readonly #memory: ResponseMemory | undefined;
  /** Responses in progress, the oldest first. */
  readonly #reads = new Set<PendingRead>();
  /** Wakes the reads that wait for room. */
  readonly #waiting = new Set<() => void>();

  constructor(memory?: ResponseMemory) {
    this.#memory = memory;
  }

  /** Bytes of the responses in progress. */
  get bytes(): number {
    return [...this.#reads].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  begin(body: Readable): PendingRead {
    const read = { body, bytes: 0 };
    this.#reads.add(read);
    return read;
  }

  /** Adds bytes to a response, and waits while the others use more than `maxOtherBytes`. The oldest never waits. */
  async add(read: PendingRead, size: number, maxOtherBytes: number): Promise<void> {
    read.bytes += size;
    this.#memory?.onChanged(this);
    while (!this.#mayContinue(read, maxOtherBytes) && !read.body.destroyed)
      await this.#waitForRoom(read.body);
  }

  end(read: PendingRead): void {
    this.#reads.delete(read);
    this.#memory?.onChanged(this);
    for (const wake of this.#waiting) wake();
  }

  /** Gives the memory of the largest response back: it breaks, and its call may be repeated. */
  abandonLargest(): void {
    const [largest] = [...this.#reads].sort((a, b) => b.bytes - a.bytes);
    if (largest === undefined) return;
    largest.body.destroy(new Error('The responses of the agent services take too much memory'));
    this.end(largest);
  }

  #mayContinue(read: PendingRead, maxOtherBytes: number): boolean {
    const [oldest] = this.#reads;
    return read === oldest || this.bytes - read.bytes <= maxOtherBytes;
  }

  /** Waits until another response has been read, or this body closes. */
  async #waitForRoom(body: Readable): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        body.off('close', wake);
        resolve();
      };
      this.#waiting.add(wake);
      body.once('close', wake);
    });
  }
}
