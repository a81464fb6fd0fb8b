import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import type { Tables } from '../schema.ts';
import { allowAuditChange } from './audit-trail.ts';

/** Rows that one transaction deletes at most, so that it holds nothing for long. */
const MAX_ROWS_PER_TRANSACTION = 1_000;

/** These rows tell that there is something left to delete, so they go last. */
const DELETED_LAST = ['audit_events', 'installations', 'workspaces'];

/** How the rows of a workspace are deleted. */
export interface WorkspaceDeletionOptions {
  /** Rows to delete at most, to within one part; all of them when left out. */
  maxRows?: number;
  /** Asked inside each part's transaction whether it may go on. */
  mayContinue?: (trx: Transaction<Tables>) => Promise<boolean>;
  /** Ends the deletion after the part under way. */
  signal?: AbortSignal | undefined;
  /** Hears after each part how many rows are deleted so far. */
  onProgress?: ((rows: number) => void) | undefined;
}

/**
 * Deletes the rows of a workspace, in every table there is, in parts with a transaction each. The answer is how many;
 * what is left when it is interrupted is deleted by the next call.
 */
export async function deleteWorkspace(
  db: Kysely<Tables>,
  workspace: string,
  {
    maxRows: most = Number.POSITIVE_INFINITY,
    mayContinue: may,
    signal,
    onProgress: onPart,
  }: WorkspaceDeletionOptions = {},
): Promise<number> {
  const deletions = await tableDeletions(db, workspace);
  let rows = 0;
  while (deletions.length > 0 && rows < most && signal?.aborted !== true) {
    const part = await db.transaction().execute(async (trx) => {
      if (may !== undefined && !(await may(trx))) return undefined;
      await allowAuditChange(trx, 'forget');
      return deleteBatch(trx, deletions);
    });
    if (part === undefined) break;
    deletions.splice(0, part.emptied);
    rows += part.rows;
    onPart?.(rows);
  }
  return rows;
}

/** Deletes the rows of one part, table by table; the answer is also how many tables have none left. */
async function deleteBatch(
  trx: Transaction<Tables>,
  deletions: readonly TableDeletion[],
): Promise<{ rows: number; emptied: number }> {
  let rows = 0;
  for (const [index, deletion] of deletions.entries()) {
    const room = MAX_ROWS_PER_TRANSACTION - rows;
    const { numAffectedRows } = await deletion.delete(room).execute(trx);
    const deleted = Number(numAffectedRows ?? 0);
    rows += deleted;
    if (deleted === room) return { rows, emptied: index };
    // A row that another transaction changed meanwhile was passed over; a new statement sees it.
    if ((await deletion.remaining.execute(trx)).rows.length > 0) return { rows, emptied: index };
  }
  return { rows, emptied: deletions.length };
}

/** How a workspace's rows leave a table. */
interface TableDeletion {
  /** Deletes so many at most. */
  readonly delete: (most: number) => RawBuilder<unknown>;
  /** One row, if there is any. */
  readonly remaining: RawBuilder<unknown>;
}

/** The deletions from each table, in their order. */
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
  const jobs: TableDeletion = {
    delete: (most) => sql`
      delete from pgboss.job where id in (
        select id from pgboss.job where data ->> 'workspace' = ${workspace} limit ${most})`,
    remaining: sql`select 1 from pgboss.job where data ->> 'workspace' = ${workspace} limit 1`,
  };
  return [
    ...(queue.rows[0]?.there === true ? [jobs] : []),
    ...[...names, ...DELETED_LAST].map((name): TableDeletion => {
      const table = sql.table(name);
      return {
        delete: (most) => sql`
          delete from ${table} where ctid = any (array(
            select ctid from ${table} where workspace = ${workspace} limit ${most}))`,
        remaining: sql`select 1 from ${table} where workspace = ${workspace} limit 1`,
      };
    }),
  ];
}
