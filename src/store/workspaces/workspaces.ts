import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { millis, Queries } from '../queries.ts';
import type { EchoState, Tables } from '../schema.ts';

/** The Slack workspaces that the bot is installed in. */
export class Workspaces extends Queries {
  /** Saves a workspace that uses the token of the settings; one that had uninstalled the app is active again. */
  async put(row: { workspace: string; name: string; bot_user_id: string; bot_id: string }): Promise<void> {
    await this.changes(sql`
      insert into workspaces (workspace, name, bot_user_id, bot_id)
      values (${row.workspace}, ${row.name}, ${row.bot_user_id}, ${row.bot_id})
      on conflict (workspace) do update set name = excluded.name, bot_user_id = excluded.bot_user_id,
        bot_id = excluded.bot_id, installation_id = null, uninstalled_at = null, access_revoked_at = null,
        -- Messages from the time without the app are not read back.
        last_receiving_at = case when workspaces.uninstalled_at is null then workspaces.last_receiving_at end`);
  }

  /**
   * Records that events of these workspaces can be received now, except where they were last received more than `gapMs`
   * ago. Returns those that need `recordReceiving`: these, and those whose posts do not come back.
   */
  async recordAllReceiving(workspaces: readonly string[], gapMs: number): Promise<string[]> {
    if (workspaces.length === 0) return [];
    const ours = sql`workspace = any(${[...workspaces]}::text[])`;
    const isSilent = sql`coalesce(last_receiving_at < now() - ${millis(gapMs)}, false)`;
    // What another process records, or has recorded just now, need not be written again.
    const rows = await this.rows(sql<{ workspace: string }>`
      with due as (
        select workspace from workspaces where ${ours} and not ${isSilent}
          and (last_receiving_at is null or last_receiving_at < now() - interval '10 s')
        for no key update skip locked
      ), recorded as (
        update workspaces set last_receiving_at = now() from due where workspaces.workspace = due.workspace)
      select workspace from workspaces
      where ${ours} and (${isSilent} or unheard_since is not null or judged_deaf_at is not null)`);
    return rows.map(({ workspace }) => workspace);
  }

  /**
   * Reads whether a workspace's events arrive and, with `isReceiving`, records that they can now. If they were last
   * received more than `gapMs` ago, `gap_since` says when, to one process; in a transaction that records what to do,
   * exactly once. The row stays locked until that ends. Undefined if there is no such workspace.
   */
  async recordReceiving(workspace: string, gapMs: number, isReceiving: boolean) {
    return this.first(sql<EchoState & { now: Date; gap_since: Date | null }>`
      with before as (
        select last_receiving_at, clock_timestamp() as now from workspaces where workspace = ${workspace} for update
      )
      update workspaces
      set last_receiving_at = greatest(before.last_receiving_at, case when ${isReceiving} then before.now end)
      from before where workspaces.workspace = ${workspace}
      returning before.now, unheard_posts, unheard_since, heard_at, judged_deaf_at,
        case when ${isReceiving} and before.last_receiving_at < before.now - ${millis(gapMs)}
          then before.last_receiving_at end as gap_since
    `);
  }

  /** Saves a change of what `recordReceiving` read. */
  async saveEchoes(workspace: string, echoes: EchoState): Promise<void> {
    await this.db.updateTable('workspaces').set(echoes).where('workspace', '=', workspace).execute();
  }
}

/** The version of a change of a workspace, an installation or an account. */
export const nextChangeSeq: RawBuilder<number> = sql<number>`nextval('installation_change_seq')`;

/** Makes changes in a transaction under `lockChangeSequence`. */
export async function inChangeSequence<T>(
  db: Kysely<Tables>,
  work: (trx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async (trx) => {
    await lockChangeSequence(trx);
    return work(trx);
  });
}

/**
 * Makes this transaction's changes visible after all changes with lower versions, so that a reader that has seen a
 * version has seen all before it. Call it before the first `nextChangeSeq` of a transaction.
 */
export async function lockChangeSequence(trx: Kysely<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('installation-changes', 0))`.execute(trx);
}
