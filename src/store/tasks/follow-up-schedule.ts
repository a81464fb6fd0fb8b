import { sql } from 'kysely';
import { Queries } from '../queries.ts';
import type { FollowUp, Turn, TurnLocation } from '../schema.ts';
import { fromNow, inThread, isInstalled, isUnclaimed, placeInWorkspace } from '../sql-expressions.ts';

/** The turn that a follow-up checks, with its thread's account and task. */
export interface CheckedTurn extends Turn {
  account_id: string;
  thread_task_id: string | null;
  /** A turn of the thread is under way. */
  is_busy: boolean;
}

/** When an ended turn's thread is checked (ms from now). */
export interface FollowUpTimes {
  firstMs: number;
  forMs: number;
}

/** A statement that schedules the checks of a turn's thread. */
export function followUpInsert(
  { workspace, channel, thread_ts, id }: TurnLocation,
  { firstMs, forMs }: FollowUpTimes,
) {
  return sql`
    insert into follow_ups (workspace, channel, thread_ts, turn_id, next_check_at, ends_at)
    values (${workspace}, ${channel}, ${thread_ts}, ${id}, ${fromNow(firstMs)}, ${fromNow(forMs)})
    on conflict (workspace, channel, thread_ts) do update set
      turn_id = excluded.turn_id, checks = 0, next_check_at = excluded.next_check_at, ends_at = excluded.ends_at`;
}

/** Tasks to check now and then after their turn has ended; any process may check. */
export class FollowUpSchedule extends Queries {
  /** Claims due checks for `ms`; at most `share` of one workspace at a time, earlier claims included. */
  async claim(claimedBy: string, ms: number, limit: number, share: number = limit): Promise<FollowUp[]> {
    return this.rows(sql<FollowUp>`
      with ours as (
        select workspace, count(*) as held from follow_ups
        where claimed_by = ${claimedBy} and claimed_until >= clock_timestamp() group by workspace
      ), due as (
        select workspace, channel, thread_ts, ${placeInWorkspace(sql`next_check_at`)}
        from follow_ups where ${isCheckDue}
      )
      update follow_ups set claimed_by = ${claimedBy}, claimed_until = ${fromNow(ms)}
      where (workspace, channel, thread_ts) in (
        select workspace, channel, thread_ts from follow_ups join due using (workspace, channel, thread_ts)
          left join ours using (workspace)
        where ${isCheckDue} and place <= ${share} - coalesce(held, 0)
        order by place + coalesce(held, 0), next_check_at limit ${limit} for update of follow_ups skip locked)
      returning *`);
  }

  /** The turn of a follow-up; undefined if it is gone. */
  async checkedTurn({ workspace, turn_id }: FollowUp): Promise<CheckedTurn | undefined> {
    return this.first(sql<CheckedTurn>`
      select turns.*, threads.account_id, threads.task_id as thread_task_id, exists (
        select from turns as others where others.workspace = threads.workspace and others.channel = threads.channel
          and others.thread_ts = threads.thread_ts and others.finished_at is null) as is_busy
      from turns join threads using (workspace, channel, thread_ts)
      where workspace = ${workspace} and turns.id = ${turn_id}`);
  }

  /**
   * Records `checks` checks; the next is in `ms`, or at the end of all checks if that comes first. A check after the end
   * is the last, unless it failed.
   */
  async recordCheck(
    followUp: FollowUp,
    claimedBy: string,
    next: { checks: number; ms: number; failed: boolean },
  ): Promise<void> {
    // A turn that ended meanwhile has set another time.
    const isSame = sql`turn_id = ${followUp.turn_id} and next_check_at <= clock_timestamp()`;
    const nextCheckAt = next.failed ? fromNow(next.ms) : sql`least(${fromNow(next.ms)}, ends_at)`;
    await this.changes(sql`
      with over as (
        delete from follow_ups where ${inThread(followUp)} and claimed_by = ${claimedBy} and ${isSame}
          and ends_at <= clock_timestamp() and not ${next.failed} returning turn_id)
      update follow_ups set claimed_by = null, claimed_until = null, checks = checks + ${next.checks},
        next_check_at = case when ${isSame} then ${nextCheckAt} else next_check_at end
      where ${inThread(followUp)} and claimed_by = ${claimedBy} and not exists (select from over)`);
  }

  /** Cancels all checks: the task or the thread is gone. */
  async cancel(followUp: FollowUp): Promise<void> {
    await this.changes(
      sql`delete from follow_ups where ${inThread(followUp)} and turn_id = ${followUp.turn_id}`,
    );
  }
}

/** Whether a check is due that no process has claimed. For the table of follow-ups. */
export const isCheckDue = sql<boolean>`next_check_at <= now() and ${isInstalled} and ${isUnclaimed()}`;
