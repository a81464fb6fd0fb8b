import { sql } from 'kysely';
import { inThread } from '../filters.ts';
import type { ThreadKey } from '../keys.ts';
import { Queries } from '../queries.ts';
import type { PostedResult, TurnLocation } from '../schema.ts';

/** The post that claimed a result or a review. */
export interface ClaimedResult extends Pick<PostedResult, 'turn_id' | 'batch'> {
  shown: boolean;
}

/** Which post shows each result and each review: each is posted once per thread. */
export class PostedResults extends Queries {
  /** The claims of the thread's results, by result id. */
  async ofThread(thread: ThreadKey): Promise<Map<string, ClaimedResult>> {
    const rows = await this.rows(sql<ClaimedResult & { result_id: string }>`
      select result_id, turn_id, batch, posted_at is not null as shown from posted_results where ${inThread(thread)}`);
    return new Map(rows.map(({ result_id, ...claimed }) => [result_id, claimed]));
  }

  /** Claims results for a post; earlier claims stay. */
  async claim(turn: TurnLocation, batch: string, resultIds: readonly string[]): Promise<void> {
    const { workspace, channel, thread_ts, id } = turn;
    await this.changes(sql`
      insert into posted_results (workspace, channel, thread_ts, result_id, turn_id, batch)
      select ${workspace}, ${channel}, ${thread_ts}, result_id, ${id}, ${batch} from unnest(${[...resultIds]}::text[]) as given (result_id)
      on conflict do nothing`);
  }

  /** The post is in the thread. */
  async markPosted(turn: TurnLocation, batch: string): Promise<void> {
    await this.changes(sql`
      update posted_results set posted_at = now() where ${inThread(turn)} and turn_id = ${turn.id} and batch = ${batch}`);
  }
}
