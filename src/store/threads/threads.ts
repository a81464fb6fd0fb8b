import { type RawBuilder, sql } from 'kysely';
import { inThread, isReply, maySend, Queries, sameThread } from '../queries.ts';
import {
  type ListenMode,
  type SlackTs,
  type Thread,
  type ThreadKey,
  type TurnLocation,
  threadKeyText,
} from '../schema.ts';
import { hasSent, isOpenTurn } from './turn-phase.ts';

/** A thread, and what it has to do. */
export interface ThreadWithWork extends Thread {
  has_open_turn: boolean;
  has_orphan_replies: boolean;
}

/** A task that is about to be created. */
export interface TaskIntent {
  projectId: string;
  title: string;
  model?: string | undefined;
  planMode?: boolean | undefined;
}

/** Neither has the thread a task, nor may one have been created for it. */
const hasNoTask = sql<boolean>`task_id is null and task_intended_at is null`;

/** The columns of a thread whose task was created; a task that it has stays. */
export function taskBinding(taskId: string) {
  return sql`task_id = coalesce(task_id, ${taskId}), task_started_at = coalesce(task_started_at, now()), task_intended_at = null`;
}

/** A statement that records the intent to create the thread's task. */
export function taskIntentUpdate(key: ThreadKey, { projectId, title, model, planMode }: TaskIntent) {
  return sql`
    update threads set project_id = ${projectId}, task_title = ${title}, task_model = ${model ?? null},
      plans_first = ${planMode === true}, task_intended_at = ${new Date()}
    where ${inThread(key)} and task_id is null`;
}

/** A statement that locks a thread until the transaction ends. */
export function threadLock(key: ThreadKey) {
  return sql`select pg_advisory_xact_lock(hashtextextended(${threadKeyText(key)}, 0))`;
}

/** Whether a thread has another open turn, or a waiting message that may be sent. */
export function hasOtherWork({ id, ...key }: TurnLocation) {
  return sql<boolean>`(
    exists (select from turns where ${inThread(key)} and ${isOpenTurn} and id <> ${id})
    or exists (select from messages where ${inThread(key)} and state = 'waiting' and ${maySend}))`;
}

/** Threads of ours. */
export class Threads extends Queries {
  /** Locks the thread until the transaction ends: what becomes of a reply must not depend on a mention written at the same time. */
  async lock(key: ThreadKey): Promise<void> {
    await threadLock(key).execute(this.db);
  }

  async get(key: ThreadKey): Promise<Thread | undefined> {
    return this.first(sql<Thread>`select * from threads where ${inThread(key)}`);
  }

  /** The thread, and what a run must look at before it begins a turn; undefined if it is not ours. */
  async getWithWork(key: ThreadKey): Promise<ThreadWithWork | undefined> {
    return this.first(sql<ThreadWithWork>`
      select *, exists (select from turns where ${inThread(key)} and ${isOpenTurn}) as has_open_turn,
        exists (select from orphan_replies where ${inThread(key)} and ts > threads.adopted_ts) as has_orphan_replies
      from threads where ${inThread(key)}`);
  }

  /** The thread; throws if it is not ours. */
  async getOrThrow(key: ThreadKey): Promise<Thread> {
    const thread = await this.get(key);
    if (thread === undefined) throw new Error('The thread is not ours.');
    return thread;
  }

  /** Whether a message is from when the thread was ours, and the thread still is. */
  async isOursSince(key: ThreadKey, ts: SlackTs): Promise<boolean> {
    const isOurs = sql`select from threads where ${inThread(key)} and not is_dormant and adopted_ts <= ${ts}`;
    return this.exists(isOurs);
  }

