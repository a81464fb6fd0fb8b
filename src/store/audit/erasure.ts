import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { StoreError } from '../errors.ts';
import { countChanges, Queries } from '../queries.ts';
import type { Tables } from '../schema.ts';
import { daysAgo } from '../sql-expressions.ts';
import { lockChangeSequence } from '../workspaces/change-sequence.ts';
import { allowAuditChange } from './audit-trail.ts';

/** The most rows of one transaction, so that it holds no lock for long. */
const MAX_ROWS_PER_TRANSACTION = 1_000;

/** These rows show that there is something left to delete, so they are deleted last. */
const DELETED_LAST = ['audit_events', 'installations', 'workspaces'];

/** How a workspace is erased. */
interface WorkspaceErasureOptions {
  /** The most rows to delete, to within one batch; all by default. */
  maxRows?: number;
  /** Asked inside each batch's transaction whether to continue. */
  mayContinue?: (trx: Transaction<Tables>) => Promise<boolean>;
  /** Ends the deletion after the current batch. */
  signal?: AbortSignal | undefined;
  /** Called after each batch with the number of rows deleted so far. */
  onProgress?: ((rows: number) => void) | undefined;
}

/** Columns that hold nothing but a person's id. */
const PERSON_COLUMNS = [
  ['turns', 'stop_requested_by'],
  ['settings', 'changed_by'],
  ['jobs', 'person'],
  ['accounts', 'set_by'],
] as const;

/** Erases what we keep about a person or a workspace, at once and irreversibly. The service's data stays. */
export class Erasure extends Queries {
  /** Whether there are rows of a workspace. */
  async knowsWorkspace(workspace: string): Promise<boolean> {
    for (const deletion of await tableDeletions(this.db, workspace))
      if (await hasRemaining(this.db, deletion)) return true;
    return false;
  }

  /** Whether a row of the workspace names this person. */
  async knowsPerson(workspace: string, person: string): Promise<boolean> {
    const row = await this.first(sql<{ found: boolean }>`
      select exists (
        select from messages where workspace = ${workspace}
          and (user_id = ${person} or ${quotes('content', person)})
        union all select from early_edits where workspace = ${workspace} and ${quotes('content', person)}
        union all select from threads where workspace = ${workspace}
          and (started_by = ${person} or ${person} = any(participant_ids))
        union all select from turns where workspace = ${workspace}
          and (${person} in (asked_by, stop_requested_by) or ${person} = any(quoted_ids))
        union all select from task_starts where workspace = ${workspace}
          and (user_id = ${person} or ${quotes('source_content', person)} or ${quotes('content', person)})
        union all select from jobs where workspace = ${workspace} and person = ${person}
        union all select from feedback where workspace = ${workspace} and user_id = ${person}
        union all select from accounts where workspace = ${workspace} and set_by = ${person}
        union all select from audit_events where workspace = ${workspace} and user_id = ${person}) as found`);
    return row?.found === true;
  }

  /**
   * Erases a person's text, file names and id everywhere. Withdraws their waiting messages first. Message ids stay, so
   * that no message is taken for a new one. Returns the number of messages.
   */
  async eraseUser(workspace: string, person: string): Promise<number> {
    return this.db.transaction().execute(async (trx) => {
      await allowAuditChange(trx, 'forget');
      await eraseRepeats(trx, workspace, person);
      await eraseQuotes(trx, workspace, person);
      await sql`
        update early_edits set content = null, user_id = null
        where workspace = ${workspace} and user_id = ${person}`.execute(trx);
      await sql`
        update messages set state = 'withdrawn' where workspace = ${workspace} and user_id = ${person}
          and state = 'waiting'`.execute(trx);
      const theirs = sql`
        update messages set content = null, user_id = ''
        where workspace = ${workspace} and user_id = ${person}`;
      const erased = await countChanges(trx, theirs);
      for (const table of ['messages', 'early_edits'])
        await sql`
          update ${sql.table(table)} set content = ${contentWithoutQuotes(person)}
          where workspace = ${workspace} and ${quotes('content', person)}`.execute(trx);
      await sql`
        delete from task_starts where workspace = ${workspace} and (user_id = ${person}
          or ${quotes('source_content', person)} or ${quotes('content', person)})`.execute(trx);
      await sql`
        update task_starts set content = content #- '{step,person}'
        where workspace = ${workspace} and content -> 'step' ->> 'person' = ${person}`.execute(trx);
      await sql`
        update turns set prompt = null, quoted_ids = '{}', file_notes = null, asked_by = '',
          skill = case when user_message_id is not null then skill end
        where workspace = ${workspace} and asked_by = ${person}`.execute(trx);
      for (const [table, column] of PERSON_COLUMNS)
        await sql`
          update ${sql.table(table)} set ${sql.ref(column)} = ''
          where workspace = ${workspace} and ${sql.ref(column)} = ${person}`.execute(trx);
      await sql`delete from feedback where workspace = ${workspace} and user_id = ${person}`.execute(trx);
      await sql`
        update threads set
          task_title = case
            when started_by = ${person} and (task_id is not null or task_intended_at is null) then null
            else task_title end,
          started_by = case when started_by = ${person} then '' else started_by end,
          participant_ids = array_remove(participant_ids, ${person}), informed_ids = array_remove(informed_ids, ${person})
        where workspace = ${workspace}
          and (started_by = ${person} or ${person} = any(participant_ids || informed_ids))`.execute(trx);
      await sql`
        update audit_events set user_id = null where workspace = ${workspace} and user_id = ${person}`.execute(
        trx,
      );
      await sql`
        update audit_events set user_id = null, details = details - 'stoppedBy'
        where workspace = ${workspace} and details ->> 'stoppedBy' = ${person}`.execute(trx);
      await sql`insert into audit_events (workspace, kind) values (${workspace}, 'forget')`.execute(trx);
      return erased;
    });
  }

