interface CacheEntry<T> {
  value: Promise<T>;
  expiresAt: number;
}

/** Caches values for a while. Simultaneous requests for a key share one load. Failures are not cached. */
export class TtlCache<T> {
  readonly #maxEntries: number;
  readonly #ttlMs: number;
  readonly #entries = new Map<string, CacheEntry<T>>();

  /** Over `maxEntries`, the least recently used value is dropped. */
  constructor(options: { maxEntries: number; ttlMs: number }) {
    this.#maxEntries = options.maxEntries;
    this.#ttlMs = options.ttlMs;
  }

  /** How many values are held. */
  get size(): number {
    return this.#entries.size;
  }

  /** The cached value, or else the result of `load`. Throws what `load` throws. */
  async get(key: string, load: () => Promise<T>): Promise<T> {
    const cached = this.#entries.get(key);
    this.#entries.delete(key);
    if (cached !== undefined && cached.expiresAt > performance.now()) {
      this.#entries.set(key, cached);
      return await cached.value;
    }
    const entry = { value: load(), expiresAt: performance.now() + this.#ttlMs };
    this.#entries.set(key, entry);
    this.#dropUnused();
    try {
      return await entry.value;
    } catch (error) {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      throw error;
    }
  }

  /** The entries are in the order of their last use. */
  #dropUnused(): void {
    const now = performance.now();
    for (const [key, { expiresAt }] of this.#entries) {
      if (this.#entries.size <= this.#maxEntries && expiresAt > now) return;
      this.#entries.delete(key);
    }
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