  /**
   * The workspaces whose thread this is: of a shared channel, several may have the app. First the one to whose agent the
   * writer last turned there, up to `ts`, then the one of the key.
   */
  async workspacesOf(key: ThreadKey, writer: string | undefined, ts: SlackTs): Promise<string[]> {
    const { workspace: named, channel, thread_ts } = key;
    const person = writer ?? '';
    const rows = await this.rows(sql<Pick<Thread, 'workspace'>>`
      select threads.workspace from threads left join lateral (
        select max(ts) as ts from messages
        where ${sameThread('messages', 'threads')} and ${isReply} and user_id = ${person}
          and state not in ('unsent', 'withdrawn', 'refused') and ts <= ${ts}) as own on true
      where channel = ${channel} and thread_ts = ${thread_ts} and not is_dormant
      order by greatest(own.ts, case when started_by = ${person} and adopted_ts <= ${ts} then adopted_ts end) desc nulls last,
        threads.workspace = ${named} desc, adopted_ts`);
    return rows.map(({ workspace }) => workspace);
  }

  /** The workspaces with threads in a channel. */
  async workspacesIn(channel: string): Promise<string[]> {
    const rows = await this.rows(sql<Pick<Thread, 'workspace'>>`
      select distinct workspace from threads where channel = ${channel} and not is_dormant`);
    return rows.map(({ workspace }) => workspace);
  }

  /** What decides whether a person's reply is for the agent; undefined if the thread is not ours. */
  async listening(key: ThreadKey, person: string, ts: SlackTs): Promise<ThreadListening | undefined> {
    const replies = sql`${sameThread('messages', 'thread')} and ${isReply}`;
    return this.first(sql<ThreadListening>`
      select thread.is_between_people as "isBetweenPeople", thread.listens_to_all as "listensToAll",
        (select listen_mode from settings where workspace = thread.workspace and channel in ('', thread.channel)
          and listen_mode is not null order by channel desc limit 1) as "listenMode",
        own.ts is not null and not exists (
          select from messages where ${replies} and messages.user_id <> ${person} and messages.state <> 'withdrawn'
            and not (messages.state = 'unsent' and messages.user_id like 'B%')
            and messages.ts < ${ts} and messages.ts > greatest(own.ts, bot.ts)) as "isInConversation"
      from (
        select *, adopted_ts <> thread_ts and not exists (
          select from messages where (messages.workspace, messages.channel, messages.ts)
            = (threads.workspace, threads.channel, threads.thread_ts)) as is_between_people
        from threads where ${inThread(key)} and not is_dormant and adopted_ts <= ${ts}) as thread
      left join lateral (
        select max(messages.ts) as ts from messages where ${replies} and messages.user_id = ${person}
          and messages.state not in ('unsent', 'withdrawn', 'refused') and messages.ts < ${ts}) as own
        on thread.is_between_people
      left join lateral (
        select max(posts.ts) as ts from turns join posts on (posts.workspace, posts.turn_id) = (turns.workspace, turns.id)
        where ${sameThread('turns', 'thread')} and posts.ts < ${ts}) as bot on own.ts is not null`);
  }

  /** Reads every reply in the thread from now on, or no longer; false if that was so before. */
  async setListensToAll(key: ThreadKey, listensToAll: boolean): Promise<boolean> {
    return this.#update(key, sql`listens_to_all = ${listensToAll}`, sql`listens_to_all <> ${listensToAll}`);
  }

