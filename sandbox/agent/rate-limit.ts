/** A strict sliding window for each key. */
export class RateLimit {
  readonly #calls = new Map<string, number[]>();

  /** Takes one call; gives the milliseconds until one is free again, 0 where it was granted. */
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
