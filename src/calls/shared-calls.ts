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

/** How often a server is asked whether it is there (ms), however many want to know. */
const PRESENCE_INTERVAL_MS = 1_000;

/** When a server last showed that it is there. */
export class Presence {
  readonly #ask: () => Promise<unknown>;
  #asking: Promise<unknown> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #shownAt = Number.NEGATIVE_INFINITY;

  /** `ask` resolves if the server is there, and rejects if nobody can tell. */
  constructor(ask: () => Promise<unknown>) {
    this.#ask = ask;
  }

  /** The server is there now. */
  show(): void {
    this.#shownAt = performance.now();
  }

  /** Whether the server has shown itself after `at` (`performance.now()`). */
  hasShownAfter(at: number): boolean {
    return this.#shownAt > at;
  }

  /** Whether the server is there, or was within the last second. Never throws. */
  async isThere(): Promise<boolean> {
    return this.wasThereAfter(performance.now() - PRESENCE_INTERVAL_MS);
  }

  /** Whether it has shown itself after `at`, where it is asked if it has not. Never throws. */
  async wasThereAfter(at: number): Promise<boolean> {
    if (this.hasShownAfter(at)) return true;
    if (performance.now() - this.#askedAt >= PRESENCE_INTERVAL_MS) {
      this.#askedAt = performance.now();
      this.#asking = this.#ask().then(() => this.show());
    }
    await this.#asking?.catch(() => undefined);
    return this.hasShownAfter(at);
  }
}
