import { type Kysely, sql, type Transaction } from 'kysely';
import { allowAuditChange } from '../audit-trail.ts';
import { StoreError } from '../errors.ts';
import { countChanges, daysAgo, Queries } from '../queries.ts';
import type { Tables } from '../schema.ts';
import { lockChangeSequence } from '../workspaces/installations.ts';

/** The most rows of one transaction, so that it holds no lock for long. */
const MAX_ROWS_PER_TRANSACTION = 1_000;

/** These rows show that there is something left to delete, so they are deleted last. */
const DELETED_LAST = ['audit_events', 'installations', 'workspaces'];

interface WorkspaceErasureOptions {
  /** The most rows to delete, to within one batch; all by default. */
  maxRows?: number;
  /** Asked inside each batch's transaction whether to continue. */
  mayContinue?: (trx: Transaction<Tables>) => Promise<boolean>;
  /** Called after each batch with the number of rows deleted so far. */
  onProgress?: ((rows: number) => void) | undefined;
}

/** Deletes what we keep about a workspace, at once and irreversibly. The service's data stays. */
export class WorkspaceErasure extends Queries {
  /**
   * Deletes the rows of a workspace from every table, in batches with a transaction each. Returns how many rows. After an
   * interruption, the next call deletes the rest.
   */
  async eraseWorkspace(
    workspace: string,
    { maxRows = Number.POSITIVE_INFINITY, mayContinue, onProgress }: WorkspaceErasureOptions = {},
  ): Promise<number> {
    let rows = 0;
    for (const name of await this.#tables()) {
      const table = sql.table(name);
      // A range in its order: it is found by an index, while other workspaces' rows are most of a table.
      const next = (most: number) => sql`
        select ctid from ${table} where workspace between ${workspace} and ${workspace} order by workspace limit ${most}`;
      const deletion = sql`delete from ${table} where ctid = any (array(${next(MAX_ROWS_PER_TRANSACTION)}))`;
      // Asked each time: a statement skips a row that another transaction changes meanwhile.
      while (rows < maxRows && (await this.exists(next(1)))) {
        const deleted = await this.db.transaction().execute(async (trx) => {
          if (mayContinue !== undefined && !(await mayContinue(trx))) return undefined;
          await allowAuditChange(trx, 'forget');
          return countChanges(trx, deletion);
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
  async #dueWorkspaces(db: Kysely<Tables>, days: number, only?: string) {
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

  /** The tables with rows of workspaces, in the order of their deletion. A newer release may have more than this one knows. */
  async #tables(): Promise<string[]> {
    const tables = await this.rows(sql<{ name: string }>`
      select table_name as name from information_schema.columns
      where table_schema = current_schema() and column_name = 'workspace'
        and table_name in (select table_name from information_schema.tables where table_type = 'BASE TABLE')
      order by array_position(${DELETED_LAST}::text[], table_name::text) nulls first, table_name`);
    return tables.map(({ name }) => name);
  }
}
