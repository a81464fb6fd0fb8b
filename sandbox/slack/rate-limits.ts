import type { Clock } from './ids.ts';

/** How much of each method Slack allows; docs.slack.dev/apis/web-api/rate-limits */
export interface Limits {
  /** Calls per minute, workspace and method, by tier. */
  tier1: number;
  tier2: number;
  tier3: number;
  tier4: number;
  /** Calls per minute of the methods with a limit of their own ("hundreds per minute"). */
  special: number;
  /** Calls per minute of single methods, over their tier. */
  methods: Record<string, number>;
  /** chat.postMessage: this many in any window of this many seconds, per channel (1 a second). */
  postBurst: number;
  /** chat.postMessage: per minute and workspace. */
  postsPerMinute: number;
  /** Retry-After of a refusal, in seconds; until then the same calls are refused again. */
  retryAfterSeconds: number;
  /** Event deliveries per workspace and hour. */
  eventsPerHour: number;
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
  eventsPerHour: 30_000,
};

export type Tier = 'tier1' | 'tier2' | 'tier3' | 'tier4' | 'special' | 'post' | 'status' | 'history' | 'none';

const MINUTE = 60_000;

/** At most `most` events in any window of `ms`. */
export class SlidingWindow {
  readonly #most: number;
  readonly #ms: number;
  #times: number[] = [];
  #head = 0;

  constructor(most: number, ms: number) {
    this.#most = most;
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
    return this.#times.length - this.#head < this.#most;
  }

  add(now: number): void {
    this.#times.push(now);
  }
}

interface Gate {
  window: SlidingWindow;
  heldUntil: number;
}

/** Slack's rate limits: strict sliding windows. A refused call takes no place in a window. */
export class RateLimits {
  /** Refused calls by method. */
  readonly refused: Record<string, number> = {};
  readonly #limits: Limits | undefined;
  readonly #clock: Clock;
  readonly #commercial: boolean;
  readonly #gates = new Map<string, Gate>();

  /** `commercial`: an app outside the Marketplace that is distributed (conversations.replies once a minute). */
  constructor(limits: Partial<Limits> | 'off', clock: Clock, commercial: boolean) {
    this.#limits = limits === 'off' ? undefined : { ...SLACK_LIMITS, ...limits };
    this.#clock = clock;
    this.#commercial = commercial;
  }

  /** Takes one call; the answer is 0, or the seconds of Retry-After. */
  take(method: string, tier: Tier, teamId: string, channel: string): number {
    const limits = this.#limits;
    if (limits === undefined || tier === 'none') return 0;
    const now = this.#clock.now();
    const gates = this.#rules(limits, method, tier, teamId, channel).map(([key, most, ms]) =>
      this.#gate(key, most, ms),
    );
    const held = Math.max(...gates.map((gate) => gate.heldUntil));
    if (held > now) return this.#refuse(method, (held - now) / 1000);
    const full = gates.find((gate) => !gate.window.fits(now));
    if (full !== undefined) {
      full.heldUntil = now + limits.retryAfterSeconds * 1000;
      return this.#refuse(method, limits.retryAfterSeconds);
    }
    for (const gate of gates) gate.window.add(now);
    return 0;
  }

  #refuse(method: string, seconds: number): number {
    this.refused[method] = (this.refused[method] ?? 0) + 1;
    return Math.max(1, Math.ceil(seconds));
  }

  #gate(key: string, most: number, ms: number): Gate {
    const known = this.#gates.get(key);
    if (known !== undefined) return known;
    const gate = { window: new SlidingWindow(most, ms), heldUntil: 0 };
    this.#gates.set(key, gate);
    return gate;
  }

  #rules(
    limits: Limits,
    method: string,
    tier: Exclude<Tier, 'none'>,
    teamId: string,
    channel: string,
  ): [key: string, most: number, ms: number][] {
    const own = limits.methods[method];
    if (own !== undefined) return [[`${teamId} ${method}`, own, MINUTE]];
    if (tier === 'post') {
      return [
        [`${teamId} ${method}`, limits.postsPerMinute, MINUTE],
        [`${teamId} ${method} ${channel}`, limits.postBurst, limits.postBurst * 1000],
      ];
    }
    if (tier === 'status') return [[`${teamId} ${method} ${channel}`, 60, MINUTE]];
    if (tier === 'history') return [[`${teamId} ${method}`, this.#commercial ? 1 : limits.tier3, MINUTE]];
    return [[`${teamId} ${method}`, limits[tier], MINUTE]];
  }
}
