/**
 * The rate of a method. At most `burst + perMinute` permits fall into any minute, so keep the sum at or below Slack's
 * limit. Final edits may use `deepBurst` while others wait.
 */
export interface RateLimit {
  readonly perMinute: number;
  readonly burst: number;
  readonly deepBurst?: number;
}

const TIER_2: RateLimit = { perMinute: 17, burst: 3 };
const TIER_3: RateLimit = { perMinute: 44, burst: 5 };
const TIER_4: RateLimit = { perMinute: 85, burst: 15 };
/** "Hundreds per minute", taken as 200. */
const HUNDREDS_PER_MINUTE: RateLimit = { perMinute: 180, burst: 20 };

/** Edits under a limit per minute: paced, so that all replies age evenly, and one below it for requests that arrive late. */
function editRateLimit(limit: number): RateLimit {
  return { perMinute: Math.max(1, limit - 6), burst: 4, deepBurst: 5 };
}

/**
 * The rate limits of each workspace.
 * Tiers: https://docs.slack.dev/apis/web-api/rate-limits, each method's page under
 * https://docs.slack.dev/reference/methods (2: 20 a minute, 3: 50, 4: 100).
 */
export const RATE_LIMITS = {
  /** Tier 3. */
  'chat.update': editRateLimit(50),
  /** "1 per second per channel", for each channel; a little slower, for requests that arrive early. */
  'chat.postMessage.channel': { perMinute: 55, burst: 1 },
  /** "Several hundred messages per minute" in a workspace, taken as 300; half of it as a burst. */
  'chat.postMessage': { perMinute: 145, burst: 150 },
  /** Tier 2: as many as possible at once, because the messages of several replies fill up at the same time. */
  'chat.startStream': { perMinute: 14, burst: 5 },
  'chat.stopStream': { perMinute: 14, burst: 5 },
  /** Tier 4: paced like edits, with more of it kept for the ends of replies. */
  'chat.appendStream': { perMinute: 90, burst: 4, deepBurst: 9 },
  'chat.delete': TIER_3,
  'chat.postEphemeral': TIER_4,
  'chat.getPermalink': HUNDREDS_PER_MINUTE,
  'conversations.replies': TIER_3,
  'conversations.history': TIER_3,
  'conversations.info': TIER_3,
  'conversations.members': TIER_4,
  'conversations.open': TIER_3,
  'reactions.add': TIER_3,
  'reactions.remove': TIER_2,
  'users.info': TIER_4,
  'users.list': TIER_2,
  'usergroups.list': TIER_2,
  'views.open': TIER_4,
  'views.update': TIER_4,
  'views.publish': TIER_4,
  'files.info': TIER_4,
  'files.getUploadURLExternal': TIER_4,
  'files.completeUploadExternal': TIER_4,
  'functions.completeSuccess': TIER_3,
  'functions.completeError': TIER_3,
  'agents.sessions.setStatus': TIER_3,
  'assistant.threads.setSuggestedPrompts': TIER_4,
  'assistant.threads.setTitle': TIER_4,
  'auth.test': HUNDREDS_PER_MINUTE,
  'auth.revoke': TIER_3,
  'auth.teams.list': TIER_2,
} as const satisfies Record<string, RateLimit>;

/** Slack's method, or the name of the limit per channel. */
export type RateLimitName = keyof typeof RATE_LIMITS;

export type RateLimitTable = Readonly<Record<RateLimitName, RateLimit>>;

/**
 * Reading history, for apps that are distributed outside the Marketplace: one call per minute, 15 objects each. https://docs.slack.dev/changelog/2025/05/29/rate-limit-changes-for-non-marketplace-apps
 */
const DISTRIBUTED_READ_LIMIT: RateLimit = { perMinute: 0.95, burst: 1 };

/** The rate limits with settings applied. `distributed`: the app is distributed outside the Marketplace. */
export function rateLimitTable({ distributed = false, editsPerMinute = 50 } = {}): RateLimitTable {
  const reading = distributed
    ? { 'conversations.replies': DISTRIBUTED_READ_LIMIT, 'conversations.history': DISTRIBUTED_READ_LIMIT }
    : {};
  return { ...RATE_LIMITS, ...reading, 'chat.update': editRateLimit(editsPerMinute) };
}
