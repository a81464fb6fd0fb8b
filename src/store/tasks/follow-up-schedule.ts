import { type Kysely, sql } from 'kysely';
import { fromNow } from '../clock.ts';
import { inThread, isUnclaimed } from '../filters.ts';
import type { FollowUp, Tables, Turn } from '../schema.ts';

/** Tasks that are looked at now and then after their turn has ended; any process may look. */
export class FollowUpSchedule {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Watches the thread of a turn that has ended for `forMs`, from `firstMs` on. */
  async schedule(
    turn: Pick<Turn, 'workspace' | 'channel' | 'root' | 'id'>,
    times: { firstMs: number; forMs: number },
  ): Promise<void> {
    const { workspace, channel, root, id } = turn;
    const begun = {
      turn: id,
      checks: 0,
      next_check_at: fromNow(times.firstMs),
      ends_at: fromNow(times.forMs),
    };
    await this.#db
      .insertInto('follow_ups')
      .values({ workspace, channel, root, ...begun })
      .onConflict((conflict) => conflict.columns(['workspace', 'channel', 'root']).doUpdateSet(begun))
      .execute();
  }

  /** Claims watches that are due, for `ms`; of each workspace no more than leave it `share` claims of this holder's. */
  async claim(claimedBy: string, ms: number, limit: number, share: number = limit): Promise<FollowUp[]> {
    const { rows } = await sql<FollowUp>`
      with ours as (
        select workspace, count(*) as held from follow_ups
        where claimed_by = ${claimedBy} and claimed_until >= clock_timestamp() group by workspace
      ), due as (
        select workspace, channel, root, row_number() over (partition by workspace order by next_check_at) as place
        from follow_ups where ${isDue}
      )
      update follow_ups set claimed_by = ${claimedBy}, claimed_until = ${fromNow(ms)}
      where (workspace, channel, root) in (
        select workspace, channel, root from follow_ups
        where ${isDue} and (workspace, channel, root) in (
          select workspace, channel, root from due left join ours using (workspace)
          where place <= ${share} - coalesce(held, 0))
        order by next_check_at limit ${limit} for update skip locked)
      returning *`.execute(this.#db);
    return rows;
  }

  /** Holds a claim for `ms` more; false where it is another's by now. */
  async renew(followUp: FollowUp, claimedBy: string, ms: number): Promise<boolean> {
    const { numUpdatedRows } = await this.#db
      .updateTable('follow_ups')
      .set({ claimed_until: fromNow(ms) })
      .where(inThread(followUp))
      .where('claimed_by', '=', claimedBy)
      .executeTakeFirstOrThrow();
    return numUpdatedRows > 0n;
  }

  /** A look is over: the next is in `ms`. Where the time is over there is none, but after one that failed. */
  async recordCheck(
    followUp: FollowUp,
    claimedBy: string,
    next: { ms: number; failed: boolean },
  ): Promise<void> {
    // A turn that ended meanwhile has set a time of its own.
    const isOurs = sql<boolean>`turn = ${followUp.turn} and next_check_at <= clock_timestamp()`;
    await this.#db
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
    await this.#db
      .deleteFrom('follow_ups')
      .where(inThread(followUp))
      .where('claimed_by', 'is', null)
      .where('ends_at', '<', sql<Date>`clock_timestamp()`)
      .execute();
  }

  /** Nothing more can come: the task or the thread is gone. */
  async cancel(followUp: FollowUp): Promise<void> {
    await this.#db
      .deleteFrom('follow_ups')
      .where(inThread(followUp))
      .where('turn', '=', followUp.turn)
      .execute();
  }
}

const isDue = sql<boolean>`next_check_at <= clock_timestamp() and ${isUnclaimed()}`;
