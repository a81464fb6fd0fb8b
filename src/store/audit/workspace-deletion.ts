import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { countChanges } from '../queries.ts';
import type { Tables } from '../schema.ts';
import { allowAuditChange } from './audit-trail.ts';

/** The most rows of one transaction, so that it holds no lock for long. */
const MAX_ROWS_PER_TRANSACTION = 1_000;

/** These rows show that there is something left to delete, so they are deleted last. */
const DELETED_LAST = ['audit_events', 'installations', 'workspaces'];

/** How the rows of a workspace are deleted. */
export interface WorkspaceDeletionOptions {
  /** The most rows to delete, to within one batch; all by default. */
  maxRows?: number;
  /** Asked inside each batch's transaction whether to continue. */
  mayContinue?: (trx: Transaction<Tables>) => Promise<boolean>;
  /** Ends the deletion after the current batch. */
  signal?: AbortSignal | undefined;
  /** Called after each batch with the number of rows deleted so far. */
  onProgress?: ((rows: number) => void) | undefined;
}

/**
 * Deletes the rows of a workspace from every table, in batches with a transaction each. Returns how many rows. After an
 * interruption, the next call deletes the rest.
 */
export async function deleteWorkspace(
  db: Kysely<Tables>,
  workspace: string,
  { maxRows = Number.POSITIVE_INFINITY, mayContinue, signal, onProgress }: WorkspaceDeletionOptions = {},
): Promise<number> {
  let rows = 0;
  for (const deletion of await tableDeletions(db, workspace)) {
    // Asked each time: a statement skips a row that another transaction changes meanwhile.
    while (rows < maxRows && signal?.aborted !== true && (await hasRemaining(db, deletion))) {
      const deleted = await db.transaction().execute(async (trx) => {
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

/** Whether any table has rows of a workspace. */
export async function hasRows(db: Kysely<Tables>, workspace: string): Promise<boolean> {
  for (const deletion of await tableDeletions(db, workspace))
    if (await hasRemaining(db, deletion)) return true;
  return false;
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
