import { sql } from 'kysely';
import { countChanges, Queries } from '../queries.ts';
import type { BackfillRow, SlackTs, ThreadKey } from '../schema.ts';
import { fromNow, inThread, isUnclaimed, millis } from '../sql-expressions.ts';

/** In place of a thread's ts: the top-level messages of the channel. */
export const CHANNEL_LEVEL: SlackTs = '0.000000';

/** A thread, or a channel, to read back after a gap. */
export type PendingBackfill = Pick<BackfillRow, keyof ThreadKey | 'since_ts' | 'gap_count'>;

/** What to read back after a gap in receiving. Survives a restart; one process reads each thread or channel. */
export class BackfillQueue extends Queries {
  /**
   * Queues the threads used in the `usedMs` before a gap that began at `since`, and their channels. Also covers the
   * `marginMs` before the gap: Slack may have retried a delivery from then during the gap. Returns how many threads and
   * channels.
   */
  async addGap(workspace: string, since: Date, usedMs: number, marginMs: number): Promise<number> {
    const from = since.getTime() - marginMs;
    const queued = sql`
      insert into backfills as known (workspace, channel, thread_ts, since_ts, last_used_at)
      select workspace, channel, thread_ts, greatest(adopted_ts, ${from / 1_000}::numeric), last_used_at from threads
      where workspace = ${workspace} and not is_dormant
        and last_used_at > ${since}::timestamptz - ${millis(usedMs)}
      union all
      select workspace, channel, ${CHANNEL_LEVEL}::numeric, ${from / 1_000}::numeric, max(last_used_at) from threads
      where workspace = ${workspace}
        and last_used_at > ${since}::timestamptz - ${millis(usedMs)}
      group by workspace, channel
      on conflict (workspace, channel, thread_ts) do update
        set since_ts = least(known.since_ts, excluded.since_ts), last_used_at = excluded.last_used_at,
          gap_count = known.gap_count + 1, queued_at = excluded.queued_at`;
    return countChanges(this.db, queued);
  }

  /** Queues one thread, unless it is queued already. */
  async addThread(thread: ThreadKey, since: SlackTs): Promise<void> {
    const { workspace, channel, thread_ts } = thread;
    await this.changes(sql`
      insert into backfills (workspace, channel, thread_ts, since_ts, last_used_at)
      values (${workspace}, ${channel}, ${thread_ts}, ${since}, ${new Date()}) on conflict do nothing`);
  }

  /** The workspaces with something to read. */
  async pendingWorkspaces(): Promise<string[]> {
    const rows = await this.db.selectFrom('backfills').select('workspace').distinct().execute();
    return rows.map(({ workspace }) => workspace);
  }

  /** Claims the most recently used one that no process is reading, if any. */
  async claim(workspace: string, process: string, holdMs: number): Promise<PendingBackfill | undefined> {
    return this.first(sql<PendingBackfill>`
      update backfills
      set claimed_by = ${process}, claimed_until = ${fromNow(holdMs)}
      where (workspace, channel, thread_ts) = (
        select workspace, channel, thread_ts from backfills
        where workspace = ${workspace} and ${isUnclaimed()}
        order by last_used_at desc, thread_ts desc
        limit 1 for update skip locked)
      returning workspace, channel, thread_ts, since_ts, gap_count`);
  }

  /** Extends the claims of a process to `holdMs` from now; 0 releases them. */
  async renewClaims(process: string, holdMs: number): Promise<void> {
    await this.changes(sql`
      update backfills set claimed_until = ${fromNow(holdMs)}
      where claimed_by = ${process} and claimed_until > clock_timestamp()`);
  }

  /** It was read; if a new gap came meanwhile, it is read again. */
  async complete(read: PendingBackfill): Promise<void> {
    await this.changes(sql`delete from backfills where ${inThread(read)} and gap_count = ${read.gap_count}`);
  }
}
