import { type Kysely, sql } from 'kysely';
import { JOB_KIND } from '../jobs/jobs.ts';
import { changesRow, countChanges, Queries } from '../queries.ts';
import type { AccountKey, AccountRow, Tables } from '../schema.ts';
import { isOpenTurn } from '../threads/turn-phase.ts';
import { inChangeSequence, nextChangeSeq } from './installations.ts';

/** The account of the settings, which any workspace may use. */
export const SETTINGS_ACCOUNT = 'settings';
/** The account of threads that started in a workspace without one. */
export const NO_ACCOUNT = 'none';

/** Most retired accounts of a workspace whose turns may go on. */
const MAX_RETIRED_WITH_KEY = 3;

/** An account that an admin sets. */
export type NewAccount = Pick<AccountRow, 'workspace' | 'account_id' | 'base_url' | 'set_by'> & {
  encrypted_api_key: string;
};

/** Service accounts of workspaces. */
export class Accounts extends Queries {
  /** The current account of a workspace. */
  async current(workspace: string): Promise<AccountRow | undefined> {
    return this.first(
      sql<AccountRow>`select * from accounts where workspace = ${workspace} and retired_at is null`,
    );
  }

  async get({ workspace, account_id }: AccountKey): Promise<AccountRow | undefined> {
    return this.first(sql<AccountRow>`
      select * from accounts where workspace = ${workspace} and account_id = ${account_id}`);
  }

  /**
   * Sets a workspace's account: the same one with another key, or another one. False if the app is no longer installed
   * there: then no key is stored.
   */
  async put(row: NewAccount): Promise<boolean> {
    return inChangeSequence(this.db, async (trx) => {
      const left = sql`select from workspaces where workspace = ${row.workspace} and uninstalled_at is not null`;
      if ((await left.execute(trx)).rows.length > 0) return false;
      await this.#retire(trx, row.workspace, row.account_id);
      await this.#dropOldKeys(trx, row.workspace);
      const current = { set_at: sql<Date>`clock_timestamp()`, retired_at: null };
      const values = { ...row, ...current, change_seq: nextChangeSeq };
      await trx
        .insertInto('accounts')
        .values(values)
        .onConflict((conflict) => conflict.columns(['workspace', 'account_id']).doUpdateSet(values))
        .execute();
      return true;
    });
  }

  /** Removes a workspace's own account; false if it had none. */
  async remove(workspace: string): Promise<boolean> {
    return inChangeSequence(this.db, (trx) => this.#retire(trx, workspace, ''));
  }

  /** The accounts that changed after a version, in the order of their changes. */
  async changedSince(version: number): Promise<AccountRow[]> {
    return this.rows(
      sql<AccountRow>`select * from accounts where change_seq > ${version} order by change_seq`,
    );
  }

  async ids(): Promise<string[]> {
    const rows = await this.rows(sql<{ account_id: string }>`select account_id from accounts`);
    return rows.map(({ account_id }) => account_id);
  }

  /** The most recent tasks and projects of an account: a key that can read one of them belongs to the same account. */
  async recentItems({ workspace, account_id }: AccountKey, limit: number) {
    const ofAccount = sql`workspace = ${workspace} and account_id = ${account_id}`;
    const rows = await this.rows(sql<{ item: { task: string } | { project: string } }>`
      (select jsonb_build_object('task', task_id) as item from threads
        where ${ofAccount} and task_id is not null order by last_used_at desc limit ${limit})
      union all
      (select jsonb_build_object('project', project_id) from projects
        where ${ofAccount} and project_id is not null order by created_at desc limit ${limit})`);
    return rows.map(({ item }) => item);
  }

  /**
   * Deletes the keys of retired accounts, once their last turn has ended and their last deletion is done, or after a
   * day. Returns how many.
   */
  async deleteUnusedKeys(): Promise<number> {
    const isUnused = sql`
        retired_at is not null and encrypted_api_key is not null and (
          retired_at < now() - interval '1 day' or not exists (
            select from threads join turns using (workspace, channel, thread_ts)
            where threads.workspace = accounts.workspace and threads.account_id = accounts.account_id
              and ${isOpenTurn}) and not exists (
            select from jobs
            where jobs.workspace = accounts.workspace and kind = ${sql.lit(JOB_KIND.taskDeletion)} and done_at is null
              and payload ->> 'account_id' = accounts.account_id and payload -> 'is_deleted' is null))`;
    if (!(await this.exists(sql`select from accounts where ${isUnused} limit 1`))) return 0;
    const deleted = sql`
      update accounts set encrypted_api_key = null, change_seq = ${nextChangeSeq} where ${isUnused}`;
    return inChangeSequence(this.db, (trx) => countChanges(trx, deleted));
  }

  /** Of retired accounts, the latest few keep their keys for the turns that are still going on. */
  async #dropOldKeys(trx: Kysely<Tables>, workspace: string): Promise<void> {
    const kept = sql`
      select account_id from accounts where workspace = ${workspace} and retired_at is not null
      order by retired_at desc limit ${MAX_RETIRED_WITH_KEY}`;
    await sql`
      update accounts set encrypted_api_key = null, change_seq = ${nextChangeSeq}
      where workspace = ${workspace} and retired_at is not null and encrypted_api_key is not null
        and account_id not in (${kept})`.execute(trx);
  }

  async #retire(trx: Kysely<Tables>, workspace: string, exceptAccount: string): Promise<boolean> {
    const retired = sql`
      update accounts set retired_at = clock_timestamp(), change_seq = ${nextChangeSeq}
      where workspace = ${workspace} and account_id <> ${exceptAccount} and retired_at is null`;
    return changesRow(trx, retired);
  }
}
