import type { Clock } from './ids.ts';

/** Slack's rate limits; https://docs.slack.dev/apis/web-api/rate-limits */
export interface Limits {
  /** Calls per minute for each workspace and method, by tier. */
  tier1: number;
  tier2: number;
  tier3: number;
  tier4: number;
  /** Calls per minute of methods with a special limit (Slack: "hundreds per minute"). */
  special: number;
  /** Calls per minute of single methods, in place of their tier. */
  methods: Record<string, number>;
  /** chat.postMessage per channel: at most this many in any window of this many seconds (1 a second). */
  postBurst: number;
  /** chat.postMessage per workspace and minute. */
  postsPerMinute: number;
  /** Retry-After in seconds; until then Slack refuses the same calls. */
  retryAfterSeconds: number;
}

export const SLACK_LIMITS: Limits = {
  tier1: 1,
  tier2: 20,
  tier3: 50,
  tier4: 100,
  special: 600,
  methods: {},
  postBurst: 3,
  postsPerMinute: 300,
  retryAfterSeconds: 10,
};

export type Tier = 'tier1' | 'tier2' | 'tier3' | 'tier4' | 'special' | 'post' | 'history' | 'none';

const MINUTE = 60_000;

/** Allows at most `max` events in any window of `ms`. */
export class SlidingWindow {
  readonly #max: number;
  readonly #ms: number;
  #times: number[] = [];
  #head = 0;

  constructor(max: number, ms: number) {
    this.#max = max;
    this.#ms = ms;
  }

  /** Whether one more fits at `now`. */
  fits(now: number): boolean {
    while (this.#head < this.#times.length && (this.#times[this.#head] ?? 0) <= now - this.#ms)
      this.#head += 1;
    if (this.#head > 1024) {
      this.#times = this.#times.slice(this.#head);
      this.#head = 0;
    }
    return this.#times.length - this.#head < this.#max;
  }

  add(now: number): void {
    this.#times.push(now);
  }
}

interface MethodLimit {
  window: SlidingWindow;
  refusedUntil: number;
}

/** Slack's rate limits as strict sliding windows. Refused calls do not count. */
export class RateLimits {
  /** Refused calls by method. */
  readonly refused: Record<string, number> = {};
  readonly #limits: Limits | undefined;
  readonly #clock: Clock;
  readonly #commercial: boolean;
  readonly #methodLimits = new Map<string, MethodLimit>();

  /** `commercial`: the app is distributed outside the Marketplace (history and replies once a minute). */
  constructor(limits: Partial<Limits> | 'off', clock: Clock, commercial: boolean) {
    this.#limits = limits === 'off' ? undefined : { ...SLACK_LIMITS, ...limits };
    this.#clock = clock;
    this.#commercial = commercial;
  }

  /** Counts one call; returns 0, or the seconds of Retry-After. */
  take(method: string, tier: Tier, teamId: string, channel: string): number {
    const limits = this.#limits;
    if (limits === undefined || tier === 'none') return 0;
    const now = this.#clock.now();
    const methodLimits = this.#rules(limits, method, tier, teamId, channel).map(([key, max, ms]) =>
      this.#methodLimit(key, max, ms),
    );
    const refusedUntil = Math.max(...methodLimits.map(({ refusedUntil }) => refusedUntil));
    if (refusedUntil > now) return this.#refuse(method, (refusedUntil - now) / 1000);
    const full = methodLimits.find(({ window }) => !window.fits(now));
    if (full !== undefined) {
      full.refusedUntil = now + limits.retryAfterSeconds * 1000;
      return this.#refuse(method, limits.retryAfterSeconds);
    }
    for (const { window } of methodLimits) window.add(now);
    return 0;
  }

  #refuse(method: string, seconds: number): number {
    this.refused[method] = (this.refused[method] ?? 0) + 1;
    return Math.max(1, Math.ceil(seconds));
  }

  #methodLimit(key: string, max: number, ms: number): MethodLimit {
    const known = this.#methodLimits.get(key);
    if (known !== undefined) return known;
    const added = { window: new SlidingWindow(max, ms), refusedUntil: 0 };
    this.#methodLimits.set(key, added);
    return added;
  }

  #rules(
    limits: Limits,
    method: string,
    tier: Exclude<Tier, 'none'>,
    teamId: string,
    channel: string,
  ): [key: string, max: number, ms: number][] {
    const own = limits.methods[method];
    if (own !== undefined) return [[`${teamId} ${method}`, own, MINUTE]];
    if (tier === 'post') {
      return [
        [`${teamId} ${method}`, limits.postsPerMinute, MINUTE],
        [`${teamId} ${method} ${channel}`, limits.postBurst, limits.postBurst * 1000],
      ];
    }
    if (tier === 'history') return [[`${teamId} ${method}`, this.#commercial ? 1 : limits.tier3, MINUTE]];
    return [[`${teamId} ${method}`, limits[tier], MINUTE]];
  }
}
