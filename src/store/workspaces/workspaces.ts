import { sql } from 'kysely';
import { millis } from '../clock.ts';
import { Queries } from '../queries.ts';

/** The Slack workspaces that the bot is installed in. */
export class Workspaces extends Queries {
  /** Saves a workspace that uses the token of the settings; one that had uninstalled the app is active again. */
  async put(row: { workspace: string; name: string; bot_user_id: string; bot_id: string }): Promise<void> {
    await this.db
      .insertInto('workspaces')
      .values(row)
      .onConflict((conflict) =>
        conflict.column('workspace').doUpdateSet({
          ...row,
          installation_id: null,
          uninstalled_at: null,
          access_revoked_at: null,
          // Messages from the time without the app are not read back.
          last_receiving_at: sql<Date>`case when workspaces.uninstalled_at is null then workspaces.last_receiving_at end`,
        }),
      )
      .execute();
  }

  /**
   * Records that events of these workspaces are received now. Returns those where they were last received more than
   * `gapMs` ago: they are left for `recordReceiving`.
   */
  async recordAllReceiving(workspaces: readonly string[], gapMs: number): Promise<string[]> {
    if (workspaces.length === 0) return [];
    // What another process recorded just now need not be written again.
    const { rows } = await sql<{ workspace: string }>`
      with receiving as (
        select workspace, last_receiving_at < now() - ${millis(gapMs)} as is_silent from workspaces
        where workspace = any(${[...workspaces]}::text[])
          and (last_receiving_at is null or last_receiving_at < now() - interval '10 s')
        order by workspace for update
      ), recorded as (
        update workspaces set last_receiving_at = greatest(last_receiving_at, now()) from receiving
        where workspaces.workspace = receiving.workspace and receiving.is_silent is not true)
      select workspace from receiving where is_silent`.execute(this.db);
    return rows.map(({ workspace }) => workspace);
  }

  /**
   * Records that events of this workspace are received now. If they were last received more than `gapMs` ago, returns
   * when, to one process; in a transaction that records what to do, exactly once.
   */
  async recordReceiving(workspace: string, gapMs: number): Promise<{ since: Date; now: Date } | undefined> {
    const { rows } = await sql<{ since: Date | null; now: Date; gap: boolean }>`
      with before as (
        select last_receiving_at, clock_timestamp() as now from workspaces where workspace = ${workspace} for update
      )
      update workspaces
      set last_receiving_at = greatest(before.last_receiving_at, before.now)
      from before where workspaces.workspace = ${workspace}
      returning before.last_receiving_at as since, before.now as now,
        coalesce(before.last_receiving_at < before.now - ${millis(gapMs)}, false) as gap
    `.execute(this.db);
    const row = rows[0];
    if (row === undefined || row.since === null || !row.gap) return undefined;
    return { since: row.since, now: row.now };
  }
}
