import { sql } from 'kysely';
import { databaseNow } from '../../calls/clocks.ts';
import { ofTurn, Queries } from '../queries.ts';
import type { MessageKey, Post, SlackTs, Turn, TurnId, TurnLocation } from '../schema.ts';
import { isOpenTurn } from './turn-phase.ts';

/** A part that is in Slack, and where; null of a file, which its key identifies. */
export interface PostOutcome {
  part: string;
  ts: SlackTs | null;
}

/** The part that a turn's reply has as its message number `index`. */
export function replyPart(index: number): string {
  return `reply:${index}`;
}

/** The part that says of a turn that its task still works; it gets the other name once the work has ended. */
export const BACKGROUND_PART = 'background';
export const ENDED_BACKGROUND_PART = 'background:ended';
/** The line that tells who asked that it has. */
export const BACKGROUND_END_PART = 'background:told';

/** The list of an answer's sources, where it is a message of its own. */
export const SOURCES_PART = 'sources';

/** The line at the end of a long turn, and the reminder of one that waits for a person: both mention who asked. */
export const END_PART = 'end';
export const REMINDER_PART = 'reminder';

/** What identifies the first post of a part. */
function postKey({ id }: Pick<Turn, 'id'>, part: string): string {
  return `${id}/${part}`;
}

/** A part that is posted again, or was set aside, needs a new key: the old key would find the old post. */
export function nextPostKey(turn: Pick<Turn, 'id'>, part: string, posts: ReadonlyMap<string, Post>): string {
  const before = posts.get(part);
  if (before !== undefined) return before.state === 'gone' ? `${before.dedupe_key}+` : before.dedupe_key;
  const first = postKey(turn, part);
  const used = [...posts.values()].filter(({ dedupe_key }) => dedupe_key.replace(/\++$/, '') === first);
  return first + '+'.repeat(used.length);
}

/** A post that is about to be sent. */
export function intendedPost(turn: TurnLocation, part: string, key = postKey(turn, part)): Post {
  const { workspace, id: turn_id, channel, thread_ts } = turn;
  const fresh = { state: 'intended', ts: null, intended_at: new Date(databaseNow()) } as const;
  return { workspace, turn_id, part, dedupe_key: key, is_stream: false, channel, thread_ts, ...fresh };
}

/** A statement that records a post that is about to be sent. */
export function postInsert(post: Post) {
  const { workspace, turn_id, part, dedupe_key, channel, thread_ts, state, is_stream, intended_at } = post;
  return sql`
    insert into posts (workspace, turn_id, part, dedupe_key, channel, thread_ts, state, is_stream, intended_at)
    values (${workspace}, ${turn_id}, ${part}, ${dedupe_key}, ${channel}, ${thread_ts}, ${state}, ${is_stream}, ${intended_at})`;
}

/** A statement that records posts of a turn. */
export function postsUpdate(turn: TurnId, posts: readonly PostOutcome[]) {
  const parts = posts.map(({ part }) => part);
  return sql`
    update posts set state = 'posted', ts = given.ts
    from unnest(${parts}::text[], ${posts.map(({ ts }) => ts)}::numeric[]) as given (part, ts)
    where ${ofTurn(turn)} and posts.part = given.part`;
}

/** Our own messages in Slack: the intent is recorded first, then the outcome. */
export class Posts extends Queries {
  /** All posts of a turn, by part. */
  async ofTurn(turn: TurnId): Promise<Map<string, Post>> {
    const rows = await this.db.selectFrom('posts').selectAll().where(ofTurn(turn)).execute();
    return new Map(rows.map((row) => [row.part, row]));
  }

  /** The turn that a message of ours belongs to. */
  async turnOf({ workspace, channel, ts }: MessageKey): Promise<Turn | undefined> {
    return this.first(sql<Turn>`
      select turns.* from posts join turns on (turns.workspace, turns.id) = (posts.workspace, posts.turn_id)
      where posts.workspace = ${workspace} and posts.channel = ${channel} and posts.ts = ${ts}`);
  }

  /** The turns at work in a channel with a post that Slack may have before it is recorded, the latest first. */
  async turnsPosting(workspace: string, channel: string, most: number): Promise<Turn[]> {
    return this.rows(sql<Turn>`
      select * from turns
      where workspace = ${workspace} and channel = ${channel} and ${isOpenTurn} and exists (
        select from posts where (posts.workspace, posts.turn_id) = (turns.workspace, turns.id) and state = 'intended')
      order by id desc limit ${most}`);
  }

  /** Records that a part is about to be posted, or posted again. */
  async intend(turn: TurnLocation, part: string, key: string, isStream = false): Promise<Post> {
    const post = { ...intendedPost(turn, part, key), is_stream: isStream };
    const row = await this.first(sql<Pick<Post, 'intended_at'>>`
      ${postInsert(post)} on conflict (workspace, turn_id, part) do update set state = excluded.state,
        dedupe_key = excluded.dedupe_key, is_stream = excluded.is_stream, ts = null, intended_at = clock_timestamp()
      returning intended_at`);
    return { ...post, ...row };
  }

  /** Records where parts are in Slack. */
  async record(turn: TurnId, posts: readonly PostOutcome[]): Promise<void> {
    if (posts.length > 0) await postsUpdate(turn, posts).execute(this.db);
  }

  /** Slack no longer has a part. */
  async markGone(turn: TurnId, part: string): Promise<void> {
    await this.changes(sql`update posts set state = 'gone' where ${ofTurn(turn)} and part = ${part}`);
  }

  /** Renames a part's message, in place of one of that name that Slack no longer has: the part is posted again. */
  async renamePart(turn: TurnId, part: string, name: string): Promise<void> {
    await this.changes(sql`delete from posts where ${ofTurn(turn)} and part = ${name} and state = 'gone'`);
    await this.changes(sql`update posts set part = ${name} where ${ofTurn(turn)} and part = ${part}`);
  }

  /** The part was certainly not posted. */
  async delete(turn: TurnId, part: string): Promise<void> {
    await this.db.deleteFrom('posts').where(ofTurn(turn)).where('part', '=', part).execute();
  }
}
