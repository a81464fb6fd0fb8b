import { sql } from 'kysely';
import { WANTED_AGAIN } from '../jobs/jobs.ts';
import { fromNow } from '../queries.ts';
import type { TurnLocation } from '../schema.ts';

/** The kind of jobs that check a thread's task after its turn has ended. */
export const FOLLOW_UP_JOB = 'follow_up';

/** The part that says of a turn that its task still works; it gets the other name once the work has ended. */
export const BACKGROUND_PART = 'background';
export const ENDED_BACKGROUND_PART = 'background:ended';

/** When an ended turn's thread is checked (ms from now). */
export interface FollowUpTimes {
  firstMs: number;
  forMs: number;
}

/** A statement that asks for the checks of a turn's thread, in place of those of the turn before. */
export function followUpInsert(
  { workspace, channel, thread_ts, id }: TurnLocation,
  { firstMs, forMs }: FollowUpTimes,
) {
  return sql`
    insert into jobs (workspace, kind, channel, thread_ts, key, person, payload, due_at)
    values (${workspace}, ${FOLLOW_UP_JOB}, ${channel}, ${thread_ts}, '', '',
      jsonb_build_object('turn_id', ${id}::text, 'checks', 0, 'ends_at', ${fromNow(forMs)}), ${fromNow(firstMs)})
    on conflict (workspace, kind, channel, thread_ts, key) do update set ${WANTED_AGAIN}`;
}
