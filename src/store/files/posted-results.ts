import { sql } from 'kysely';
import { inThread, Queries } from '../queries.ts';
import type { PostedResult, SlackTs, ThreadKey, TurnLocation } from '../schema.ts';

/** The post that claimed a result or a review. */
export interface ClaimedResult extends Pick<PostedResult, 'turn_id' | 'batch' | 'sha256'> {
  shown: boolean;
}

/** Where a result or a review is in Slack. */
export interface ShownResult {
  shown_ts: SlackTs[];
  /** Slack's id. */
  file: string | null;
}

/** Which post shows each result and each review: each is posted once per thread. */
export class PostedResults extends Queries {
  /** The claims of the thread's results, by result id. */
  async ofThread(thread: ThreadKey): Promise<Map<string, ClaimedResult>> {
    const rows = await this.rows(sql<ClaimedResult & { result_id: string }>`
      select result_id, turn_id, batch, posted_at is not null as shown, sha256 from posted_results where ${inThread(thread)}`);
    return new Map(rows.map(({ result_id, ...claimed }) => [result_id, claimed]));
  }

  /** By the id of each result and review of a thread: the messages that show it, and its own file there. */
  async shownIn(thread: ThreadKey): Promise<Map<string, ShownResult>> {
    const own = sql`(workspace, turn_id) = (posted_results.workspace, posted_results.turn_id)`;
    const rows = await this.rows(sql<ShownResult & { result_id: string }>`
      select result_id,
        array(select ts::text from posts where ${own} and state = 'posted' and ts is not null
          and (part = 'results:' || coalesce(nullif(batch, ''), '0') or starts_with(part, batch || ':'))) as shown_ts,
        (select dedupe_key from posts where ${own} and part = 'result:' || result_id and state = 'posted') as file
      from posted_results where ${inThread(thread)}`);
    return new Map(rows.map(({ result_id, ...shown }) => [result_id, shown]));
  }

  /** Claims results for a post; earlier claims stay. */
  async claim(turn: TurnLocation, batch: string, resultIds: readonly string[]): Promise<void> {
    const { workspace, channel, thread_ts, id } = turn;
    await this.changes(sql`
      insert into posted_results (workspace, channel, thread_ts, result_id, turn_id, batch)
      select ${workspace}, ${channel}, ${thread_ts}, result_id, ${id}, ${batch} from unnest(${[...resultIds]}::text[]) as given (result_id)
      on conflict do nothing`);
  }

  /** Records the SHA-256 of a result whose bytes went into the thread, in hexadecimal digits. */
  async recordDigest(thread: ThreadKey, resultId: string, sha256: string): Promise<void> {
    await this.changes(
      sql`update posted_results set sha256 = ${sha256} where ${inThread(thread)} and result_id = ${resultId}`,
    );
  }

  async markPosted(turn: TurnLocation, batch: string): Promise<void> {
    await this.changes(sql`
      update posted_results set posted_at = now() where ${inThread(turn)} and turn_id = ${turn.id} and batch = ${batch}`);
  }
}
