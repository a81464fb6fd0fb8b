import type { PermitStore } from '../../src/slack/permit-queue.ts';
import { BACKOFF } from '../../src/store/slack/backoff-after-429.ts';

/** The shared rate limits in memory, by the same rule as in PostgreSQL, on the clock of `performance.now()`. */
export class InMemoryRateLimits implements PermitStore {
  /** Each limit's theoretical arrival time. */
  readonly #arrivals = new Map<string, number>();
  readonly #holds = new Map<string, number>();
  /** Each limit's last refusal that counted. */
  readonly #slowed = new Map<string, { factor: number; at: number }>();
  /** How often anybody asked. */
  asked = 0;
  /** The rules of all questions. */
  readonly rules: { limitKey: string; perMinute: number; burst: number }[] = [];
  /** Lets the next questions fail. */
  failures = 0;

  take(workspace: string, limitKey: string, rule: { perMinute: number; burst: number }): Promise<number> {
    this.asked += 1;
    this.rules.push({ limitKey, ...rule });
    if (this.failures > 0) {
      this.failures -= 1;
      return Promise.reject(new Error('The database is away.'));
    }
    const key = `${workspace} ${limitKey}`;
    const now = performance.now();
    const held = (this.#holds.get(key) ?? 0) - now;
    if (held > 0) return Promise.resolve(held);
    const interval = 60_000 / rule.perMinute;
    const arrival = Math.max(this.#arrivals.get(key) ?? 0, now);
    const wait = arrival - (rule.burst - 1) * interval - now;
    if (wait > 0) return Promise.resolve(wait);
    this.#arrivals.set(key, arrival + interval / this.factor(workspace, limitKey));
    return Promise.resolve(0);
  }

  pause(workspace: string, limitKey: string, ms: number): Promise<void> {
    const key = `${workspace} ${limitKey}`;
    const now = performance.now();
    this.#holds.set(key, Math.max(this.#holds.get(key) ?? 0, now + ms));
    if (now - (this.#slowed.get(key)?.at ?? Number.NEGATIVE_INFINITY) >= BACKOFF.sameRefusalMs) {
      const factor = Math.max(BACKOFF.minFactor, this.factor(workspace, limitKey) * BACKOFF.refusalFactor);
      this.#slowed.set(key, { factor, at: now });
    }
    return Promise.resolve();
  }

  /** How much of its pace the limit has now. */
  factor(workspace: string, limitKey: string): number {
    const slowed = this.#slowed.get(`${workspace} ${limitKey}`);
    if (slowed === undefined) return 1;
    const minutes = (performance.now() - slowed.at) / 60_000;
    return Math.min(1, slowed.factor + minutes * BACKOFF.recoveryPerMinute);
  }
}

/** The most moments (ms) that fall into any window of a minute. */
export function maxPerMinute(moments: readonly number[]): number {
  const sorted = [...moments].sort((a, b) => a - b);
  let most = 0;
  let from = 0;
  sorted.forEach((moment, index) => {
    while (moment - (sorted[from] ?? moment) >= 60_000) from += 1;
    most = Math.max(most, index - from + 1);
  });
  return most;
}
