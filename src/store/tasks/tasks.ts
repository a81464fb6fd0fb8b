import { type RawBuilder, sql } from 'kysely';
import { JOB_KIND, Jobs, jobWake } from '../jobs/jobs.ts';
import { inThread, Queries, sameThread } from '../queries.ts';
import type { Job, SlackTs, Thread, ThreadKey, Turn, TurnOutcome } from '../schema.ts';
import { waitsForPerson } from '../threads/person-waits.ts';
import { BACKGROUND_PART } from '../threads/posts.ts';
import { hasSent, isOpenTurn } from '../threads/turn-phase.ts';

/** A thread's task, as lists and details show it. */
export interface TaskRow extends Thread {
  task_id: string;
  started_at: Date;
  /** Whether a turn is under way. */
  has_open_turn: boolean;
  /** How the last finished turn ended. */
  outcome: TurnOutcome | null;
  finished_at: Date | null;
}

/** A turn whose task is checked after it has ended, with its thread's account and task. */
export interface CheckedTurn extends Turn {
  account_id: string;
  thread_task_id: string | null;
  /** A turn of the thread is under way. */
  is_busy: boolean;
  /** A later message of the thread was sent to the task. */
  has_later_message: boolean;
  /** The thread's turns of which it says that their task still works. */
  background_turn_ids: string[];
}

/** A turn whose message the service has. */
export interface SentTurn extends Omit<Turn, 'prompt'> {
  /** The messages of its reply. */
  reply_ts: SlackTs[];
  /** What it sent: its message, and those that went with it. */
  sent_ts: SlackTs[];
  /** It sent words of a person who was erased since. */
  is_erased: boolean;
}

/** A page of tasks, newest first. */
export interface TaskPage {
  rows: TaskRow[];
  /** How many there are on all pages. */
  total: number;
}

type TaskKey = Pick<TaskRow, keyof ThreadKey | 'task_id'>;

/** A page of a list; `from` counts from 0. */
export interface TaskRange {
  from: number;
  most: number;
}

/** A task that a person started, or wrote in. */
export interface JoinedTask {
  account_id: string;
  task_id: string;
  /** Whether no other person began its thread, even if nothing of theirs was sent, or wrote in it. */
  alone: boolean;
}

/** The tasks of threads, from our own records. */
export class TaskRecords extends Queries {
  /** The tasks in which a person asked: those that they started, and those of others that they wrote to. */
  async ofPerson(workspace: string, person: string, range: TaskRange): Promise<TaskPage> {
    const isTheirs = sql`(threads.started_by = ${person} or threads.participant_ids @> array[${person}]::text[])`;
    return this.#page(sql`threads.workspace = ${workspace} and ${isTheirs}`, range);
  }

  /** The tasks with a turn that waits for a person who asked. */
  async waitingFor(workspace: string, person: string, most: number): Promise<TaskRow[]> {
    const isWaiting = sql`exists (
      select from turns where turns.workspace = ${workspace} and ${sameThread('turns', 'threads')}
        and turns.asked_by = ${person} and ${waitsForPerson})`;
    return this.#rows(sql`threads.workspace = ${workspace} and ${isWaiting}`, { from: 0, most });
  }

  /** The tasks of a channel's threads. */
  async ofChannel(workspace: string, channel: string, range: TaskRange): Promise<TaskPage> {
    return this.#page(sql`threads.workspace = ${workspace} and threads.channel = ${channel}`, range);
  }

