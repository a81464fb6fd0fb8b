import { type Kysely, sql, type Transaction } from 'kysely';
import { permitAuditChange } from './audit.ts';
import { inOrder } from './registry-version.ts';
import type { Tables } from './tables.ts';

/** A task at the service that a person began. */
export interface BegunTask {
  account: string;
  task: string;
  channel: string;
  root: string;
  /** Whether nobody else's messages were sent to it. */
  alone: boolean;
}

/** Forgets what is kept of a person or of a workspace, at once and for good. What the service keeps is the service's. */
export class Oblivion {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** The tasks that a person's messages began. */
  async tasksOf(workspace: string, person: string): Promise<BegunTask[]> {
    const rows = await this.#db
      .selectFrom('threads')
      .select(['account', 'task_id', 'former_tasks', 'channel', 'root', 'writers'])
      .where('workspace', '=', workspace)
      .where('starter', '=', person)
      .execute();
    return rows.flatMap(({ account, task_id, former_tasks, channel, root, writers }) => {
      const alone = writers.every((writer) => writer === person);
      const tasks = task_id === null ? former_tasks : [...former_tasks, task_id];
      return tasks.map((task) => ({ account, task, channel, root, alone }));
    });
  }

  /**
   * Blanks the words, the file names and the id of a person wherever they are kept. What waits to be sent is taken
   * back first; ids of messages stay, so that nothing is taken for new. The answer is how many messages it was.
   */
  async person(workspace: string, person: string): Promise<number> {
    return this.#db.transaction().execute(async (trx) => {
      await permitAuditChange(trx, 'forget');
      await sql`
        update files set name = '' where workspace = ${workspace} and slack_file in (
          select jsonb_array_elements(words -> 'files') ->> 'id' from messages
          where workspace = ${workspace} and person = ${person} and jsonb_typeof(words -> 'files') = 'array')`.execute(
        trx,
      );
      await sql`
        update files set name = '' where workspace = ${workspace} and file_id in (
          select jsonb_array_elements_text(attached) from turns
          where workspace = ${workspace} and asker = ${person} and attached is not null)`.execute(trx);
      await sql`
        delete from early_changes where (workspace, channel, ts) in (
          select workspace, channel, ts from messages
          where workspace = ${workspace} and person = ${person})`.execute(trx);
      await sql`
        update messages set state = 'withdrawn' where workspace = ${workspace} and person = ${person}
          and state = 'waiting'`.execute(trx);
      const { numAffectedRows } = await sql`
        update messages set words = null, person = ''
        where workspace = ${workspace} and person = ${person}`.execute(trx);
      await sql`
        update messages set words = words - 'about'
        where workspace = ${workspace} and words -> 'about' ->> 'user' = ${person}`.execute(trx);
      await sql`
        delete from starts where workspace = ${workspace} and (person = ${person}
          or source -> 'about' ->> 'user' = ${person} or words -> 'about' ->> 'user' = ${person})`.execute(
        trx,
      );
      await sql`
        update turns set content = null, file_notes = null, asker = ''
        where workspace = ${workspace} and asker = ${person}`.execute(trx);
      await sql`
        update turns set stop_asked_by = '' where workspace = ${workspace} and stop_asked_by = ${person}`.execute(
        trx,
      );
      await sql`delete from feedback where workspace = ${workspace} and person = ${person}`.execute(trx);
      await sql`
        update threads set
          task_title = case
            when starter = ${person} and (task_id is not null or task_intended_at is null) then null
            else task_title end,
          starter = case when starter = ${person} then '' else starter end,
          writers = array_remove(writers, ${person})
        where workspace = ${workspace} and (starter = ${person} or ${person} = any(writers))`.execute(trx);
      await sql`
        update channel_settings set changed_by = '' where workspace = ${workspace} and changed_by = ${person}`.execute(
        trx,
      );
      await sql`
        update workspace_settings set changed_by = '' where workspace = ${workspace} and changed_by = ${person}`.execute(
        trx,
      );
      await sql`
        update task_deletions set person = '' where workspace = ${workspace} and person = ${person}`.execute(
        trx,
      );
      await sql`
        update audit set person = null where workspace = ${workspace} and person = ${person}`.execute(trx);
      await sql`
        update audit set person = null, details = details - 'stoppedBy'
        where workspace = ${workspace} and details ->> 'stoppedBy' = ${person}`.execute(trx);
      await sql`
        update accounts set set_by = '' where workspace = ${workspace} and set_by = ${person}`.execute(trx);
      await sql`insert into audit (workspace, kind) values (${workspace}, 'forget')`.execute(trx);
      return Number(numAffectedRows ?? 0);
    });
  }

  /** Deletes every row of a workspace, in every table there is; the answer is how many. */
  async workspace(workspace: string): Promise<number> {
    return this.#db.transaction().execute((trx) => everything(trx, workspace));
  }

  /**
   * Deletes the rows of one workspace that the app has left so many days ago, or of one organisation; the answer is how
   * many. Nothing is installed meanwhile. Of a workspace that uses another's token by now, its former installation goes.
   */
  async left(days: number): Promise<number> {
    return this.#db.transaction().execute(async (trx) => {
      await inOrder(trx);
      const { rows } = await sql<{ workspace: string; whole: boolean }>`
        select workspace, true as whole from workspaces where left_at < now() - ${days} * interval '1 day'
        union all
        select workspace, not exists (
          select from workspaces where workspaces.workspace = installations.workspace) as whole
        from installations where left_at < now() - ${days} * interval '1 day' limit 1`.execute(trx);
      const [left] = rows;
      if (left === undefined) return 0;
      if (left.whole) return everything(trx, left.workspace);
      await trx.deleteFrom('installations').where('workspace', '=', left.workspace).execute();
      return 1;
    });
  }
}

async function everything(trx: Transaction<Tables>, workspace: string): Promise<number> {
  await permitAuditChange(trx, 'forget');
  const tables = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = current_schema() and column_name = 'workspace'
      and table_name in (select table_name from information_schema.tables where table_type = 'BASE TABLE')
    order by 1`.execute(trx);
  let rows = 0;
  for (const { name } of tables.rows) {
    const deleted = await sql`delete from ${sql.table(name)} where workspace = ${workspace}`.execute(trx);
    rows += Number(deleted.numAffectedRows ?? 0);
  }
  const queue = await sql<{
    there: boolean;
  }>`select to_regclass('pgboss.job') is not null as there`.execute(trx);
  if (queue.rows[0]?.there === true)
    await sql`delete from pgboss.job where data ->> 'workspace' = ${workspace}`.execute(trx);
  return rows;
}
