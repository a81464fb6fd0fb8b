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
    const rows = await this.rows(sql<ClaimedResult & { result_id: string }>`
      select result_id, turn_id, batch, posted_at is not null as shown from posted_results where ${inThread(thread)}`);
    return new Map(rows.map(({ result_id, ...claimed }) => [result_id, claimed]));
  }

  /** Claims results for a post; earlier claims stay. */
  async claim(turn: Turn, batch: string, resultIds: readonly string[]): Promise<void> {
    const { workspace, channel, thread_ts, id } = turn;
    await this.changes(sql`
      insert into posted_results (workspace, channel, thread_ts, result_id, turn_id, batch)
      select ${workspace}, ${channel}, ${thread_ts}, result_id, ${id}, ${batch} from unnest(${[...resultIds]}::text[]) as given (result_id)
      on conflict do nothing`);
  }

  /** The post is in the thread. */
  async markPosted(turn: Turn, batch: string): Promise<void> {
    await this.changes(sql`
      update posted_results set posted_at = now() where ${inThread(turn)} and turn_id = ${turn.id} and batch = ${batch}`);
  }
}

/** Which turn posts each review: each is posted once per thread. */
export class PostedReviews extends Queries {
  /** The ids of the reviews that were posted in the thread. */
  async postedIn(thread: ThreadKey): Promise<Set<string>> {
    const rows = await this.rows(sql<{ review_id: string }>`
      select review_id from posted_reviews where ${inThread(thread)} and posted_at is not null`);
    return new Set(rows.map(({ review_id }) => review_id));
  }

  /** Claims a review; returns the turn that posts it: this one, or an earlier one. */
  async claim({ workspace, channel, thread_ts, id }: TurnLocation, review: string): Promise<string> {
    const row = await this.first(sql<{ turn_id: string }>`
      insert into posted_reviews (workspace, channel, thread_ts, review_id, turn_id)
      values (${workspace}, ${channel}, ${thread_ts}, ${review}, ${id})
      on conflict (workspace, channel, thread_ts, review_id) do update set turn_id = posted_reviews.turn_id
      returning turn_id`);
    return row?.turn_id ?? id;
  }

  /** The review is in the thread. */
  async markPosted(thread: ThreadKey, review: string): Promise<void> {
    await this.changes(sql`
      update posted_reviews set posted_at = now() where ${inThread(thread)} and review_id = ${review}`);
  }
}
