import type { SlackTs } from '../keys.ts';

/** A Slack workspace in which the bot is installed. */
export interface WorkspaceRow {
  workspace: string;
  name: string;
  bot_user_id: string;
  bot_id: string;
  /** When some process was last able to receive its events. */
  last_receiving_at: Date | null;
  /** The app's posts and edits since one of them last came back as an event. */
  unheard_posts: number;
  /** Since when these are enough for a verdict. */
  unheard_since: Date | null;
  /** When one of them last came back. */
  heard_at: Date | null;
  /** The last verdict that no events arrive; null once one of the app's posts comes back. */
  judged_deaf_at: Date | null;
  created_at: Date;
  /** Whose token is used: the workspace's own installation or its organisation's; null: the token of the settings. */
  installation_id: string | null;
  /** When the app was uninstalled: the workspace's rows are erased some time later. */
  uninstalled_at: Date | null;
  /** When its organisation revoked the app's access; null once it was restored. */
  access_revoked_at: Date | null;
  change_seq: number;
}

/** An OAuth installation of a workspace (`T…`) or of an organisation (`E…`). */
export interface InstallationRow {
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
  token_expires_at: Date | null;
  /** The process that renews the token, until when: a refresh token is valid once. */
  renewal_claimed_by: string | null;
  renewal_claimed_until: Date | null;
  installed_at: Date;
  uninstalled_at: Date | null;
  change_seq: number;
}

/** A service account that an admin of the workspace has set. */
export interface AccountRow {
  workspace: string;
  /** An id of ours, which projects and threads refer to. */
  account_id: string;
  base_url: string;
  /** The encrypted API key; null once no turn needs it. */
  encrypted_api_key: string | null;
  set_by: string;
  set_at: Date;
  /** When another account replaced it; null for the current one. */
  retired_at: Date | null;
  change_seq: number;
}

/** Whether a workspace's events arrive: the app's own posts come back as events. */
export type EchoState = Pick<WorkspaceRow, 'unheard_posts' | 'unheard_since' | 'heard_at' | 'judged_deaf_at'>;

/** The rate limit of one kind of call in one workspace, shared by all processes. */
export interface RateLimitRow {
  workspace: string;
  /** A Slack method, or a method and a channel. */
  limit_key: string;
  /** GCRA's theoretical arrival time: when all permits granted so far are used up. */
  theoretical_arrival_at: Date;
  /** No permit is granted before this time, because Slack answered 429. */
  blocked_until: Date;
  /** The share of the full rate after the last 429; it recovers with time. */
  rate_factor: number;
  /** When that 429 was. */
  rate_reduced_at: Date;
}

/** A process that may hold Socket Mode connections of a Slack app; it is dead after `expires_at`. */
export interface SocketLease {
  workspace: string;
  app_id: string;
  process_id: string;
  /** How many connections it may open, or still has. */
  sockets: number;
  expires_at: Date;
}

/** What somebody did. Rows are only added; triggers add those of turns, stops and withdrawals. */
export interface AuditRow {
  workspace: string;
  id: number;
  at: Date;
  kind: 'turn' | 'stop' | 'approval' | 'withdrawal' | 'deletion' | 'refusal' | 'forget' | 'setting';
  user_id: string | null;
  channel: string | null;
  thread_ts: SlackTs | null;
  turn_id: string | null;
  task_id: string | null;
  details: Record<string, unknown>;
}

/**
 * What a channel is told once. shared: another organisation can read the channel; introduction: answers come from an
 * automated system; new_task_in_dm: each message at the top of a direct channel starts a task.
 */
export type OneTimeNotice = 'shared' | 'introduction' | 'new_task_in_dm';
