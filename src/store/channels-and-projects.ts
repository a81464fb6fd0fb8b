import { type RawBuilder, sql } from 'kysely';
import { CHANNEL_LEVEL, JOB_KIND, jobInsert, OR_WANT_AGAIN } from './jobs/jobs.ts';
import { daysAgo, fromNow, ofProject, Queries, reachedWith } from './queries.ts';
import type { OneTimeNotice, ProjectKey, Turn } from './schema.ts';
import { isOpenTurn } from './threads/turn-phase.ts';

/** How long changes of a channel are collected (ms): one call sends them all. */
const NAME_DELAY_MS = 300;

/** The names of channels that were not used for this long are not looked up after a gap. */
const USED_LATELY_DAYS = 30;

/** The project of a row was chosen by people: no turn has created it. */
const IS_CHOSEN = sql<boolean>`project_id is not null and claimed_by is null`;

/** How many threads one step of a channel's move takes along: it takes a fraction of a second. */
const THREADS_PER_STEP = 200;

/** What is left of a channel's move; `blocked`: nothing that can be moved now. */
export type MoveProgress = 'done' | 'more' | 'blocked';

/** A table with rows of channels: whether they belong to threads, and the columns of its primary key. */
interface ChannelTable {
  name: string;
  hasThreads: boolean;
  keys: string[];
}

/** The projects of channels. */
export class Projects extends Queries {
  /**
   * Records that a turn is about to create the channel's project. `taken`: another turn has done so, which is not over, and
   * its call may take `callMs`; `orphaned`: an earlier attempt may have created one that nobody can find.
   */
  async intend(key: ProjectKey, turn: string, callMs: number): Promise<'intended' | 'orphaned' | 'taken'> {
    const { workspace, channel, account_id } = key;
    const intended = await this.first(sql<{ isOrphaned: boolean }>`
      with before as (select create_intended_at from projects where ${ofProject(key)})
      insert into projects (workspace, channel, account_id, claimed_by, create_intended_at)
      values (${workspace}, ${channel}, ${account_id}, ${turn}, clock_timestamp())
      on conflict (workspace, channel, account_id) do update
        set claimed_by = excluded.claimed_by, create_intended_at = excluded.create_intended_at
        where projects.project_id is null and (projects.claimed_by is null
          or projects.claimed_by = excluded.claimed_by or projects.create_intended_at <= ${fromNow(-callMs)}
          or projects.create_intended_at < statement_timestamp() and not exists (
            select from turns where (turns.workspace, turns.id) = (projects.workspace, projects.claimed_by) and ${isOpenTurn}))
      returning exists (select from before where create_intended_at is not null) as "isOrphaned"`);
    if (intended === undefined) return 'taken';
    return intended.isOrphaned ? 'orphaned' : 'intended';
  }

  /** The creation has failed. Unless `wasNotCreated`, there may be a project that nobody can find. */
  async release(key: ProjectKey, turn: string, wasNotCreated: boolean): Promise<void> {
    const intent = wasNotCreated ? sql`null` : sql`create_intended_at`;
    await this.changes(claimedUpdate(key, turn, sql`claimed_by = null, create_intended_at = ${intent}`));
  }

  /** Records the channel's project; false if another turn or person came first: another project may be in use. */
  async bind(key: ProjectKey, turn: string, projectId: string): Promise<boolean> {
    const change = sql`project_id = ${projectId}, create_intended_at = null`;
    return this.#recordUse(claimedUpdate(key, turn, change));
  }

  /** Removes a channel's project if we created it; false for one that people chose, which stays. */
  async detach(key: ProjectKey, projectId: string): Promise<boolean> {
    await this.changes(sql`
      update projects set project_id = null, claimed_by = null
      where ${ofProject(key)} and project_id = ${projectId} and claimed_by is not null`);
    return (await this.projectIdOf(key)) !== projectId;
  }

  /** The channel has no project: its next thread begins one. What a turn is creating comes too late. */
  async leave(key: ProjectKey): Promise<void> {
    await this.changes(sql`
      update projects set project_id = null, create_intended_at = null, claimed_by = null
      where ${ofProject(key)}`);
  }

  async projectIdOf(key: ProjectKey): Promise<string | undefined> {
    const row = await this.first(sql<{ project_id: string | null }>`
      select project_id from projects where ${ofProject(key)}`);
    return row?.project_id ?? undefined;
  }

  /** Whether people chose the channel's project: it was not created for the channel. */
  async isChosen(key: ProjectKey): Promise<boolean> {
    return this.exists(sql`select from projects where ${ofProject(key)} and ${IS_CHOSEN}`);
  }

