interface Entry<T> {
  value: Promise<T>;
  until: number;
}

/** Remembers answers for a while; those who ask at the same time share one question. Failures are not kept. */
export class Cache<T> {
  readonly #most: number;
  readonly #lifeMs: number;
  readonly #entries = new Map<string, Entry<T>>();

  /** `most`: how many answers are kept; the ones that were used longest ago go first. */
  constructor(options: { most: number; lifeMs: number }) {
    this.#most = options.most;
    this.#lifeMs = options.lifeMs;
  }

  /** The answer that is remembered, else what `load` answers; throws what `load` throws. */
  async get(key: string, load: () => Promise<T>): Promise<T> {
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    if (known !== undefined && known.until > performance.now()) {
      this.#entries.set(key, known);
      return await known.value;
    }
    const entry = { value: load(), until: performance.now() + this.#lifeMs };
    this.#entries.set(key, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#most && oldest !== undefined) this.#entries.delete(oldest);
    try {
      return await entry.value;
    } catch (error) {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      throw error;
    }
  }

  /** Forgets an answer that is known to be old. */
  forget(key: string): void {
    this.#entries.delete(key);
  }
}
