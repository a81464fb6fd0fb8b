import { sql } from 'kysely';
import { inThread } from '../filters.ts';
import type { ThreadKey } from '../keys.ts';
import { Queries } from '../queries.ts';
import type { Turn, TurnLocation } from '../schema.ts';

/** The post that claimed a result. */
export interface ClaimedResult {
  turn_id: string;
  /** '' for results at the turn's end, else the name of a later group. */
  batch: string;
  shown: boolean;
}

/** Which post shows each result: each is posted once per thread. */
export class PostedResults extends Queries {
  /** The claims of the thread's results, by result id. */
  async ofThread(thread: ThreadKey): Promise<Map<string, ClaimedResult>> {
    const rows = await this.db
      .selectFrom('posted_results')
      .select(['result_id', 'turn_id', 'batch', 'posted_at'])
      .where(inThread(thread))
      .execute();
    return new Map(
      rows.map(({ result_id, turn_id, batch, posted_at }) => [
        result_id,
        { turn_id, batch, shown: posted_at !== null },
      ]),
    );
  }

  /** Claims results for a post; earlier claims stay. */
  async claim(turn: Turn, batch: string, resultIds: readonly string[]): Promise<void> {
    if (resultIds.length === 0) return;
    const { workspace, channel, thread_ts } = turn;
    await this.db
      .insertInto('posted_results')
      .values(
        resultIds.map((result_id) => ({ workspace, channel, thread_ts, result_id, turn_id: turn.id, batch })),
      )
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  /** The post is in the thread. */
  async markPosted(turn: Turn, batch: string): Promise<void> {
    await this.db
      .updateTable('posted_results')
      .set({ posted_at: sql<Date>`now()` })
      .where(inThread(turn))
      .where((row) => row.and({ turn_id: turn.id, batch }))
      .execute();
  }
}

/** Which turn posts each review: each is posted once per thread. */
export class PostedReviews extends Queries {
  /** The ids of the reviews that were posted in the thread. */
  async postedIn(thread: ThreadKey): Promise<Set<string>> {
    const rows = await this.db
      .selectFrom('posted_reviews')
      .select('review_id')
      .where(inThread(thread))
      .where('posted_at', 'is not', null)
      .execute();
    return new Set(rows.map(({ review_id }) => review_id));
  }

  /** Claims a review; returns the turn that posts it: this one, or an earlier one. */
  async claim({ workspace, channel, thread_ts, id }: TurnLocation, review: string): Promise<string> {
    const row = await this.db
      .insertInto('posted_reviews')
      .values({ workspace, channel, thread_ts, review_id: review, turn_id: id })
      .onConflict((conflict) =>
        conflict
          .columns(['workspace', 'channel', 'thread_ts', 'review_id'])
          .doUpdateSet((set) => ({ turn_id: set.ref('posted_reviews.turn_id') })),
      )
      .returning('turn_id')
      .executeTakeFirstOrThrow();
    return row.turn_id;
  }

  /** The review is in the thread. */
  async markPosted(thread: ThreadKey, review: string): Promise<void> {
    await this.db
      .updateTable('posted_reviews')
      .set({ posted_at: sql<Date>`now()` })
      .where(inThread(thread))
      .where('review_id', '=', review)
      .execute();
  }
}