  /**
   * Sets the channel's project, which a person takes if other channels have it, from its next thread on; what a turn
   * is creating comes too late.
   */
  async assign(key: ProjectKey, projectId: string, person = ''): Promise<void> {
    const { workspace, channel, account_id } = key;
    const isTaken = sql`exists (select from project_channels where project_id = ${projectId})`;
    await this.#recordUse(
      sql`
      insert into projects (workspace, channel, account_id, project_id)
      values (${workspace}, ${channel}, ${account_id}, ${projectId})
      on conflict (workspace, channel, account_id) do update
        set project_id = excluded.project_id, create_intended_at = null, claimed_by = null`,
      sql`case when ${isTaken} then ${person} end`,
    );
  }

  /**
   * Asks for the jobs that give a workspace's projects their channels' current names, unless the settings say otherwise or
   * people chose the project: of one channel, or of all used lately. False if there are none. Waits a moment: people change
   * a name and then the purpose.
   */
  async wantNames(workspace: string, channel?: string): Promise<boolean> {
    const isWanted =
      channel === undefined
        ? sql`channel in (select channel from threads where workspace = ${workspace} and last_used_at > ${daysAgo(USED_LATELY_DAYS)})`
        : sql`channel = ${channel}`;
    return this.changes(sql`
      insert into jobs (workspace, kind, channel, thread_ts, key, person, payload, due_at)
      select workspace, ${JOB_KIND.projectName}, channel, ${CHANNEL_LEVEL}::numeric, account_id, '', '{}', ${fromNow(NAME_DELAY_MS)}
      from projects left join settings using (workspace, channel)
      where workspace = ${workspace} and project_id is not null and channel not like 'D%'
        and coalesce(sync_project_name, not (${IS_CHOSEN})) and ${isWanted}
      ${OR_WANT_AGAIN}`);
  }

  /**
   * The channels, in all workspaces and accounts, that have or had this project, even if their tasks are deleted, and who took
   * it there, '' if they were erased; null in a channel of its own.
   */
  async channelsUsing(projectId: string) {
    return this.rows(sql<{ workspace: string; channel: string; taken_by: string | null }>`
      select workspace, channel, taken_by from project_channels where project_id = ${projectId}`);
  }

  /** Gives a channel its project, and records for good that it had it; false if the change found no row. */
  async #recordUse(change: RawBuilder<unknown>, takenBy: RawBuilder<unknown> = sql`null`): Promise<boolean> {
    return this.exists(sql`
      with changed as (${change} returning workspace, channel, project_id), used as (
        insert into project_channels (workspace, channel, project_id, taken_by)
        select workspace, channel, project_id, ${takenBy} from changed
        on conflict (workspace, channel, project_id) do update set taken_by = excluded.taken_by
          where project_channels.taken_by is not null and excluded.taken_by is not null)
      select true as changed from changed`);
  }
}

function claimedUpdate(key: ProjectKey, turn: string, change: RawBuilder<unknown>) {
  return sql`update projects set ${change} where ${ofProject(key)} and project_id is null and claimed_by = ${turn}`;
}

/** What channels are told once, and their move to another id. */
export class Channels extends Queries {
  /**
   * Moves some of a channel's rows to its new id, in a transaction, in each workspace that the same installation reaches: what
   * is set for it, and the threads used last. Where both ids have a row, the old one stays. The audit trail stays as it was.
   * Held threads are lost at the next renewal, and continue after their claims. `blocked`: what is left are threads with a
   * turn at work under both ids.
   */
  async move(workspace: string, from: string, to: string): Promise<MoveProgress> {
    // In one order: Slack may tell two of the workspaces at once.
    const reached = await this.rows(sql<{ workspace: string }>`${reachedWith(workspace)} order by 1`);
    const progress = new Set<MoveProgress>();
    for (const one of reached) progress.add(await this.#moveIn(one.workspace, from, to));
    return (['more', 'blocked'] as const).find((each) => progress.has(each)) ?? 'done';
  }

  async #moveIn(workspace: string, from: string, to: string): Promise<MoveProgress> {
    const openTurnAt = (channel: string) => sql`exists (
      select from turns where (workspace, channel, thread_ts) = (${workspace}, ${channel}, threads.thread_ts)
        and ${isOpenTurn} and passed_on_by_turn_id is null)`;
    const threads = await this.rows(sql<{ thread_ts: string; isBlocked: boolean }>`
      select thread_ts, ${openTurnAt(from)} and ${openTurnAt(to)} as "isBlocked" from threads
      where workspace = ${workspace} and channel = ${from} order by 2, last_used_at desc limit ${THREADS_PER_STEP}`);
    const free = threads.filter(({ isBlocked }) => !isBlocked).map(({ thread_ts }) => thread_ts);
    const isLast = free.length === threads.length && threads.length < THREADS_PER_STEP;
    // Who holds one of these threads loses it at the next renewal.
    await sql`
      update jobs set claim_id = gen_random_uuid()
      where (workspace, channel, kind) = (${workspace}, ${from}, ${JOB_KIND.turn}) and claim_id is not null
        and (${isLast} or thread_ts = any(${free}::numeric[]))`.execute(this.db);
    for (const table of await this.#channelTables()) {
      const isPart = isLast || !table.hasThreads ? sql`true` : sql`older.thread_ts = any(${free}::numeric[])`;
      await this.#moveRows(table, workspace, from, to, isPart);
    }
    await sql`
      update settings set answers_in_channels = array_replace(answers_in_channels, ${from}, ${to})
      where workspace = ${workspace} and ${from} = any(answers_in_channels)`.execute(this.db);
    if (isLast) return 'done';
    return free.length > 0 ? 'more' : 'blocked';
  }

