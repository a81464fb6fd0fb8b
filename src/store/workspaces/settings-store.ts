import { type Kysely, sql } from 'kysely';
import { Queries, reachedWith, toPostgresJson } from '../queries.ts';
import type { EncryptedText, SettingsRow, Tables } from '../schema.ts';
import { DecryptionError, encryptionContext, type Keyring, SIGNED_COLUMNS } from './encryption.ts';

/** A text that a person has set: encrypted in the database, and erased with that person. */
export interface SignedText {
  /** '' if no key of SECRET_KEY decrypts it. */
  readonly text: string;
  readonly set_by: string;
  readonly set_at: Date;
}

type SettingColumns = Omit<SettingsRow, 'workspace' | 'channel' | 'changed_by' | 'changed_at'>;

type SignedTexts = Record<(typeof SIGNED_COLUMNS)[number], SignedText | null>;

/** The settings of a channel, or of a whole workspace. */
export type Settings = Omit<SettingColumns, keyof SignedTexts> & SignedTexts;

/** In place of a channel: what holds in the channels of the workspace that set nothing else. */
export const WHOLE_WORKSPACE = '';

/** The settings where nobody has set any. */
export const DEFAULT_SETTINGS: Settings = {
  model: null,
  listen_mode: null,
  allowed_users: null,
  allowed_bots: null,
  task_control: null,
  instructions: null,
  prompts: null,
  answers_in: null,
  answers_in_channels: null,
  direct_messages: null,
  group_messages: null,
  answers_here: null,
  welcomes: null,
  show_steps: true,
  show_sources: true,
  send_reminders: true,
  sync_project_name: null,
  allow_workflow_steps: false,
};

/** The settings of channels and workspaces. */
export class SettingsStore extends Queries {
  readonly #keyring: Keyring | undefined;

  /** Without a keyring, no text can be set or read. */
  constructor(db: Kysely<Tables>, keyring?: Keyring) {
    super(db);
    this.#keyring = keyring;
  }

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
    const { instructions, prompts, ...values } = change;
    const signed = SIGNED_COLUMNS.flatMap((column) => {
      const text = { instructions, prompts }[column];
      return text === undefined ? [] : [[column, text && this.#encrypt(workspace, text)] as const];
    });
    const set = { ...values, ...Object.fromEntries(signed), changed_by: person, changed_at: new Date() };
    await this.db
      .insertInto('settings')
      .values({ workspace, channel, ...set })
      .onConflict((conflict) => conflict.columns(['workspace', 'channel']).doUpdateSet(set))
      .execute();
  }

  /**
   * Deletes the settings of a channel that is gone, in each workspace that the same installation reaches; false if it had
   * none.
   */
  async delete(workspace: string, channel: string): Promise<boolean> {
    return this.changes(sql`
      delete from settings where channel = ${channel} and workspace in (${reachedWith(workspace)})`);
  }

  /** What is set for some channels, the whole workspace first. */
  async #ofChannels(workspace: string, channels: readonly string[]): Promise<Settings[]> {
    const columns = sql.join(Object.keys(DEFAULT_SETTINGS).map((column) => sql.ref(column)));
    const rows = await this.rows(sql<SettingColumns>`
      select ${columns} from settings
      where workspace = ${workspace} and channel = any(${channels}::text[]) order by channel`);
    return rows.map(({ instructions, prompts, ...others }) => ({
      ...others,
      instructions: instructions && this.#decrypt(workspace, instructions),
      prompts: prompts && this.#decrypt(workspace, prompts),
    }));
  }

  /** Throws without a keyring. */
  #encrypt(workspace: string, { text, set_by, set_at }: SignedText): string {
    if (this.#keyring === undefined) throw new TypeError('A text needs SECRET_KEY.');
    const encrypted = this.#keyring.encrypt(text, encryptionContext.setting(workspace));
    return toPostgresJson({ encrypted, set_by, set_at: set_at.toISOString() } satisfies EncryptedText);
  }

  #decrypt(workspace: string, { encrypted, set_by, set_at }: EncryptedText): SignedText {
    const signed = { set_by, set_at: new Date(set_at) };
    try {
      const text = this.#keyring?.decrypt(encrypted, encryptionContext.setting(workspace)) ?? '';
      return { ...signed, text };
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      return { ...signed, text: '' };
    }
  }
}
