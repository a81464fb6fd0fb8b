import { sql } from 'kysely';
import { Queries } from '../queries.ts';
import type { SettingsRow } from '../schema.ts';

/** The settings of a channel, or of a whole workspace. */
export type Settings = Omit<SettingsRow, 'workspace' | 'channel' | 'changed_by' | 'changed_at'>;

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
  show_sources: true,
  send_reminders: true,
  sync_project_name: null,
  allow_workflow_steps: false,
};

/** The settings of channels and workspaces. */
export class SettingsStore extends Queries {
  /** What is set for the channel itself, or the defaults. */
  async get(workspace: string, channel: string): Promise<Settings> {
    return (await this.#ofChannels(workspace, [channel]))[0] ?? DEFAULT_SETTINGS;
  }

  /** What people have set for a channel: its own settings, else the workspace's, else the defaults. */
  async inForce(workspace: string, channel: string): Promise<Settings> {
    const set = await this.#ofChannels(workspace, [WHOLE_WORKSPACE, channel]);
    const values = set.flatMap((settings) => Object.entries(settings)).filter(([, value]) => value !== null);
    return { ...DEFAULT_SETTINGS, ...Object.fromEntries(values) };
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

  /** What is set for some channels, the whole workspace first. */
  async #ofChannels(workspace: string, channels: readonly string[]): Promise<Settings[]> {
    const columns = sql.join(Object.keys(DEFAULT_SETTINGS).map((column) => sql.ref(column)));
    return this.rows(sql<Settings>`
      select ${columns} from settings
      where workspace = ${workspace} and channel = any(${channels}::text[]) order by channel`);
  }
}
