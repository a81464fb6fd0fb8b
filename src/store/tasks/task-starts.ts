import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { Queries, toPostgresJson } from '../queries.ts';
import type { MessageContent, SlackTs, TaskStart } from '../schema.ts';
import { fromNow, isUnclaimed } from '../sql-expressions.ts';

/** How long one process has for a post (ms): longer than the call may take. */
const CLAIM_MS = 20_000;

/** Identifies a form. */
export type TaskStartKey = Pick<TaskStart, 'workspace' | 'id'>;

/** An open form that has not been sent. */
export type TaskStartDraft = Omit<
  TaskStart,
  'state' | 'content' | 'post_intended_at' | 'claimed_by' | 'claimed_until' | 'created_at'
>;

/** Tasks that people start with a form. Each form takes effect once, however often it is sent. */
export class TaskStarts extends Queries {
  async get(key: TaskStartKey): Promise<TaskStart | undefined> {
    return this.first(sql<TaskStart>`select * from task_starts where ${isStart(key)}`);
  }

  /** Saves what an open form is about. */
  async saveDraft(draft: TaskStartDraft): Promise<void> {
    const { workspace, id, user_id, channel, thread_ts, message_ts, source_turn_id, source_content } = draft;
    await this.changes(sql`
      insert into task_starts (workspace, id, state, user_id, channel, thread_ts, message_ts, source_turn_id, source_content)
      values (${workspace}, ${id}, 'draft', ${user_id}, ${channel}, ${thread_ts}, ${message_ts}, ${source_turn_id},
        ${source_content && toPostgresJson(source_content)})
      on conflict do nothing`);
  }

  /**
   * Saves a question to post into a channel, and claims it for this process; undefined if the same form was sent
   * before.
   */
  async claimForPosting(
    start: TaskStartKey & { user_id: string; channel: string; content: MessageContent },
  ): Promise<TaskStart | undefined> {
    const { workspace, id, user_id, channel, content } = start;
    return this.first(sql<TaskStart>`
      insert into task_starts (workspace, id, state, channel, user_id, content, claimed_by, claimed_until)
      values (${workspace}, ${id}, 'posting', ${channel}, ${user_id}, ${toPostgresJson(content)}, ${randomUUID()}, ${fromNow(CLAIM_MS)})
      on conflict (workspace, id) do update set state = excluded.state, channel = excluded.channel, user_id = excluded.user_id,
        content = excluded.content, claimed_by = excluded.claimed_by, claimed_until = excluded.claimed_until
        where task_starts.state = 'draft'
      returning *`);
  }

  /** Slack rejected the post: the form, which is still open, may be sent again. */
  async returnToDraft(key: TaskStartKey): Promise<void> {
    const change = sql`state = 'draft', post_intended_at = null, content = null, claimed_until = null`;
    await this.#update(key, change, sql`state = 'posting'`);
  }

  /** The post is about to be sent; the first time is recorded. False if another process has the claim. */
  async intend({ workspace, id, claimed_by }: TaskStart): Promise<boolean> {
    const change = sql`post_intended_at = coalesce(post_intended_at, clock_timestamp()), claimed_until = ${fromNow(CLAIM_MS)}`;
    return this.#update({ workspace, id }, change, sql`state = 'posting' and claimed_by = ${claimed_by}`);
  }

  /** The post was certainly not sent. */
  async forgetIntent(key: TaskStartKey): Promise<void> {
    await this.#update(key, sql`post_intended_at = null`, sql`true`);
  }

  /** The form has taken effect, in a new thread or none, and its content is erased; false if it had before. */
  async finish(key: TaskStartKey, threadTs: SlackTs | null = null): Promise<boolean> {
    const change = sql`state = 'done', source_content = null, content = null, thread_ts = coalesce(thread_ts, ${threadTs})`;
    return this.#update(key, change, sql`state <> 'done'`);
  }

  /** Renews the claims of questions under way. */
  async renewClaims(starts: readonly Pick<TaskStart, 'claimed_by'>[]): Promise<void> {
    const claims = starts.flatMap(({ claimed_by }) => claimed_by ?? []);
    if (claims.length === 0) return;
    await this.changes(sql`
      update task_starts set claimed_until = ${fromNow(CLAIM_MS)}
      where claimed_by = any(${claims}::uuid[]) and claimed_until is not null`);
  }

  /** Claims questions that no process is posting. */
  async claimAbandoned(limit: number): Promise<TaskStart[]> {
    return this.rows(sql<TaskStart>`
      update task_starts set claimed_by = ${randomUUID()}, claimed_until = ${fromNow(CLAIM_MS)}
      where (workspace, id) in (
        select workspace, id from task_starts
        where content is not null and ${isUnclaimed()}
        limit ${limit} for update skip locked)
      returning *`);
  }

  async #update(
    key: TaskStartKey,
    change: RawBuilder<unknown>,
    condition: RawBuilder<unknown>,
  ): Promise<boolean> {
    return this.changes(sql`update task_starts set ${change} where ${isStart(key)} and ${condition}`);
  }
}

function isStart({ workspace, id }: TaskStartKey) {
  return sql`(workspace, id) = (${workspace}, ${id})`;
}
