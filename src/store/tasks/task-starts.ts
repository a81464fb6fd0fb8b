import { type RawBuilder, sql } from 'kysely';
import { CHANNEL_LEVEL, JOB_KIND, jobInsert } from '../jobs/jobs.ts';
import { Queries, toPostgresJson } from '../queries.ts';
import type { Job, MessageContent, SlackTs, TaskStart } from '../schema.ts';

/** Identifies a form. */
export type TaskStartKey = Pick<TaskStart, 'workspace' | 'id'>;

/** An open form that has not been sent. */
export type TaskStartDraft = Omit<TaskStart, 'state' | 'content' | 'created_at'>;

/** A form that was sent, with its question. */
export type TaskStartQuestion = TaskStartKey & { user_id: string; channel: string; content: MessageContent };

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

  /** Saves a question to post and its job, which the caller has for `holdMs`; undefined if the form was sent before. */
  async send(
    { workspace, id, user_id, channel, content }: TaskStartQuestion,
    holdMs = 0,
  ): Promise<Job | undefined> {
    const job = { workspace, kind: JOB_KIND.taskStart, channel, thread_ts: CHANNEL_LEVEL, key: id };
    const isSaved = sql`exists (select from saved)`;
    return this.first(sql<Job>`
      with saved as (
        insert into task_starts (workspace, id, state, channel, user_id, content)
        values (${workspace}, ${id}, 'posting', ${channel}, ${user_id}, ${toPostgresJson(content)})
        on conflict (workspace, id) do update set state = excluded.state, channel = excluded.channel,
          user_id = excluded.user_id, content = excluded.content
          where task_starts.state = 'draft'
        returning id
      ), added as (${jobInsert(job, 0, holdMs, isSaved)} on conflict do nothing returning *)
      select * from added`);
  }

  /** Slack rejected the post: the form, which is still open, may be sent again. */
  async returnToDraft(key: TaskStartKey): Promise<void> {
    await this.#update(key, sql`state = 'draft', content = null`, sql`state = 'posting'`);
  }

  /** The form has taken effect, in a new thread or none, and its content is erased; false if it had before. */
  async finish(key: TaskStartKey, threadTs: SlackTs | null = null): Promise<boolean> {
    const change = sql`state = 'done', source_content = null, content = null, thread_ts = coalesce(thread_ts, ${threadTs})`;
    return this.#update(key, change, sql`state <> 'done'`);
  }

  async #update(key: TaskStartKey, change: RawBuilder<unknown>, condition: RawBuilder<unknown>) {
    return this.changes(sql`update task_starts set ${change} where ${isStart(key)} and ${condition}`);
  }
}

function isStart({ workspace, id }: TaskStartKey) {
  return sql`(workspace, id) = (${workspace}, ${id})`;
}