  /**
   * Deletes the rows of a workspace from every table, in batches with a transaction each. Returns how many rows. After an
   * interruption, the next call deletes the rest.
   */
  async eraseWorkspace(
    workspace: string,
    { maxRows = Number.POSITIVE_INFINITY, mayContinue, signal, onProgress }: WorkspaceErasureOptions = {},
  ): Promise<number> {
    let rows = 0;
    for (const deletion of await tableDeletions(this.db, workspace)) {
      // Asked each time: a statement skips a row that another transaction changes meanwhile.
      while (rows < maxRows && signal?.aborted !== true && (await hasRemaining(this.db, deletion))) {
        const deleted = await this.db.transaction().execute(async (trx) => {
          if (mayContinue !== undefined && !(await mayContinue(trx))) return undefined;
          await allowAuditChange(trx, 'forget');
          return countChanges(trx, deletion.nextBatch);
        });
        if (deleted === undefined) return rows;
        rows += deleted;
        onProgress?.(rows);
      }
    }
    return rows;
  }

  /**
   * Deletes about `maxRows` rows of any workspace or organisation that uninstalled the app `days` ago; returns how many.
   * The next call continues, unless the app is installed again by then. If the workspace now uses another
   * installation's token, only its former installation is deleted.
   */
  async eraseUninstalled(days: number, maxRows = 20_000): Promise<number> {
    const [due] = await this.#dueWorkspaces(this.db, days);
    if (due === undefined) return 0;
    const { workspace, whole } = due;
    // The lock keeps the app from being installed while a batch is deleted.
    const mayContinue = async (trx: Transaction<Tables>) => {
      await lockChangeSequence(trx);
      return (await this.#dueWorkspaces(trx, days, workspace)).some((still) => still.whole === whole);
    };
    try {
      if (whole) return await this.eraseWorkspace(workspace, { maxRows, mayContinue });
      return await this.db.transaction().execute(async (trx) => {
        if (!(await mayContinue(trx))) return 0;
        await trx.deleteFrom('installations').where('workspace', '=', workspace).execute();
        return 1;
      });
    } catch (error) {
      if (error instanceof StoreError) throw error;
      throw new Error(`The rows of ${workspace}, which uninstalled the app, cannot be deleted.`, {
        cause: error,
      });
    }
  }

  /**
   * Workspaces due for deletion, or `only` this one; `whole` if nothing of the workspace is in use. In a random order, so
   * that one that cannot be deleted is not always the first.
   */
  async #dueWorkspaces(
    db: Kysely<Tables>,
    days: number,
    only?: string,
  ): Promise<{ workspace: string; whole: boolean }[]> {
    const due = sql`uninstalled_at < ${daysAgo(days)} and (${only ?? null}::text is null or workspace = ${only ?? null})`;
    const { rows } = await sql<{ workspace: string; whole: boolean }>`
      select * from (
        select workspace, true as whole from workspaces where ${due}
        union all
        select workspace, not exists (
          select from workspaces where workspaces.workspace = installations.workspace) as whole
        from installations where ${due}) as due
      order by random() limit 2`.execute(db);
    return rows;
  }
}

/** Whether stored content quotes a person: it is about a message of theirs, or a message of theirs is attached. */
function quotes(column: string, person: string): RawBuilder<boolean> {
  return sql`jsonb_path_exists(${sql.ref(column)}, '$ ? (@.about.user == $person
    || @.attachments[*].author_id == $person || @.about.attachments[*].author_id == $person)', ${only(person)})`;
}

