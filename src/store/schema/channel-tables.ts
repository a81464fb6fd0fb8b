import type { ColumnType, Generated } from 'kysely';

/** Which messages of a channel are for the agent. */
export type ListenMode = 'mentions' | 'everything';
/** Who may use the agent: full members, guests too, or everyone in the channel. */
export type AllowedUsers = 'members' | 'guests' | 'everyone';
/** Who may stop and change a task: who began it, everyone in the channel, or admins. */
export type TaskControl = 'starter' | 'channel' | 'admins';

/** What a channel is told once: that it is shared with another organisation. */
export type ChannelNotice = 'shared';

/** The turn in whose thread a channel was told something, once. */
export interface ChannelNoticeTable {
  workspace: string;
  channel: string;
  kind: ChannelNotice;
  turn: string;
  said_at: Generated<Date>;
}

/** What people set for a channel. */
export interface ChannelSettingsTable {
  workspace: string;
  channel: string;
  /** The model of new tasks; null: the service's own choice. */
  model: string | null;
  listens: Generated<ListenMode>;
  /** Null: as the workspace's settings say. */
  admits: AllowedUsers | null;
  /** Other bots and workflows (B…) that may use the agent; null: as the workspace's settings say. */
  bots: ColumnType<string[] | null, string[] | null | undefined, string[] | null>;
  /** Null: as the settings say. */
  controls: TaskControl | null;
  show_steps: Generated<boolean>;
  /** The project gets the channel's name and purpose when they change. */
  follows_name: Generated<boolean>;
  changed_by: string;
  changed_at: Generated<Date>;
}
