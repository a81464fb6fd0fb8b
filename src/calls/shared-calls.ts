import { LRUCache } from 'lru-cache';

/**
 * Caches values for a while (ms); over `max`, the least recently used one is dropped. It takes memory for what it holds
 * alone: thousands of workspaces have some of their own. `forceFetch` returns the cached
 * value, or else what `load` returns or throws: simultaneous requests for a key share one load, and failures are not
 * cached.
 */
export function ttlCache<Value extends object | string, Context = unknown>(
  max: number,
  ttl: number,
  load: (key: string, context: Context) => Promise<Value | undefined>,
): LRUCache<string, Value, Context> {
  return new LRUCache<string, Value, Context>({
    // With `max`, lru-cache reserves memory for so many at once.
    maxSize: max,
    sizeCalculation: () => 1,
    ttl,
    ttlAutopurge: true,
    // Not lru-cache's own reference to the clock, so that a test can replace it.
    perf: performance,
    // A value that is dropped while it loads still reaches those who wait for it.
    ignoreFetchAbort: true,
    fetchMethod: (key, _stale, { context }) => load(key, context),
  });
}

/** Asks the same at most once an interval (ms), however many want to know. */
export class SharedQuestion {
  readonly #ask: () => Promise<unknown>;
  readonly #intervalMs: number;
  #asking: Promise<unknown> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(intervalMs: number, ask: () => Promise<unknown>) {
    this.#ask = ask;
    this.#intervalMs = intervalMs;
  }

  /** Waits for the answer to the last question, which is asked now where the interval has passed. Never throws. */
  async answered(): Promise<void> {
    if (performance.now() - this.#askedAt >= this.#intervalMs) {
      this.#askedAt = performance.now();
      this.#asking = this.#ask();
    }
    await this.#asking?.catch(() => undefined);
  }
}
