import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { EchoState } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { Poller } from '../runtime/poller.ts';
import { gapToRead } from './backfill.ts';

/** How often a heartbeat is recorded while events can arrive (ms): far below any gap that needs a backfill. */
const HEARTBEAT_INTERVAL_MS = 15_000;
/** After a start, and after the last connection was lost, a shorter time without a heartbeat (ms) is a gap, too. */
const SHORT_GAP_MS = 3_000;
/** How often the connections are rebuilt for a workspace that stays deaf (ms): all workspaces share them. */
const REBUILD_INTERVAL_MS = 60 * 60_000;
const NEVER = Number.NEGATIVE_INFINITY;
const NOT_RECEIVED =
  'no events were received for a while; reading the threads that were active in the 24 hours before, and channels, but a first mention in a channel unused for 30 days stays unseen';
const DEAF =
  "none of the app's posts comes back as an event: reading back what may be missing; if this stays, check the event subscriptions and scopes, and whether another program uses the tokens";

export interface EventGapDetectorDeps {
  store: Store;
  workspaces(): readonly string[];
  canReceiveEvents(): boolean;
  /** How long without a heartbeat is a gap that Slack does not fill by redelivery (ms). */
  minGapMs: number;
  /** Replaces this process's connections to Slack, which bring no events although they are open. */
  rebuildConnections(): Promise<void>;
  log: Logger;
}

/** What this process has noticed of a workspace, since its last heartbeat. */
interface WorkspaceNews extends EchoCounts {
  hasEvents: boolean;
  /** When it was last judged deaf (Unix ms), by any process; null if it is not. */
  judgedDeafAt: number | null;
  /** When the connections were last rebuilt for it (`performance.now()`), since it was last heard. */
  rebuiltAt: number;
}

/**
 * Detects that no process received events for a while: no process was connected to Slack or served Slack's requests, or
 * nothing came back of what the app posted. A quiet workspace is not a gap. A short gap is filled for the threads in use,
 * because people wait there, and Slack redelivers only after a minute.
 */
export class EventGapDetector {
  readonly #deps: EventGapDetectorDeps;
  readonly #news = new Map<string, WorkspaceNews>();
  /** Workspaces to look at one by one, whether their events can be received, and how long is a gap (ms). */
  readonly #closerLooks = new Map<string, { isReceiving: boolean; gapMs: number }>();
  #wasConnected = false;
  readonly #poller: Poller;
  readonly #looks: Poller;
  /** When the database last took a heartbeat (`performance.now()`). */
  lastHeartbeatAt = Number.NEGATIVE_INFINITY;

