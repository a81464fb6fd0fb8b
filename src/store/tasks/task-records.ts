import { type Kysely, sql } from 'kysely';
import { inThread } from '../filters.ts';
import type { ThreadKey } from '../keys.ts';
import type { SlackTs, Tables, TurnOutcome } from '../schema.ts';

/** A thread's task, as lists and details show it. */
export interface TaskRow extends ThreadKey {
  root: SlackTs;
  account: string;
  starter: string;
  task: string;
  /** A person's text; null once erased. */
  title: string | null;
  /** Null: the service's default. */
  model: string | null;
  project: string | null;
  begunAt: Date;
  lastUsedAt: Date;
  permalink: string | null;
  /** As last read at the service, and when. */
  state: string | null;
  readAt: Date | null;
  /** Whether a turn is under way. */
  open: boolean;
  /** How the last finished turn ended. */
  outcome: TurnOutcome | null;
  finishedAt: Date | null;
}

/** A page of tasks, newest first. */
export interface TaskPage {
  rows: TaskRow[];
  /** How many there are on all pages. */
  total: number;
}

/** A page of a list; `from` counts from 0. */
export interface TaskRange {
  from: number;
  most: number;
}

/** A task that a person started. */
export interface StartedTask {
  account: string;
  task: string;
  channel: string;
  root: string;
  /** Whether no other person's messages were sent to it. */
  alone: boolean;
}

/** The tasks of threads, from our own records. */
export class TaskRecords {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** The tasks that a person started. */
  async ofPerson(workspace: string, person: string, range: TaskRange): Promise<TaskPage> {
    return this.#page(sql`threads.workspace = ${workspace} and threads.starter = ${person}`, range);
  }

  /** The tasks of a channel's threads. */
  async ofChannel(workspace: string, channel: string, range: TaskRange): Promise<TaskPage> {
    return this.#page(sql`threads.workspace = ${workspace} and threads.channel = ${channel}`, range);
  }

  /** A thread's task, if it has one. */
  async get(thread: ThreadKey): Promise<TaskRow | undefined> {
    return (await this.#rows(inThread(thread), { from: 0, most: 1 }))[0];
  }

  /** The tasks that a person started, former ones of their threads included. */
  async startedBy(workspace: string, person: string): Promise<StartedTask[]> {
    const rows = await this.#db
      .selectFrom('threads')
      .select(['account', 'task_id', 'former_task_ids', 'channel', 'root', 'writers'])
      .where('workspace', '=', workspace)
      .where('starter', '=', person)
      .execute();
    return rows.flatMap(({ account, task_id, former_task_ids, channel, root, writers }) => {
      const alone = writers.every((writer) => writer === person);
      const tasks = task_id === null ? former_task_ids : [...former_task_ids, task_id];
      return tasks.map((task) => ({ account, task, channel, root, alone }));
    });
  }

  /** The service's ids of the files sent with a thread's messages, each once, oldest first. */
  async attachedFileIds(thread: ThreadKey): Promise<string[]> {
    const { rows } = await sql<{ file: string }>`
      select file from (
        select file, min(turns.id::text || lpad(at::text, 6, '0')) as place
        from turns, jsonb_array_elements_text(turns.attached) with ordinality as files (file, at)
        where ${inThread(thread)} and user_message_id is not null and jsonb_typeof(attached) = 'array'
        group by file) as found
      order by place`.execute(this.#db);
    return rows.map(({ file }) => file);
  }

  /** Records the state of a task at the service, unless the thread now has another task. */
  async recordState(
    row: Pick<TaskRow, 'workspace' | 'channel' | 'root' | 'task'>,
    state: string,
  ): Promise<void> {
    await this.#update(row).set({ task_state: state, task_read_at: new Date() }).execute();
  }

  /** Saves a thread's link in Slack. */
  async savePermalink(
    row: Pick<TaskRow, 'workspace' | 'channel' | 'root' | 'task'>,
    permalink: string,
  ): Promise<void> {
    await this.#update(row).set({ permalink }).execute();
  }

  /** The task of the latest earlier thread of a direct channel whose last turn has ended. */
  async previousFinished({ workspace, channel, root }: ThreadKey): Promise<TaskRow | undefined> {
    const where = sql`threads.workspace = ${workspace} and threads.channel = ${channel} and threads.root < ${root}
      and last.finished_at is not null`;
    return (await this.#rows(where, { from: 0, most: 1 }))[0];
  }

  #update(row: Pick<TaskRow, 'workspace' | 'channel' | 'root' | 'task'>) {
    return this.#db.updateTable('threads').where(inThread(row)).where('task_id', '=', row.task);
  }

  async #page(where: ReturnType<typeof sql>, range: TaskRange): Promise<TaskPage> {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from threads where task_id is not null and ${where}`.execute(this.#db);
    return { rows: await this.#rows(where, range), total: rows[0]?.count ?? 0 };
  }

  async #rows(where: ReturnType<typeof sql>, { from, most }: TaskRange): Promise<TaskRow[]> {
    const { rows } = await sql<TaskRow>`
      select threads.workspace, threads.channel, threads.root, threads.account, threads.starter,
        threads.task_id as task, threads.task_title as title, threads.project_id as project,
        threads.model,
        coalesce(threads.task_begun_at, threads.created_at) as "begunAt", threads.last_used_at as "lastUsedAt",
        threads.permalink, threads.task_state as state, threads.task_read_at as "readAt",
        last.id is not null and last.finished_at is null as open,
        last.outcome, last.finished_at as "finishedAt"
      from threads
      left join lateral (
        select id, outcome, finished_at from turns
        where turns.workspace = threads.workspace and turns.channel = threads.channel and turns.root = threads.root
        order by (finished_at is null) desc, id desc limit 1) as last on true
      where threads.task_id is not null and ${where}
      order by coalesce(threads.task_begun_at, threads.created_at) desc, threads.root desc
      offset ${from} limit ${most}`.execute(this.#db);
    return rows;
  }
}
