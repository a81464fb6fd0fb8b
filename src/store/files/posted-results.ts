import { sql } from 'kysely';
import { inThread, ofTurn, Queries } from '../queries.ts';
import type {
  PostedResult,
  SlackFileRow,
  SlackFileState,
  SlackTs,
  ThreadKey,
  TurnId,
  TurnLocation,
} from '../schema.ts';

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
        (select slack_file_id from slack_files
          where ${own} and part = 'result:' || result_id and state = 'shared') as file
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

/** Files that we put into Slack: the id is recorded first, then each state. */
export class SlackFiles extends Queries {
  /** All files of a turn, by part. */
  async ofTurn(turn: TurnId): Promise<Map<string, SlackFileRow>> {
    const rows = await this.db.selectFrom('slack_files').selectAll().where(ofTurn(turn)).execute();
    return new Map(rows.map((row) => [row.part, row]));
  }

  /** Slack has assigned an id to a part; nobody can see the file yet. */
  async begin(turn: TurnId, part: string, slackFile: string): Promise<void> {
    await this.changes(sql`
      insert into slack_files (workspace, turn_id, part, slack_file_id, state)
      values (${turn.workspace}, ${turn.id}, ${part}, ${slackFile}, 'begun')
      on conflict (workspace, turn_id, part) do update
        set slack_file_id = excluded.slack_file_id, state = excluded.state, intended_at = clock_timestamp()`);
  }

  async setState(turn: TurnId, parts: readonly string[], state: SlackFileState): Promise<void> {
    await this.changes(sql`
      update slack_files set state = ${state}, intended_at = clock_timestamp()
      where ${ofTurn(turn)} and part = any(${[...parts]}::text[])`);
  }

  /** The parts start over. */
  async delete(turn: TurnId, parts: readonly string[]): Promise<void> {
    await this.changes(
      sql`delete from slack_files where ${ofTurn(turn)} and part = any(${[...parts]}::text[])`,
    );
  }
}