  constructor(deps: EventGapDetectorDeps) {
    this.#deps = deps;
    this.#poller = new Poller({
      intervalMs: HEARTBEAT_INTERVAL_MS,
      startsAtOnce: true,
      poll: () => this.#recordHeartbeats(),
      onError: (error) => deps.log.debug({ err: error }, 'recording a heartbeat failed'),
    });
    // On its own: heartbeats continue while it takes its time, or they would make a gap.
    this.#looks = new Poller({
      poll: () => this.#lookCloser(),
      onError: (error) => deps.log.debug({ err: error }, 'judging the workspaces failed; trying again'),
    });
  }

  /** How many workspaces' posts do not come back as events, as far as this process knows. */
  get deafWorkspaces(): number {
    return this.#deps.workspaces().filter((id) => this.#newsOf(id).judgedDeafAt !== null).length;
  }

  start(): void {
    this.#poller.start();
  }

  /** Stops recording heartbeats, after a last one: other processes may have posted what came back here. */
  async stop(): Promise<void> {
    await Promise.all([this.#poller.stop(), this.#looks.stop()]);
    await this.#recordHeartbeats()
      .then(() => this.#lookCloser())
      .catch(() => undefined);
  }

  /** An event of this workspace arrived; an echo is a post of the app. */
  onEvent(workspace: string, isEcho: boolean): void {
    const news = this.#newsOf(workspace);
    news.hasEvents = true;
    if (isEcho) news.echoes += 1;
  }

  /** Slack accepted a post or an edit of the app in this workspace. */
  onPost(workspace: string): void {
    this.#newsOf(workspace).posts += 1;
  }

  /** Records a heartbeat now, if events can arrive: a connection is back. Does nothing before the start. */
  heartbeatNow(): void {
    this.#poller.pollNow();
  }

  #newsOf(workspace: string): WorkspaceNews {
    const quiet = { hasEvents: false, posts: 0, echoes: 0, judgedDeafAt: null, rebuiltAt: NEVER };
    const news = this.#news.get(workspace) ?? quiet;
    this.#news.set(workspace, news);
    return news;
  }

  /** Records all heartbeats in one statement; what it cannot decide gets a closer look. */
  async #recordHeartbeats(): Promise<void> {
    const { store, minGapMs } = this.#deps;
    const all = this.#deps.workspaces().map((id) => ({ id, news: this.#newsOf(id) }));
    const isConnected = this.#deps.canReceiveEvents();
    const receiving = new Set(all.flatMap(({ id, news }) => (isConnected || news.hasEvents ? [id] : [])));
    const gapMs = isConnected && !this.#wasConnected ? Math.min(SHORT_GAP_MS, minGapMs) : minGapMs;
    const notable = new Set(await store.workspaces.recordAllReceiving([...receiving], gapMs, isConnected));
    this.#wasConnected = isConnected;
    this.lastHeartbeatAt = performance.now();
    for (const { id, news } of all) {
      if (notable.has(id) || news.judgedDeafAt !== null || news.posts > 0 || news.echoes > 0)
        this.#closerLooks.set(id, { isReceiving: receiving.has(id), gapMs });
      news.hasEvents = false;
    }
    if (this.#closerLooks.size > 0) this.#looks.pollNow();
  }

  async #lookCloser(): Promise<void> {
    const rebuiltFor: string[] = [];
    for (const [workspace, { isReceiving, gapMs }] of this.#closerLooks) {
      const news = this.#newsOf(workspace);
      const counted = { ...news };
      this.#closerLooks.delete(workspace);
      const judgedAt = await this.#look(workspace, isReceiving, gapMs, counted).catch((error: unknown) => {
        // The next heartbeat finds it again.
        this.#deps.log.warn({ workspace, err: error }, 'judging a workspace failed');
      });
      if (judgedAt === undefined) continue;
      news.posts -= counted.posts;
      news.echoes -= counted.echoes;
      if (judgedAt === null) news.rebuiltAt = NEVER;
      else if (judgedAt !== news.judgedDeafAt && performance.now() - news.rebuiltAt >= REBUILD_INTERVAL_MS) {
        news.rebuiltAt = performance.now();
        rebuiltFor.push(workspace);
      }
      news.judgedDeafAt = judgedAt;
    }
    if (rebuiltFor.length === 0) return;
    // Every process rebuilds its own.
    this.#deps.log.warn({ workspaces: rebuiltFor }, 'replacing the connections to Slack');
    void this.#deps.rebuildConnections();
  }

  /** Judges a workspace and records its gap, if there is one; returns when it was judged deaf (Unix ms), if it is. */
  async #look(workspace: string, isReceiving: boolean, gapMs: number, news: EchoCounts) {
    const { store, minGapMs, log } = this.#deps;
    const { gap, judgedAt } = await store.transaction(async (trxStore) => {
      const found = await trxStore.workspaces.recordReceiving(workspace, gapMs, isReceiving);
      if (found === undefined) return { judgedAt: null };
      const { now, gap_since, ...before } = found;
      const { after, missedSince } = judgeEchoes(before, news, now);
      if (!isDeepStrictEqual(after, before)) await trxStore.workspaces.saveEchoes(workspace, after);
      const judgedAt = after.judged_deaf_at?.getTime() ?? null;
      const since = missedSince ?? gap_since;
      if (since === null) return { judgedAt };
      const ms = now.getTime() - since.getTime();
      const isShort = missedSince === null && ms < minGapMs;
      const places = await trxStore.backfills.addGap(workspace, gapToRead(since, isShort));
      if (!isShort) await trxStore.projects.wantNames(workspace);
      const seconds = Math.round(ms / 1_000);
      return { judgedAt, gap: { since, seconds, places, isShort, isDeaf: judgedAt !== null } };
    });
    if (gap?.isShort === true) log.debug({ workspace, ...gap }, 'reading back a short time without events');
    else if (gap !== undefined) log.warn({ workspace, ...gap }, gap.isDeaf ? DEAF : NOT_RECEIVED);
    return judgedAt;
  }
}

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