/** Stored content without what it quotes of a person. */
function contentWithoutQuotes(person: string): RawBuilder<unknown> {
  const isAboutThem = sql`content -> 'about' ->> 'user' is not distinct from ${person}`;
  return sql`
    jsonb_set(jsonb_set(
      case when ${isAboutThem} then content - 'about' else content end,
      '{attachments}', jsonb_path_query_array(
        content, '$.attachments[*] ? (!(@.author_id == $person))', ${only(person)}), false),
      '{about,attachments}', jsonb_path_query_array(
        content, '$.about.attachments[*] ? (!(@.author_id == $person))', ${only(person)}), false)`;
}

function only(person: string): RawBuilder<unknown> {
  return sql`jsonb_build_object('person', ${person}::text)`;
}

/**
 * Erases what others sent that quotes the person: a message that they asked about, linked to or forwarded, and the
 * earlier messages of a thread or of its former tasks.
 */
async function eraseQuotes(trx: Transaction<Tables>, workspace: string, person: string): Promise<void> {
  await sql`
    with about as (
      select channel, thread_ts, ts from messages
      where workspace = ${workspace} and ${quotes('content', person)}
    )
    update threads set task_title = null from about
    where threads.workspace = ${workspace} and threads.channel = about.channel and threads.thread_ts = about.thread_ts
      and threads.adopted_ts = about.ts and (task_id is not null or task_intended_at is null)`.execute(trx);
  await sql`
    update turns set prompt = null, quoted_ids = '{}', file_notes = null
    where workspace = ${workspace} and ${person} = any(quoted_ids)`.execute(trx);
}

/** Erases a person's text where others sent it again, and deletes the forms in which they were about to. */
async function eraseRepeats(trx: Transaction<Tables>, workspace: string, person: string): Promise<void> {
  await sql`
    with recursive said as (
      select messages.channel, messages.thread_ts, messages.ts from messages
      where workspace = ${workspace} and user_id = ${person}
      union
      select again.channel, again.thread_ts, again.ts from said
      join turns on turns.workspace = ${workspace} and turns.channel = said.channel
        and turns.message_ts = said.ts
      join messages as again on again.workspace = ${workspace} and again.channel = said.channel
        and again.thread_ts = said.thread_ts and turns.id in (again.resends_turn_id, again.revises_turn_id)
    ), theirs as (
      select turns.id from turns join said on turns.channel = said.channel and turns.message_ts = said.ts
      where turns.workspace = ${workspace}
    ), forms as (
      delete from task_starts using theirs where task_starts.workspace = ${workspace} and task_starts.source_turn_id = theirs.id
    ), questions as (
      update messages set content = null,
        state = case messages.state when 'waiting' then 'withdrawn' else messages.state end
      from said where messages.workspace = ${workspace} and messages.channel = said.channel
        and messages.ts = said.ts and messages.user_id <> ${person}
    )
    update turns set prompt = null, file_notes = null from theirs
    where turns.workspace = ${workspace} and turns.id = theirs.id and turns.asked_by <> ${person}`.execute(
    trx,
  );
}

async function hasRemaining(db: Kysely<Tables>, { remaining }: TableDeletion): Promise<boolean> {
  return (await remaining.execute(db)).rows.length > 0;
}

/** How a workspace's rows are deleted from a table. */
interface TableDeletion {
  /** Deletes at most 1,000 rows. */
  readonly nextBatch: RawBuilder<unknown>;
  /** One row, if there is any. */
  readonly remaining: RawBuilder<unknown>;
}

/** The deletion from each table, in order. */
async function tableDeletions(db: Kysely<Tables>, workspace: string): Promise<TableDeletion[]> {
  const tables = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = current_schema() and column_name = 'workspace'
      and table_name in (select table_name from information_schema.tables where table_type = 'BASE TABLE')
    order by 1`.execute(db);
  const names = tables.rows.map(({ name }) => name).filter((name) => !DELETED_LAST.includes(name));
  const queue = await sql<{ there: boolean }>`select to_regclass('pgboss.job') is not null as there`.execute(
    db,
  );
  const rowsOf = (name: string, key = 'ctid', condition = sql`workspace = ${workspace}`): TableDeletion => {
    const [table, keyColumn] = [sql.table(name), sql.ref(key)];
    return {
      nextBatch: sql`
        delete from ${table} where ${keyColumn} = any (array(
          select ${keyColumn} from ${table} where ${condition} limit ${MAX_ROWS_PER_TRANSACTION}))`,
      remaining: sql`select 1 from ${table} where ${condition} limit 1`,
    };
  };
  const jobs = rowsOf('pgboss.job', 'id', sql`data ->> 'workspace' = ${workspace}`);
  return [
    ...(queue.rows[0]?.there === true ? [jobs] : []),
    ...[...names, ...DELETED_LAST].map((name) => rowsOf(name)),
  ];
}
