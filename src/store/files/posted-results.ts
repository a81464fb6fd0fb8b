import { sql } from 'kysely';
import { inThread, Queries } from '../queries.ts';
import type { PostedResult, SlackTs, ThreadKey, TurnLocation } from '../schema.ts';

/** The post that claimed a result or a review. */
export interface ClaimedResult
  extends Pick<PostedResult, 'turn_id' | 'batch' | 'sha256' | 'earlier_turn_ids'> {
  shown: boolean;
}

/** Whether a turn posted a result: what was written again since belongs to a later turn, too. */
export function isPostedBy(turnId: string, claim: ClaimedResult | undefined): boolean {
  return claim?.turn_id === turnId || claim?.earlier_turn_ids.includes(turnId) === true;
}

/** A result, with its bytes and when it was made as far as the service tells them, or a review. */
export interface ClaimableResult {
  readonly id: string;
  readonly sizeBytes?: number | null;
  readonly createdAt?: Date | null;
}

/** A younger result (ms) may have the time of the service's answer for its own. */
const LEAST_AGE_MS = 2_000;

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
      select result_id, turn_id, batch, posted_at is not null as shown, sha256, earlier_turn_ids from posted_results where ${inThread(thread)}`);
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

  /** Claims results for a post. An earlier claim stays, unless the result has another size or time now. */
  async claim(turn: TurnLocation, batch: string, results: readonly ClaimableResult[]): Promise<void> {
    const { workspace, channel, thread_ts, id } = turn;
    const isOld = (at: Date) => at.getTime() <= Date.now() - LEAST_AGE_MS;
    const sizes = results.map(({ sizeBytes }) => sizeBytes ?? null);
    const times = results.map(({ createdAt: at }) => (at && isOld(at) ? at.toISOString() : null));
    await this.changes(sql`
      insert into posted_results as known (workspace, channel, thread_ts, result_id, turn_id, batch, size_bytes, made_at)
      select ${workspace}, ${channel}, ${thread_ts}, given.id, ${id}, ${batch}, bytes, made
      from unnest(${results.map((result) => result.id)}::text[], ${sizes}::bigint[], ${times}::timestamptz[]) as given (id, bytes, made)
      where not exists (select from posted_results where ${inThread(turn)} and result_id = given.id
        and (size_bytes <> bytes or made_at <> made) is not true)
      on conflict (workspace, channel, thread_ts, result_id) do update set turn_id = excluded.turn_id, batch = excluded.batch,
        size_bytes = excluded.size_bytes, made_at = excluded.made_at, sha256 = null, posted_at = null,
        earlier_turn_ids = case when (known.turn_id, known.batch) = (excluded.turn_id, excluded.batch)
          then known.earlier_turn_ids
          else array_append(array_remove(known.earlier_turn_ids, known.turn_id), known.turn_id) end
        -- Another process may have claimed it just now.
        where known.size_bytes <> excluded.size_bytes or known.made_at <> excluded.made_at`);
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
