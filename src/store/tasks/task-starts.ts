import { sql } from 'kysely';
import { CHANNEL_LEVEL, JOB_KIND, jobInsert } from '../jobs/jobs.ts';
import { Queries, toPostgresJson } from '../queries.ts';
import type { MessageContent, SlackTs, TaskStart, ThreadKey, Turn } from '../schema.ts';

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

  /** The turn of an earlier thread whose question a form asked again as the root of this one. */
  async sourceTurnOf({ workspace, channel, thread_ts }: ThreadKey): Promise<Turn | undefined> {
    return this.first(sql<Turn>`
      select turns.* from task_starts as form
      join turns on (turns.workspace, turns.id) = (form.workspace, form.source_turn_id)
      where (form.workspace, form.channel, form.thread_ts) = (${workspace}, ${channel}, ${thread_ts})
        and turns.thread_ts <> form.thread_ts limit 1`);
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

  /** Saves a question to post and its job; false if the form was sent before. */
  async send({ workspace, id, user_id, channel, content }: TaskStartQuestion): Promise<boolean> {
    const place = { workspace, channel, thread_ts: CHANNEL_LEVEL };
    const job = { ...place, kind: JOB_KIND.taskStart, key: id, person: user_id };
    return this.changes(sql`
      with saved as (
        insert into task_starts (workspace, id, state, channel, user_id, content)
        values (${workspace}, ${id}, 'posting', ${channel}, ${user_id}, ${toPostgresJson(content)})
        on conflict (workspace, id) do update set state = excluded.state, channel = excluded.channel,
          user_id = excluded.user_id, content = excluded.content
          where task_starts.state = 'draft'
        returning id
      ) ${jobInsert(job, 0, sql`exists (select from saved)`)} on conflict do nothing`);
  }

  /** The form has taken effect, in a new thread or none, and its content is erased; false if it had before. */
  async finish(key: TaskStartKey, threadTs: SlackTs | null = null): Promise<boolean> {
    return this.changes(sql`
      update task_starts set state = 'done', source_content = null, content = null, thread_ts = coalesce(thread_ts, ${threadTs})
      where ${isStart(key)} and state <> 'done'`);
  }
}

function isStart({ workspace, id }: TaskStartKey) {
  return sql`(workspace, id) = (${workspace}, ${id})`;
}
