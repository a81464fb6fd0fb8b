import type { ColumnType, Generated, Selectable } from 'kysely';
import type { AllowedUsers } from './channel-tables.ts';

type NullableTimeColumn = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;

/** One Slack workspace that the bot is installed in. */
export interface WorkspaceTable {
  workspace: string;
  name: string;
  bot_user: string;
  bot_id: string;
  /** When the last event of this workspace was received. */
  last_event_at: NullableTimeColumn;
  /** When some process was last able to receive its events. */
  receiving_at: NullableTimeColumn;
  created_at: Generated<Date>;
  /** Whose token is used: the workspace's own installation or its organisation's; null: the settings'. */
  installation: ColumnType<string | null, string | null | undefined, string | null>;
  /** When the app was uninstalled: the workspace's rows go some time later. */
  left_at: NullableTimeColumn;
  /** When its organisation took the app from it; null once it was given again. */
  withdrawn_at: NullableTimeColumn;
  version: Generated<number>;
}

/** An installation by OAuth, of a workspace (`T…`) or of a whole organisation (`E…`). */
export interface InstallationTable {
  workspace: string;
  /** The organisation that a workspace belongs to. */
  enterprise: string | null;
  organisation: boolean;
  name: string;
  bot_user: string;
  bot_id: string;
  /** The tokens, sealed; null once they are revoked. */
  sealed: string | null;
  /** When the bot's token ends, where tokens are rotated. */
  expires_at: NullableTimeColumn;
  installed_at: Generated<Date>;
  left_at: NullableTimeColumn;
  version: Generated<number>;
}

/** An account at the service that an admin of the workspace has set. */
export interface AccountTable {
  workspace: string;
  /** An id of ours; projects and threads carry it. */
  account: string;
  base_url: string;
  /** The API key, sealed; null once no turn needs it any more. */
  sealed: string | null;
  set_by: string;
  set_at: Generated<Date>;
  /** When another took its place; null for the one in use. */
  retired_at: NullableTimeColumn;
  version: Generated<number>;
}

/** The state of an installation by OAuth that was used: once is enough. */
export interface UsedOAuthStateTable {
  state: string;
  spent_at: Generated<Date>;
}

/** What admins set for their workspace. */
export interface WorkspaceSettingsTable {
  workspace: string;
  /** Null: as the operator's settings say. */
  admits: AllowedUsers | null;
  /** Other bots and workflows (B…) that may use the agent; null: as the operator's settings say. */
  bots: string[] | null;
  changed_by: string;
  changed_at: Generated<Date>;
}

/** The tables of installations, service accounts and settings of workspaces. */
export interface WorkspaceTables {
  workspaces: WorkspaceTable;
  installations: InstallationTable;
  accounts: AccountTable;
  spent_states: UsedOAuthStateTable;
  workspace_settings: WorkspaceSettingsTable;
}

export type InstallationRow = Selectable<InstallationTable>;
export type AccountRow = Selectable<AccountTable>;