  /** A thread's task, if it has one. */
  async get(thread: ThreadKey): Promise<TaskRow | undefined> {
    return (await this.#rows(inThread(thread), { from: 0, most: 1 }))[0];
  }

  /** The tasks that a person started or wrote in, former ones of their threads included. */
  async joinedBy(workspace: string, person: string): Promise<JoinedTask[]> {
    return this.rows(sql<JoinedTask>`
      select account_id, unnest(array_remove(former_task_ids || task_id, null)) as task_id,
        participant_ids || started_by <@ array[${person}]::text[] as alone
      from threads where workspace = ${workspace} and (started_by = ${person} or ${person} = any(participant_ids))`);
  }

  /** The service's ids of the files sent with a thread's messages, each once, oldest first. */
  async attachedFileIds(thread: ThreadKey): Promise<string[]> {
    const rows = await this.rows(sql<{ file: string }>`
      select file from (
        select file, min(turns.id::text || lpad(at::text, 6, '0')) as place
        from turns, jsonb_array_elements_text(turns.attached_file_ids) with ordinality as files (file, at)
        where ${inThread(thread)} and ${hasSent} and jsonb_typeof(attached_file_ids) = 'array'
        group by file) as found
      order by place`);
    return rows.map(({ file }) => file);
  }

  /** The turns that sent a message to a thread's task, oldest first. */
  async sentTurns({ task_id, ...thread }: TaskKey): Promise<SentTurn[]> {
    return this.rows(sql<SentTurn>`
      select turns.*, null as prompt, prompt is null and has_text as is_erased,
        array(select ts::text from posts where (posts.workspace, turn_id) = (turns.workspace, turns.id)
          and part like 'reply:%' and state = 'posted' and ts is not null order by ts) as reply_ts,
        array(select ts::text from messages where ${sameThread('messages', 'turns')}
          and (ts = turns.message_ts or sent_with_ts = turns.message_ts) order by ts) as sent_ts
      from turns
      where ${inThread(thread)} and ${hasSent} and coalesce(task_id, ${task_id}) = ${task_id}
      order by id`);
  }

  /** Records the state of a task at the service, unless the thread now has another task. */
  async recordState(row: TaskKey, state: string): Promise<void> {
    await this.#update(row, sql`task_state = ${state}, task_state_read_at = ${new Date()}`);
  }

  /** Saves a thread's link in Slack. */
  async savePermalink(row: TaskKey, permalink: string): Promise<void> {
    await this.#update(row, sql`permalink = ${permalink}`);
  }

  /** The task of the latest earlier thread of a direct channel whose last turn has ended. */
  async previousFinished({ workspace, channel, thread_ts }: ThreadKey): Promise<TaskRow | undefined> {
    const where = sql`threads.workspace = ${workspace} and threads.channel = ${channel} and threads.thread_ts < ${thread_ts}
      and last.finished_at is not null`;
    return (await this.#rows(where, { from: 0, most: 1 }))[0];
  }

  /** The service's ids of a task's replies but for a turn's own, the latest first. */
  async otherReplies(turn: Turn, taskId: string): Promise<string[]> {
    const replies = await this.rows(sql<{ id: string }>`
      select assistant_message_id as id from turns
      where ${inThread(turn)} and task_id = ${taskId} and turns.id <> ${turn.id} and assistant_message_id is not null
      order by turns.id desc`);
    return replies.map(({ id }) => id);
  }

  async #update(row: TaskKey, change: RawBuilder<unknown>): Promise<void> {
    await this.changes(sql`update threads set ${change} where ${inThread(row)} and task_id = ${row.task_id}`);
  }

  async #page(where: ReturnType<typeof sql>, range: TaskRange): Promise<TaskPage> {
    const all = await this.first(sql<{ count: number }>`
      select count(*) as count from threads where task_id is not null and ${where}`);
    return { rows: await this.#rows(where, range), total: all?.count ?? 0 };
  }

  async #rows(where: ReturnType<typeof sql>, { from, most }: TaskRange): Promise<TaskRow[]> {
    return this.rows(sql<TaskRow>`
      select threads.*, coalesce(threads.task_started_at, threads.created_at) as started_at,
        last.id is not null and ${isOpenTurn} as has_open_turn,
        last.outcome, last.finished_at
      from threads
      left join lateral (
        select id, outcome, finished_at from turns
        where ${sameThread('turns', 'threads')}
        order by (${isOpenTurn}) desc, id desc limit 1) as last on true
      where threads.task_id is not null and ${where}
      order by coalesce(threads.task_started_at, threads.created_at) desc, threads.thread_ts desc
      offset ${from} limit ${most}`);
  }

  /** The turn of a follow-up; undefined if it is gone. */
  async checkedTurn(workspace: string, turnId: string): Promise<CheckedTurn | undefined> {
    const others = sql`turns as others where ${sameThread('others', 'threads')}`;
    return this.first(sql<CheckedTurn>`
      select turns.*, threads.account_id, threads.task_id as thread_task_id,
        exists (select from ${others} and ${isOpenTurn}) as is_busy,
        exists (select from ${others} and others.id > turns.id and ${hasSent}) as has_later_message,
        array(
          select posts.turn_id::text from posts, ${others}
            and (posts.workspace, posts.turn_id) = (others.workspace, others.id)
            and posts.part = ${BACKGROUND_PART} and posts.state = 'posted'
          order by others.id) as background_turn_ids
      from turns join threads using (workspace, channel, thread_ts)
      where workspace = ${workspace} and turns.id = ${turnId}`);
  }
}

/** Deletions of tasks: requested by a person, done at the service and announced in the thread by a job. */
export class TaskDeletions extends Queries {
  /**
   * Removes a task from its thread, whose next message starts another one, and records the job. `busy` while a turn is
   * under way; `over` if the thread no longer has this task.
   */
  async request(thread: ThreadKey, task: string, person: string): Promise<'recorded' | 'busy' | 'over'> {
    return this.db.transaction().execute(async (trx) => {
      const { rows } = await sql<{ account_id: string; former: string[]; is_busy: boolean }>`
        select account_id, quotable_task_ids as former, exists (select from turns where ${inThread(thread)} and ${isOpenTurn}) as is_busy
        from threads where ${inThread(thread)} and task_id = ${task} for update`.execute(trx);
      const [found] = rows;
      if (found === undefined) return 'over';
      const { account_id, former, is_busy } = found;
      if (is_busy) return 'busy';
      await sql`
        update threads set task_id = null, task_title = null, task_started_at = null, task_state = null,
          task_state_read_at = null, project_id = null, participant_ids = '{}', quotable_task_ids = '{}',
          former_task_ids = array(select unnest(former_task_ids) except select unnest(quotable_task_ids))
        where ${inThread(thread)}`.execute(trx);
      await sql`delete from jobs where ${inThread(thread)} and kind = ${JOB_KIND.followUp}`.execute(trx);
      await jobWake(thread, [JOB_KIND.reminder]).execute(trx);
      const { workspace, channel, thread_ts } = thread;
      const job = { workspace, kind: JOB_KIND.taskDeletion, channel, thread_ts, key: task, person };
      await new Jobs(trx).add({ ...job, payload: { account_id, former } });
      return 'recorded';
    });
  }

  /** The task is gone at the service: recorded together with an audit event, by the process that has the job. */
  async markDeleted({ claim_id }: Job): Promise<void> {
    await this.changes(sql`
      with done as (
        update jobs set payload = payload || '{"is_deleted": true}'
        where claim_id = ${claim_id} and payload -> 'is_deleted' is null
        returning workspace, person, channel, thread_ts, key)
      insert into audit_events (workspace, kind, user_id, channel, thread_ts, task_id)
      select workspace, 'deletion', nullif(person, ''), channel, thread_ts, key from done`);
  }
}
