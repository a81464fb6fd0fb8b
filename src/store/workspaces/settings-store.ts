import { sql } from 'kysely';
import { Queries } from '../queries.ts';
import type { SettingsRow } from '../schema.ts';

/** The settings of a channel, or of a whole workspace. */
export type Settings = Omit<SettingsRow, 'workspace' | 'channel' | 'changed_by' | 'changed_at'>;

/** Who may use the agent; null: not set. */
export type AccessSettings = Pick<Settings, 'allowed_users' | 'allowed_bots' | 'allow_workflow_steps'>;

/** In place of a channel: what holds in the channels of the workspace that set nothing else. */
export const WHOLE_WORKSPACE = '';

/** The settings where nobody has set any. */
export const DEFAULT_SETTINGS: Settings = {
  model: null,
  listen_mode: null,
  allowed_users: null,
  allowed_bots: null,
  task_control: null,
  show_steps: true,
  sync_project_name: null,
  allow_workflow_steps: false,
};

/** The settings of channels and workspaces. */
export class SettingsStore extends Queries {
  /** What is set for the channel itself, or the defaults. */
  async get(workspace: string, channel: string): Promise<Settings> {
    const row = await this.first(sql<Settings>`
      select model, listen_mode, allowed_users, allowed_bots, task_control, show_steps, sync_project_name,
        allow_workflow_steps
      from settings where (workspace, channel) = (${workspace}, ${channel})`);
    return row ?? DEFAULT_SETTINGS;
  }

  /** Sets the given values; the others stay. */
  async set(workspace: string, channel: string, person: string, change: Partial<Settings>): Promise<void> {
    const set = { ...change, changed_by: person, changed_at: new Date() };
    await this.db
      .insertInto('settings')
      .values({ workspace, channel, ...set })
      .onConflict((conflict) => conflict.columns(['workspace', 'channel']).doUpdateSet(set))
      .execute();
  }

  /** Who may use the agent in a channel: the channel's settings, else the workspace's. */
  async accessIn(workspace: string, channel: string): Promise<AccessSettings> {
    const row = await this.first(sql<AccessSettings>`
      select coalesce(own.allowed_users, usual.allowed_users) as allowed_users,
        coalesce(own.allowed_bots, usual.allowed_bots) as allowed_bots,
        coalesce(own.allow_workflow_steps, false) as allow_workflow_steps
      from (select) as one
      left join settings as usual on (usual.workspace, usual.channel) = (${workspace}, ${WHOLE_WORKSPACE})
      left join settings as own on (own.workspace, own.channel) = (${workspace}, ${channel})`);
    return row ?? DEFAULT_SETTINGS;
  }
}