  /** True once for each person of a thread: they are told that their replies are not sent. */
  async claimInforming(key: ThreadKey, person: string): Promise<boolean> {
    return this.#update(
      key,
      sql`informed_ids = informed_ids || ${person}::text`,
      sql`not ${person} = any(informed_ids)`,
    );
  }

  /** What they were to be told did not reach them: their next reply tells it. */
  async releaseInforming(key: ThreadKey, person: string): Promise<boolean> {
    return this.#update(key, sql`informed_ids = array_remove(informed_ids, ${person}::text)`, sql`true`);
  }

  /** Makes a thread ours, or reactivates a dormant one. */
  async adopt(key: ThreadKey, by: { account_id: string; user_id: string; ts: SlackTs }): Promise<void> {
    const { workspace, channel, thread_ts } = key;
    await this.changes(sql`
      insert into threads (workspace, channel, thread_ts, account_id, started_by, adopted_ts)
      values (${workspace}, ${channel}, ${thread_ts}, ${by.account_id}, ${by.user_id}, ${by.ts})
      on conflict (workspace, channel, thread_ts) do update
        set is_dormant = false, adopted_ts = excluded.adopted_ts, started_by = excluded.started_by
        where threads.is_dormant`);
  }

  /** Makes a thread without a task dormant: its replies need a mention again. */
  async makeDormant(key: ThreadKey): Promise<void> {
    await this.#update(key, sql`is_dormant = true`);
  }

  /** Records the project of the thread's files and task; returns it, or the one recorded before. */
  async bindProject(key: ThreadKey, projectId: string): Promise<string> {
    const row = await this.first(sql<{ project_id: string }>`
      update threads set project_id = coalesce(project_id, ${projectId}) where ${inThread(key)} returning project_id`);
    return row?.project_id ?? projectId;
  }

  /** Moves a thread to another account; false if it was moved before, or has a task by now. */
  async moveToAccount(thread: ThreadKey & Pick<Thread, 'account_id'>, account: string): Promise<boolean> {
    const change = sql`account_id = ${account}, project_id = null, quotable_task_ids = '{}'`;
    return this.#update(thread, change, sql`account_id = ${thread.account_id} and ${hasNoTask}`);
  }

  /** Removes a thread from a project that its account lacks, perhaps another one; false if it has a task, or may have one. */
  async leaveProject(key: ThreadKey, projectId: string): Promise<boolean> {
    const change = sql`project_id = null, quotable_task_ids = '{}'`;
    return this.#update(key, change, sql`project_id = ${projectId} and ${hasNoTask}`);
  }

  /** The task was certainly not created. */
  async forgetTaskIntent(key: ThreadKey): Promise<void> {
    await this.#update(key, sql`task_intended_at = null`);
  }

  /** Records the thread's task; returns it, or the one recorded before. */
  async bindTask(key: ThreadKey, taskId: string): Promise<string> {
    const row = await this.first(sql<{ task_id: string }>`
      update threads set ${taskBinding(taskId)} where ${inThread(key)} returning task_id`);
    return row?.task_id ?? taskId;
  }

  /** The thread's task accepts no more messages: the next message starts another one. */
  async leaveTask(key: ThreadKey, taskId: string): Promise<void> {
    const change = sql`task_id = null, task_intended_at = null, former_task_ids = former_task_ids || ${taskId}::text,
      quotable_task_ids = quotable_task_ids || ${taskId}::text, task_started_at = null, task_state = null, task_state_read_at = null`;
    await this.#update(key, change, sql`task_id = ${taskId}`);
  }

  /** Whether the task has got another turn's message. Turns are kept for a day: an older task without others surely has. */
  async hasOtherTurnSent(turn: TurnLocation, taskId: string): Promise<boolean> {
    const others = sql`select from turns where ${inThread(turn)} and id <> ${turn.id}`;
    return this.exists(sql`
      select where exists (${others} and task_id = ${taskId} and ${hasSent})
        or not exists (${others}) and exists (
          select from threads
          where ${inThread(turn)} and task_id = ${taskId} and task_started_at < now() - interval '1 day')`);
  }

  /** Whether the task belongs to no other thread, and no other thread of the project has an open intent. */
  async mayAdoptTask(key: ThreadKey, projectId: string, taskId: string): Promise<boolean> {
    const rivals = sql`
      select from threads where workspace = ${key.workspace} and project_id = ${projectId} and not ${inThread(key)}`;
    return !(await this.exists(sql`
      select where exists (${rivals} and task_id = ${taskId}) or exists (${rivals} and task_intended_at is not null)`));
  }

  async #update(key: ThreadKey, change: RawBuilder<unknown>, condition: RawBuilder<unknown> = sql`true`) {
    return this.changes(sql`update threads set ${change} where ${inThread(key)} and ${condition}`);
  }
}

/** What decides whether a reply is for the agent. */
export interface ThreadListening {
  /** People had talked in the thread before the agent was mentioned in it. */
  isBetweenPeople: boolean;
  listensToAll: boolean;
  /** The channel's setting, else the workspace's. */
  listenMode: ListenMode | 'everything' | null;
  /** The writer has turned to the agent in the thread, and nobody else has written since its last message. */
  isInConversation: boolean;
}
