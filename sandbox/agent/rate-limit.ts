/** A sliding window of calls for each key. */
export class RateLimit {
  readonly #calls = new Map<string, number[]>();

  /** Counts one call; returns 0, or the ms until the next call is allowed. */
  take(key: string, { calls, windowMs }: { calls: number; windowMs: number }): number {
    const now = performance.now();
    const recent = (this.#calls.get(key) ?? []).filter((at) => at > now - windowMs);
    this.#calls.set(key, recent);
    const oldest = recent.at(-calls);
    if (recent.length >= calls && oldest !== undefined) return oldest + windowMs - now;
    recent.push(now);
    return 0;
  }
}
