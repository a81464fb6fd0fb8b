import type { ColumnType, Generated } from 'kysely';
import type { ProjectKey } from '../keys.ts';
import type { NullableTimeColumn } from './column-types.ts';

/**
 * Which replies in threads that people began are for the agent: those that mention it, also those of a conversation with
 * it, or all.
 */
export type ListenMode = 'mentions' | 'conversation' | 'replies';
/** Who may use the agent: full members, guests too, or everyone in the channel. */
export type AllowedUsers = 'members' | 'guests' | 'everyone';
/** Who may stop and change a task: the person who started it, everyone in the channel, or admins. */
export type TaskControl = 'starter' | 'channel' | 'admins';

/** A channel's project at the service. It is not created yet while `project_id` is null. */
export interface ProjectTable extends ProjectKey {
  project_id: string | null;
  /** The turn that creates or created it, so that two threads do not create two; null if people chose the project. */
  claimed_by: string | null;
  claimed_until: NullableTimeColumn;
  /** Set just before the project is created, cleared when the outcome is known. */
  create_intended_at: NullableTimeColumn;
  /** From when on the project needs its channel's current name and purpose. */
  name_sync_due_at: NullableTimeColumn;
  name_sync_claimed_until: NullableTimeColumn;
  created_at: Generated<Date>;
}

/** A project that a channel has or had: its people may use it. Outlives the tasks. */
interface ProjectChannelTable {
  workspace: string;
  channel: string;
  project_id: string;
}

/** The settings of a channel, or of a whole workspace. */
export interface SettingsTable {
  workspace: string;
  /** '': the whole workspace. Null in a column: for a channel, the workspace's setting; for that, the operator's. */
  channel: string;
  /** The model of new tasks; null: the service's default. */
  model: string | null;
  /** `everything`, of channels alone: every message in the channel starts a thread, too. */
  listen_mode: ListenMode | 'everything' | null;
  allowed_users: AllowedUsers | null;
  /** Other bots and workflows (B…) that may use the agent. */
  allowed_bots: ColumnType<string[] | null, string[] | null | undefined, string[] | null>;
  task_control: TaskControl | null;
  show_steps: Generated<boolean>;
  /** The project gets the channel's name and purpose when they change. */
  sync_project_name: Generated<boolean>;
  /** Steps of Slack's workflows may ask the agent here. */
  allow_workflow_steps: Generated<boolean>;
  changed_by: string;
  changed_at: Generated<Date>;
}

/** Projects and settings. */
export interface ProjectTables {
  projects: ProjectTable;
  project_channels: ProjectChannelTable;
  settings: SettingsTable;
}
