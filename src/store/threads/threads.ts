import { sql } from 'kysely';
import { inThread, isUnsent, maySend } from '../filters.ts';
import { type ThreadKey, threadKeyText } from '../keys.ts';
import { changesRow, Queries } from '../queries.ts';
import type { ListenMode, SlackTs, Thread, TurnLocation } from '../schema.ts';

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

/** A thread, and what it has to do. */
export interface ThreadWithWork extends Thread {
  has_open_turn: boolean;
  has_orphan_replies: boolean;
}

/** Threads of ours. */
export class Threads extends Queries {
  /**
   * Locks the thread until the transaction ends: whether a reply is an orphan must not depend on a mention that is being
   * written at the same time.
   */
  async lock(key: ThreadKey): Promise<void> {
    await sql`select pg_advisory_xact_lock(hashtextextended(${threadKeyText(key)}, 0))`.execute(this.db);
  }

  async get(key: ThreadKey): Promise<Thread | undefined> {
    return this.#thread(key).executeTakeFirst();
  }

  /** The thread, and what a run must look at before it begins a turn; undefined if it is not ours. */
  async getWithWork(key: ThreadKey): Promise<ThreadWithWork | undefined> {
    return this.#thread(key)
      .select([
        sql<boolean>`exists (
          select from turns where ${inThread(key)} and finished_at is null)`.as('has_open_turn'),
        sql<boolean>`exists (
          select from orphan_replies where ${inThread(key)} and ts > threads.adopted_ts)`.as(
          'has_orphan_replies',
        ),
      ])
      .executeTakeFirst();
  }

  /** Whether the thread has another open turn than this one, or no open turn and a waiting message that may be sent. */
  async hasWorkAfter({ id, ...key }: TurnLocation): Promise<boolean> {
    const { rows } = await sql<{ has_work: boolean }>`
      select exists (select from turns where ${inThread(key)} and finished_at is null and id <> ${id}) or (
        exists (select from messages where ${inThread(key)} and state = 'waiting' and ${maySend})
        and not exists (select from turns where ${inThread(key)} and finished_at is null)) as has_work`.execute(
      this.db,
    );
    return rows[0]?.has_work === true;
  }

  /** The thread; throws if it is not ours. */
  async getOrThrow(key: ThreadKey): Promise<Thread> {
    return this.#thread(key).executeTakeFirstOrThrow();
  }

