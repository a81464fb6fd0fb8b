import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { fromNow } from '../clock.ts';
import { isUnclaimed } from '../filters.ts';
import { toPostgresJson } from '../postgres-json.ts';
import { changesRow, Queries } from '../queries.ts';
import type { MessageContent, TaskStart } from '../schema.ts';

/** How long one process has for a post (ms): longer than the call may take. */
const CLAIM_MS = 20_000;

/** Identifies a form. */
export type TaskStartKey = Pick<TaskStart, 'workspace' | 'id'>;

/** An open form that has not been sent. */
export type TaskStartDraft = Pick<
  TaskStart,
  | keyof TaskStartKey
  | 'user_id'
  | 'channel'
  | 'thread_ts'
  | 'message_ts'
  | 'source_turn_id'
  | 'source_content'
>;

/** Tasks that people start with a form. Each form takes effect once, however often it is sent. */
export class TaskStarts extends Queries {
  async get({ workspace, id }: TaskStartKey): Promise<TaskStart | undefined> {
    return this.db
      .selectFrom('task_starts')
      .selectAll()
      .where((row) => row.and({ workspace, id }))
      .executeTakeFirst();
  }

  /** Saves what an open form is about. */
  async saveDraft(draft: TaskStartDraft): Promise<void> {
    const source = draft.source_content === null ? null : toPostgresJson(draft.source_content);
    await this.db
      .insertInto('task_starts')
      .values({ ...draft, source_content: source, state: 'draft' })
      .onConflict((conflict) => conflict.columns(['workspace', 'id']).doNothing())
      .execute();
  }

  /**
   * Saves a question to post into a channel, and claims it for this process; undefined if the same form was sent
   * before.
   */
  async claimForPosting(
    start: TaskStartKey & { user_id: string; channel: string; content: MessageContent },
  ): Promise<TaskStart | undefined> {
    const { channel, user_id } = start;
    const set = {
      state: 'posting' as const,
      channel,
      user_id,
      content: toPostgresJson(start.content),
      claimed_by: randomUUID(),
      claimed_until: fromNow(CLAIM_MS),
    };
    return this.db
      .insertInto('task_starts')
      .values({ workspace: start.workspace, id: start.id, ...set })
      .onConflict((conflict) =>
        conflict.columns(['workspace', 'id']).doUpdateSet(set).where('task_starts.state', '=', 'draft'),
      )
      .returningAll()
      .executeTakeFirst();
  }

  /**
   * Slack rejected the post: the form may be sent again. `open`: it is still open with what was typed; `anew`: it is
   * shown again, and its files need not be chosen again; `later`: the same, and the question is kept until
   * `markFormReturned`, or until another process claims it as abandoned.
   */
  async returnToDraft(
    { workspace, id, source_content, content }: TaskStart,
    form: 'open' | 'anew' | 'later',
  ): Promise<void> {
    const files = content?.files === undefined ? {} : { files: content.files };
    await this.#update({ workspace, id })
      .set({
        state: 'draft',
        post_intended_at: null,
        ...(form === 'open'
          ? {}
          : { source_content: toPostgresJson({ ...(source_content ?? { text: '' }), ...files }) }),
        ...(form === 'later' ? { claimed_until: fromNow(CLAIM_MS) } : { content: null, claimed_until: null }),
      })
      .where('state', '=', 'posting')
      .execute();
  }

  /** The form is back with its writer: the question need not be kept. */
  async markFormReturned(key: TaskStartKey): Promise<void> {
    await this.#update(key)
      .set({ content: null, claimed_until: null })
      .where('state', '=', 'draft')
      .execute();
  }

  /** An open form's question goes into another channel, not into its thread. */
  async detachFromThread(key: TaskStartKey): Promise<void> {
    await this.#update(key).set({ thread_ts: null }).where('state', '=', 'draft').execute();
  }

  /** The post is about to be sent; the first time is recorded. False if another process has the claim. */
  async intend({ workspace, id, claimed_by }: TaskStart): Promise<boolean> {
    return changesRow(
      this.#update({ workspace, id })
        .set({
          post_intended_at: sql<Date>`coalesce(post_intended_at, clock_timestamp())`,
          claimed_until: fromNow(CLAIM_MS),
        })
        .where('state', '=', 'posting')
        .where('claimed_by', '=', claimed_by),
    );
  }

  /** The post was certainly not sent. */
  async forgetIntent(key: TaskStartKey): Promise<void> {
    await this.#update(key).set({ post_intended_at: null }).execute();
  }

  /** The form has taken effect, and its content is erased; false if it had before. */
  async finish(key: TaskStartKey): Promise<boolean> {
    return changesRow(
      this.#update(key)
        .set({ state: 'done', source_content: null, content: null })
        .where('state', '!=', 'done'),
    );
  }

  /** Renews the claims of questions under way. */
  async renewClaims(starts: readonly Pick<TaskStart, 'claimed_by'>[]): Promise<void> {
    const claims = starts.flatMap(({ claimed_by }) => claimed_by ?? []);
    if (claims.length === 0) return;
    await this.db
      .updateTable('task_starts')
      .set({ claimed_until: fromNow(CLAIM_MS) })
      .where('claimed_by', 'in', claims)
      .where('claimed_until', 'is not', null)
      .execute();
  }

  /** Claims questions that no process is posting or returning. */
  async claimAbandoned(limit: number): Promise<TaskStart[]> {
    return this.db
      .updateTable('task_starts')
      .set({ state: 'posting', claimed_by: randomUUID(), claimed_until: fromNow(CLAIM_MS) })
      .where((where) =>
        where(
          where.refTuple('workspace', 'id'),
          'in',
          where
            .selectFrom('task_starts')
            .select(['workspace', 'id'])
            .where('state', 'in', ['posting', 'draft'])
            .where('content', 'is not', null)
            .where(isUnclaimed())
            .limit(limit)
            .forUpdate()
            .skipLocked()
            .$asTuple('workspace', 'id'),
        ),
      )
      .returningAll()
      .execute();
  }

  #update({ workspace, id }: TaskStartKey) {
    return this.db.updateTable('task_starts').where((row) => row.and({ workspace, id }));
  }
}