  /** The tables with rows of channels, and their keys. */
  async #channelTables(): Promise<ChannelTable[]> {
    return this.rows(sql<ChannelTable>`
      select table_name as name, exists (
        select from information_schema.columns as other where other.table_schema = current_schema()
          and other.table_name = columns.table_name and other.column_name = 'thread_ts') as "hasThreads",
      array(
        select key.column_name::text from information_schema.table_constraints as rule
          join information_schema.key_column_usage as key using (constraint_schema, constraint_name)
        where rule.constraint_type = 'PRIMARY KEY' and constraint_schema = current_schema()
          and rule.table_name = columns.table_name) as keys
      from information_schema.columns as columns
      where table_schema = current_schema() and column_name = 'channel'
        and table_name <> 'audit_events' order by 1`);
  }

  /** Moves the rows of one table, named `older`, that meet `isPart`. */
  async #moveRows(
    { name, keys }: ChannelTable,
    workspace: string,
    from: string,
    to: string,
    isPart: RawBuilder<unknown>,
  ): Promise<void> {
    const table = sql.table(name);
    if (keys.includes('channel')) {
      const others = keys.filter((key) => key !== 'channel');
      const isSame = others.map((key) => sql`${sql.ref(`newer.${key}`)} = ${sql.ref(`older.${key}`)}`);
      await sql`
        delete from ${table} as newer using ${table} as older
        where newer.workspace = ${workspace} and newer.channel = ${to} and older.workspace = ${workspace} and older.channel = ${from}
          and ${sql.join(isSame, sql` and `)} and ${isPart}`.execute(this.db);
    }
    await sql`
      update ${table} as older set channel = ${to}
      where workspace = ${workspace} and channel = ${from} and ${isPart}`.execute(this.db);
  }

  /** True if this turn must post the notice, however often it asks; false for all other turns. */
  async claimNotice(
    { workspace, channel, id }: Pick<Turn, 'workspace' | 'channel' | 'id'>,
    notice: OneTimeNotice,
  ): Promise<boolean> {
    return this.exists(sql`
      with known as (
        select turn_id from one_time_notices
        where (workspace, channel, notice) = (${workspace}, ${channel}, ${notice})),
      claimed as (
        insert into one_time_notices (workspace, channel, notice, turn_id)
        select ${workspace}, ${channel}, ${notice}, ${id} where not exists (select from known)
        on conflict do nothing returning turn_id)
      select from known where turn_id = ${id} union all select from claimed`);
  }

  /** Asks for the welcome of a channel, or of a person in their direct conversation, unless it had one. */
  async wantWelcome(workspace: string, channel: string, person = ''): Promise<void> {
    const job = { workspace, kind: JOB_KIND.welcome, channel, thread_ts: CHANNEL_LEVEL, key: '', person };
    await this.changes(sql`
      with welcomed as (
        insert into one_time_notices (workspace, channel, notice) values (${workspace}, ${channel}, 'welcome')
        on conflict do nothing returning 1)
      ${jobInsert(job, 0, sql`exists (select from welcomed)`)} on conflict do nothing`);
  }

  /** Whether a channel, or the person of a direct conversation, had its welcome. */
  async isWelcomed(workspace: string, channel: string): Promise<boolean> {
    return this.exists(sql`
      select from one_time_notices where (workspace, channel, notice) = (${workspace}, ${channel}, 'welcome')`);
  }

  /** True once for each person of a channel: they are told that the bot does not answer there. */
  async claimClosedNotice(workspace: string, channel: string, person: string): Promise<boolean> {
    return this.changes(sql`
      insert into one_time_notices (workspace, channel, notice, user_id)
      values (${workspace}, ${channel}, 'closed', ${person}) on conflict do nothing`);
  }
}