  /** Whether a message is from when the thread was ours, and the thread still is. */
  async isOursSince(key: ThreadKey, ts: SlackTs): Promise<boolean> {
    const row = await this.#thread(key)
      .where('is_dormant', '=', false)
      .where('adopted_ts', '<=', ts)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** What decides whether a person's reply is for the agent; undefined where the thread is not ours. */
  async listening(key: ThreadKey, person: string, ts: SlackTs): Promise<ThreadListening | undefined> {
    const replies = sql`(messages.workspace, messages.channel, messages.thread_ts)
      = (thread.workspace, thread.channel, thread.thread_ts) and messages.thread_ts <> messages.ts`;
    const { rows } = await sql<ThreadListening>`
      select thread.is_between_people as "isBetweenPeople", thread.listens_to_all as "listensToAll",
        coalesce(of_channel.listen_mode, of_all.listen_mode) as "listenMode",
        own.ts is not null and not exists (
          select from messages where ${replies} and messages.user_id <> ${person} and messages.state <> 'withdrawn'
            and messages.ts < ${ts} and messages.ts > greatest(own.ts, bot.ts)) as "isInConversation"
      from (
        select *, adopted_ts <> thread_ts and not exists (
          select from messages where (messages.workspace, messages.channel, messages.ts)
            = (threads.workspace, threads.channel, threads.thread_ts)) as is_between_people
        from threads where ${inThread(key)} and not is_dormant and adopted_ts <= ${ts}) as thread
      left join workspace_settings as of_all on of_all.workspace = thread.workspace
      left join channel_settings as of_channel
        on (of_channel.workspace, of_channel.channel) = (thread.workspace, thread.channel)
      left join lateral (
        select max(messages.ts) as ts from messages where ${replies} and messages.user_id = ${person}
          and messages.state not in ('unsent', 'withdrawn', 'refused') and messages.ts < ${ts}) as own
        on thread.is_between_people
      left join lateral (
        select max(posts.ts) as ts from turns join posts on (posts.workspace, posts.turn_id) = (turns.workspace, turns.id)
        where (turns.workspace, turns.channel, turns.thread_ts) = (thread.workspace, thread.channel, thread.thread_ts)
          and posts.ts < ${ts}) as bot on own.ts is not null`.execute(this.db);
    return rows[0];
  }

  /** Reads every reply in the thread from now on, or no longer; false if that was so before. */
  async setListensToAll(key: ThreadKey, listensToAll: boolean): Promise<boolean> {
    return changesRow(
      this.#update(key).set({ listens_to_all: listensToAll }).where('listens_to_all', '<>', listensToAll),
    );
  }

  /** True once for each person of a thread: they are told that their replies are not sent. */
  async claimInforming(key: ThreadKey, person: string): Promise<boolean> {
    return changesRow(
      this.#update(key)
        .set({ informed_ids: sql<string[]>`informed_ids || ${person}::text` })
        .where(sql<boolean>`not ${person} = any(informed_ids)`),
    );
  }

  /** Makes a thread ours, or reactivates a dormant one. */
  async adopt(key: ThreadKey, by: { account_id: string; user_id: string; ts: SlackTs }): Promise<void> {
    await this.db
      .insertInto('threads')
      .values({ ...key, account_id: by.account_id, started_by: by.user_id, adopted_ts: by.ts })
      .onConflict((conflict) =>
        conflict
          .columns(['workspace', 'channel', 'thread_ts'])
          .doUpdateSet({ is_dormant: false, adopted_ts: by.ts, started_by: by.user_id })
          .where('threads.is_dormant', '=', true),
      )
      .execute();
  }

  /** Makes a thread without a task dormant: its replies need a mention again. */
  async makeDormant(key: ThreadKey): Promise<void> {
    await this.#update(key).set({ is_dormant: true }).execute();
  }

  /** Records the project of the thread's files and task; returns it, or the one recorded before. */
  async bindProject(key: ThreadKey, projectId: string): Promise<string> {
    const row = await this.#update(key)
      .set({ project_id: sql<string>`coalesce(project_id, ${projectId})` })
      .returning('project_id')
      .executeTakeFirstOrThrow();
    return row.project_id ?? projectId;
  }

  /** Moves a thread to another account; false if it was moved before, or has a task by now. */
  async moveToAccount(thread: ThreadKey & Pick<Thread, 'account_id'>, account: string): Promise<boolean> {
    return changesRow(
      this.#update(thread)
        .set({ account_id: account, project_id: null })
        .where('account_id', '=', thread.account_id)
        .where('task_id', 'is', null)
        .where('task_intended_at', 'is', null),
    );
  }

  /** Removes a thread from its project; false if it has a task, or may have one. */
  async leaveProject(key: ThreadKey, projectId: string): Promise<boolean> {
    return changesRow(
      this.#update(key)
        .set({ project_id: null })
        .where('project_id', '=', projectId)
        .where('task_id', 'is', null)
        .where('task_intended_at', 'is', null),
    );
  }

  /** Records, before the call, that a task with this title is about to be created. */
  async intendTask(
    key: ThreadKey,
    projectId: string,
    { title, model, planMode }: { title: string; model?: string | undefined; planMode?: boolean | undefined },
  ): Promise<void> {
    const task = { project_id: projectId, task_title: title, task_model: model ?? null };
    await this.#update(key)
      .set({ ...task, plans_first: planMode === true, task_intended_at: new Date() })
      .where('task_id', 'is', null)
      .execute();
  }

  /** The task was certainly not created. */
  async forgetTaskIntent(key: ThreadKey): Promise<void> {
    await this.#update(key).set({ task_intended_at: null }).execute();
  }

  /** Records the thread's task; returns it, or the one recorded before. */
  async bindTask(key: ThreadKey, taskId: string): Promise<string> {
    const row = await this.#update(key)
      .set({
        task_id: sql<string>`coalesce(task_id, ${taskId})`,
        task_started_at: sql<Date>`coalesce(task_started_at, now())`,
        task_intended_at: null,
      })
      .returning('task_id')
      .executeTakeFirstOrThrow();
    return row.task_id ?? taskId;
  }

  /** The thread's task accepts no more messages: the next message starts another one. */
  async leaveTask(key: ThreadKey, taskId: string): Promise<void> {
    await this.#update(key)
      .set({
        task_id: null,
        task_intended_at: null,
        former_task_ids: sql<string[]>`former_task_ids || ${taskId}::text`,
        task_started_at: null,
        task_state: null,
        task_state_read_at: null,
      })
      .where('task_id', '=', taskId)
      .execute();
  }

  /** Whether the task belongs to no other thread, and no other thread of the project has an open intent. */
  async mayAdoptTask(key: ThreadKey, projectId: string, taskId: string): Promise<boolean> {
    const rivals = this.db
      .selectFrom('threads')
      .select('thread_ts')
      .where('workspace', '=', key.workspace)
      .where('project_id', '=', projectId)
      .where((where) => where.not(inThread(key)));
    const rival = await rivals
      .where('task_id', '=', taskId)
      .unionAll(rivals.where('task_intended_at', 'is not', null))
      .limit(1)
      .executeTakeFirst();
    return rival === undefined;
  }

  /**
   * Threads with an open turn or a waiting message that may be sent, in workspaces that still have the app: each must
   * have a job. In the order of their keys, after `after`.
   */
  async withWork(limit: number, after?: ThreadKey): Promise<ThreadKey[]> {
    const waiting = this.db
      .selectFrom('messages')
      .select(['workspace', 'channel', 'thread_ts'])
      .where(isUnsent)
      .where(maySend);
    const open = this.db
      .selectFrom('turns')
      .select(['workspace', 'channel', 'thread_ts'])
      .where('finished_at', 'is', null);
    return this.db
      .selectFrom(waiting.union(open).as('busy'))
      .selectAll()
      .where((where) =>
        where.not(
          where.exists(
            where
              .selectFrom('workspaces')
              .whereRef('workspaces.workspace', '=', 'busy.workspace')
              .where('uninstalled_at', 'is not', null),
          ),
        ),
      )
      .$if(after !== undefined, (threads) =>
        threads.where(
          sql<boolean>`(workspace, channel, thread_ts) > (${after?.workspace}, ${after?.channel}, ${after?.thread_ts})`,
        ),
      )
      .orderBy('workspace')
      .orderBy('channel')
      .orderBy('thread_ts')
      .limit(limit)
      .execute();
  }

  #update(key: ThreadKey) {
    return this.db.updateTable('threads').where(inThread(key));
  }

  #thread(key: ThreadKey) {
    return this.db.selectFrom('threads').selectAll().where(inThread(key));
  }
}
