import type { EchoState } from '../../store/schema.ts';

/** How many posts and edits must stay without an echo for a verdict: a single event may be lost or late. */
const MIN_POSTS = 3;
/** How long after them the first echo may arrive (ms); Slack delivers most events within a second. */
const MAX_DELAY_MS = 2 * 60_000;
/** The longest that a process takes to record a post (ms): two heartbeats. */
const REPORT_DELAY_MS = 30_000;
/** The most that a verdict reads back (ms). */
const MAX_MISSED_MS = 24 * 60 * 60_000;

/** What a process has counted in a workspace since its last heartbeat. */
export interface EchoCounts {
  /** Posts and edits of the app that Slack accepted. */
  posts: number;
  /** Those that came back as events, whichever process posted them. */
  echoes: number;
}

/**
 * Judges whether a workspace's events arrive. Slack sends each post of the app back as an event, to any process: where
 * Slack accepts posts and none comes back, it delivers no events, even if all connections stand. Without posts there is
 * no verdict. `missedSince` is set if messages must be read back: at each verdict, and once posts come back again.
 */
export function judgeEchoes(
  before: EchoState,
  { posts, echoes }: EchoCounts,
  now: Date,
): { after: EchoState; missedSince: Date | null } {
  const { heard_at, judged_deaf_at } = before;
  const none = { unheard_posts: 0, unheard_since: null };
  if (echoes > 0)
    return { after: { ...none, heard_at: now, judged_deaf_at: null }, missedSince: judged_deaf_at };
  // Another process may have recorded the echoes of these posts before them.
  const isHeard = heard_at !== null && now.getTime() - heard_at.getTime() < REPORT_DELAY_MS;
  const unheard_posts = before.unheard_posts + (isHeard ? 0 : posts);
  const unheard_since = unheard_posts < MIN_POSTS ? null : (before.unheard_since ?? now);
  if (unheard_since === null || now.getTime() - unheard_since.getTime() < MAX_DELAY_MS)
    return { after: { ...before, unheard_posts, unheard_since }, missedSince: null };
  const lastSign = judged_deaf_at ?? heard_at ?? unheard_since;
  const missedSince = new Date(Math.max(lastSign.getTime(), now.getTime() - MAX_MISSED_MS));
  return { after: { ...none, heard_at, judged_deaf_at: now }, missedSince };
}
