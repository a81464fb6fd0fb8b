import { type Selectable, sql } from 'kysely';
import { Queries } from '../queries.ts';
import type { ChannelSettingsTable } from '../schema/projects.ts';

/** A channel's settings. */
export type ChannelSettings = Omit<
  Selectable<ChannelSettingsTable>,
  'workspace' | 'channel' | 'changed_by' | 'changed_at'
>;

/** The settings of a channel without a row. */
export const DEFAULT_CHANNEL_SETTINGS: ChannelSettings = {
  model: null,
  listen_mode: null,
  allowed_users: null,
  allowed_bots: null,
  task_control: null,
  show_steps: true,
  sync_project_name: false,
};

/** The settings of channels. */
export class ChannelSettingsStore extends Queries {
  /** The channel's settings, or the defaults. */
  async get(workspace: string, channel: string): Promise<ChannelSettings> {
    const row = await this.first(sql<ChannelSettings>`
      select model, listen_mode, allowed_users, allowed_bots, task_control, show_steps, sync_project_name
      from channel_settings where workspace = ${workspace} and channel = ${channel}`);
    return row ?? DEFAULT_CHANNEL_SETTINGS;
  }

  /** Sets the given values; the others stay. */
  async set(
    workspace: string,
    channel: string,
    person: string,
    change: Partial<ChannelSettings>,
  ): Promise<void> {
    const set = { ...change, changed_by: person, changed_at: new Date() };
    await this.db
      .insertInto('channel_settings')
      .values({ workspace, channel, ...set })
      .onConflict((conflict) => conflict.columns(['workspace', 'channel']).doUpdateSet(set))
      .execute();
  }
}
