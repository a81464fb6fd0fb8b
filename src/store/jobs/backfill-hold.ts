import { sql } from 'kysely';
import type { ThreadKey } from '../schema.ts';
import { JOB_KIND } from './jobs.ts';

/** Whether a thread's waiting messages are held: until it is read back after a gap, or for replies that overtook their mention. */
export function isHeldForBackfill({ workspace, channel, thread_ts }: ThreadKey) {
  return sql<boolean>`exists (
    select from jobs
    where (workspace, kind, channel, thread_ts, key) = (${workspace}, ${JOB_KIND.backfill}, ${channel}, ${thread_ts}, '')
      and (payload #>> '{waiting,held_until}')::numeric > extract(epoch from clock_timestamp()))`;
}
