import { type Selectable, sql } from 'kysely';
import { Queries } from '../queries.ts';
import type { WorkspaceSettingsTable } from '../schema/workspaces.ts';

/** A workspace's settings; null: the operator's setting. */
export type WorkspaceSettings = Omit<
  Selectable<WorkspaceSettingsTable>,
  'workspace' | 'changed_by' | 'changed_at'
>;

/** Who may use the agent; null: not set. */
export type AccessSettings = Omit<WorkspaceSettings, 'listen_mode'>;

/** The settings of workspaces. */
export class WorkspaceSettingsStore extends Queries {
  /** The workspace's settings, or the defaults. */
  async get(workspace: string): Promise<WorkspaceSettings> {
    const row = await this.first(sql<WorkspaceSettings>`
      select allowed_users, allowed_bots, listen_mode from workspace_settings where workspace = ${workspace}`);
    return row ?? { allowed_users: null, allowed_bots: null, listen_mode: null };
  }

  /** Sets the given values; the others stay. */
  async set(workspace: string, person: string, settings: Partial<WorkspaceSettings>): Promise<void> {
    const set = { ...settings, changed_by: person, changed_at: new Date() };
    await this.db
      .insertInto('workspace_settings')
      .values({ workspace, ...set })
      .onConflict((conflict) => conflict.column('workspace').doUpdateSet(set))
      .execute();
  }

  /** Who may use the agent in a channel: the channel's settings, else the workspace's. */
  async accessIn(workspace: string, channel: string): Promise<AccessSettings> {
    const { rows } = await sql<AccessSettings>`
      select coalesce(of_channel.allowed_users, of_all.allowed_users) as allowed_users,
        coalesce(of_channel.allowed_bots, of_all.allowed_bots) as allowed_bots
      from (select) as one
      left join workspace_settings as of_all on of_all.workspace = ${workspace}
      left join channel_settings as of_channel
        on of_channel.workspace = ${workspace} and of_channel.channel = ${channel}`.execute(this.db);
    return rows[0] ?? { allowed_users: null, allowed_bots: null };
  }
}
