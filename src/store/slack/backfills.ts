import { sql } from 'kysely';
import { CHANNEL_LEVEL, Jobs } from '../jobs/jobs.ts';
import { countChanges, Queries } from '../queries.ts';
import type { SlackTs, ThreadKey } from '../schema.ts';
import { millis } from '../sql-expressions.ts';

/** The kind of jobs that read a thread, or the top level of a channel, back after a gap in receiving. */
export const BACKFILL_JOB = 'backfill';

/** What to read back after gaps in receiving. */
export class Backfills extends Queries {
  /**
   * Asks for the threads used in the `usedMs` before a gap that began at `since`, the newest first, and their channels.
   * Also covers the `marginMs` before the gap: Slack may have retried a delivery from then during the gap. Returns how
   * many threads and channels.
   */
  async addGap(workspace: string, since: Date, usedMs: number, marginMs: number): Promise<number> {
    const from = sql`${(since.getTime() - marginMs) / 1_000}::numeric(16,6)`;
    const wereUsed = sql`workspace = ${workspace} and last_used_at > ${since}::timestamptz - ${millis(usedMs)}`;
    const queued = sql`
      insert into jobs (workspace, kind, channel, thread_ts, key, person, payload, due_at)
      select workspace, ${BACKFILL_JOB}, channel, thread_ts, '', '', jsonb_build_object('since_ts', since_ts::text),
        -- They are due in this order.
        now() + row_number() over (order by last_used_at desc, thread_ts desc) * interval '1 microsecond'
      from (
        select workspace, channel, thread_ts, greatest(adopted_ts, ${from}) as since_ts, last_used_at from threads
        where ${wereUsed} and not is_dormant
        union all
        select workspace, channel, ${CHANNEL_LEVEL}::numeric, ${from}, max(last_used_at) from threads
        where ${wereUsed} group by workspace, channel
      ) as places
      on conflict (workspace, kind, channel, thread_ts, key) do update
        set version = jobs.version + 1, due_at = excluded.due_at, tried_since = null,
          payload = jsonb_build_object('since_ts', least(
            (jobs.payload ->> 'since_ts')::numeric, (excluded.payload ->> 'since_ts')::numeric)::text)`;
    return countChanges(this.db, queued);
  }

  /** Asks for one thread, unless it is to be read already. */
  async addThread({ workspace, channel, thread_ts }: ThreadKey, since_ts: SlackTs): Promise<void> {
    const job = { workspace, kind: BACKFILL_JOB, channel, thread_ts, key: '' };
    await new Jobs(this.db).add({ ...job, payload: { since_ts } });
  }
}
