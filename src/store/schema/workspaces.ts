import type { Generated, Selectable } from 'kysely';
import type { NullableTimeColumn } from './column-types.ts';

/** A Slack workspace in which the bot is installed. */
interface WorkspaceTable {
  workspace: string;
  name: string;
  bot_user_id: string;
  bot_id: string;
  /** When some process was last able to receive its events. */
  last_receiving_at: NullableTimeColumn;
  /** The app's posts and edits since one of them last came back as an event. */
  unheard_posts: Generated<number>;
  /** Since when these are enough for a verdict. */
  unheard_since: NullableTimeColumn;
  /** When one of them last came back. */
  heard_at: NullableTimeColumn;
  /** The last verdict that no events arrive; null once one of the app's posts comes back. */
  judged_deaf_at: NullableTimeColumn;
  created_at: Generated<Date>;
  /** Whose token is used: the workspace's own installation or its organisation's; null: the token of the settings. */
  installation_id: Generated<string | null>;
  /** When the app was uninstalled: the workspace's rows are erased some time later. */
  uninstalled_at: NullableTimeColumn;
  /** When its organisation revoked the app's access; null once it was restored. */
  access_revoked_at: NullableTimeColumn;
  change_seq: Generated<number>;
}

/** An OAuth installation of a workspace (`T…`) or of an organisation (`E…`). */
interface InstallationTable {
  workspace: string;
  /** The organisation that a workspace belongs to. */
  enterprise_id: string | null;
  is_enterprise_install: boolean;
  name: string;
  bot_user_id: string;
  bot_id: string;
  /** The encrypted tokens; null once they are revoked. */
  encrypted_tokens: string | null;
  /** When the bot's token expires, if tokens are rotated. */
  token_expires_at: NullableTimeColumn;
  installed_at: Generated<Date>;
  uninstalled_at: NullableTimeColumn;
  change_seq: Generated<number>;
}

/** A service account that an admin of the workspace has set. */
interface AccountTable {
  workspace: string;
  /** An id of ours, which projects and threads refer to. */
  account_id: string;
  base_url: string;
  /** The encrypted API key; null once no turn needs it. */
  encrypted_api_key: string | null;
  set_by: string;
  set_at: Generated<Date>;
  /** When another account replaced it; null for the current one. */
  retired_at: NullableTimeColumn;
  change_seq: Generated<number>;
}

/** The state of an OAuth flow that was used: each is valid once. */
interface UsedOAuthStateTable {
  state: string;
  used_at: Generated<Date>;
}

/** Whether a workspace's events arrive: the app's own posts come back as events. */
export type EchoState = Pick<
  Selectable<WorkspaceTable>,
  'unheard_posts' | 'unheard_since' | 'heard_at' | 'judged_deaf_at'
>;
export type InstallationRow = Selectable<InstallationTable>;
export type AccountRow = Selectable<AccountTable>;

/** Workspaces, their installations and accounts. */
export interface WorkspaceTables {
  workspaces: WorkspaceTable;
  installations: InstallationTable;
  used_oauth_states: UsedOAuthStateTable;
  accounts: AccountTable;
}
