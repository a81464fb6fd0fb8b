import { sql } from 'kysely';
import { fromNow } from '../clock.ts';
import { inThread, isInstalled, isUnclaimed, placeInWorkspace } from '../filters.ts';
import { changesRow, Queries } from '../queries.ts';
import type { FollowUp, TurnLocation } from '../schema.ts';

/** Tasks to check now and then after their turn has ended; any process may check. */
export class FollowUpSchedule extends Queries {
  /** Schedules checks of an ended turn's thread: the first in `firstMs`, the last in `forMs`. */
  async schedule(
    { workspace, channel, thread_ts, id }: TurnLocation,
    times: { firstMs: number; forMs: number },
  ): Promise<void> {
    const row = {
      turn_id: id,
      checks: 0,
      next_check_at: fromNow(times.firstMs),
      ends_at: fromNow(times.forMs),
    };
    await this.db
      .insertInto('follow_ups')
      .values({ workspace, channel, thread_ts, ...row })
      .onConflict((conflict) => conflict.columns(['workspace', 'channel', 'thread_ts']).doUpdateSet(row))
      .execute();
  }

  /** Claims due checks for `ms`; at most `share` of one workspace at a time, earlier claims included. */
  async claim(claimedBy: string, ms: number, limit: number, share: number = limit): Promise<FollowUp[]> {
    const { rows } = await sql<FollowUp>`
      with ours as (
        select workspace, count(*) as held from follow_ups
        where claimed_by = ${claimedBy} and claimed_until >= clock_timestamp() group by workspace
      ), due as (
        select workspace, channel, thread_ts, ${placeInWorkspace(sql`next_check_at`)}
        from follow_ups where ${isDue}
      )
      update follow_ups set claimed_by = ${claimedBy}, claimed_until = ${fromNow(ms)}
      where (workspace, channel, thread_ts) in (
        select workspace, channel, thread_ts from follow_ups join due using (workspace, channel, thread_ts)
          left join ours using (workspace)
        where ${isDue} and place <= ${share} - coalesce(held, 0)
        order by place + coalesce(held, 0), next_check_at limit ${limit} for update of follow_ups skip locked)
      returning *`.execute(this.db);
    return rows;
  }

  /** Extends a claim to `ms` from now; false if another process has it. */
  async renew(followUp: FollowUp, claimedBy: string, ms: number): Promise<boolean> {
    return changesRow(
      this.db
        .updateTable('follow_ups')
        .set({ claimed_until: fromNow(ms) })
        .where(inThread(followUp))
        .where('claimed_by', '=', claimedBy),
    );
  }

  /** Records a check; the next is in `ms`. After the last one the row is deleted, unless the check failed. */
  async recordCheck(
    followUp: FollowUp,
    claimedBy: string,
    next: { ms: number; failed: boolean },
  ): Promise<void> {
    // A turn that ended meanwhile has set another time.
    const isOurs = sql<boolean>`turn_id = ${followUp.turn_id} and next_check_at <= clock_timestamp()`;
    await this.db
      .updateTable('follow_ups')
      .set({
        claimed_by: null,
        claimed_until: null,
        checks: sql<number>`checks + 1`,
        next_check_at: sql<Date>`case when ${isOurs} then ${fromNow(next.ms)} else next_check_at end`,
      })
      .where(inThread(followUp))
      .where('claimed_by', '=', claimedBy)
      .execute();
    if (next.failed) return;
    await this.db
      .deleteFrom('follow_ups')
      .where(inThread(followUp))
      .where('claimed_by', 'is', null)
      .where('ends_at', '<', sql<Date>`clock_timestamp()`)
      .execute();
  }

  /** Cancels all checks: the task or the thread is gone. */
  async cancel(followUp: FollowUp): Promise<void> {
    await this.db
      .deleteFrom('follow_ups')
      .where(inThread(followUp))
      .where('turn_id', '=', followUp.turn_id)
      .execute();
  }
}

const isDue = sql<boolean>`next_check_at <= clock_timestamp() and ${isInstalled} and ${isUnclaimed()}`;
