interface CacheEntry<T> {
  value: Promise<T>;
  expiresAt: number;
}

/** Remembers answers for a while; those who ask at the same time share one question. Failures are not kept. */
export class TtlCache<T> {
  readonly #maxEntries: number;
  readonly #ttlMs: number;
  readonly #entries = new Map<string, CacheEntry<T>>();

  /** `most`: how many answers are kept; the ones that were used longest ago go first. */
  constructor(options: { most: number; lifeMs: number }) {
    this.#maxEntries = options.most;
    this.#ttlMs = options.lifeMs;
  }

  /** The answer that is remembered, else what `load` answers; throws what `load` throws. */
  async get(key: string, load: () => Promise<T>): Promise<T> {
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    if (known !== undefined && known.expiresAt > performance.now()) {
      this.#entries.set(key, known);
      return await known.value;
    }
    const entry = { value: load(), expiresAt: performance.now() + this.#ttlMs };
    this.#entries.set(key, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#maxEntries && oldest !== undefined) this.#entries.delete(oldest);
    try {
      return await entry.value;
    } catch (error) {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      throw error;
    }
  }

  /** Forgets an answer that is known to be old. */
  delete(key: string): void {
    this.#entries.delete(key);
  }
}
