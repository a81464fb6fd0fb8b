import type { Selectable } from 'kysely';
import type { ListenSetting, Tables } from './tables.ts';

export type { FileNote, MessageContent, SlackTs, TaskChoices } from './column-types.ts';
export type {
  AllowedUsers,
  ListenSetting,
  MessageState,
  OneTimeNotice,
  PostState,
  SlackFileState,
  Tables,
  TaskControl,
  TurnOutcome,
  TurnPhase,
} from './tables.ts';

// The baseline in `migrations/` says what each column holds.
export type AccountRow = Selectable<Tables['accounts']>;
export type AuditRow = Selectable<Tables['audit_events']>;
export type EarlyEditRow = Selectable<Tables['early_edits']>;
export type FeedbackRow = Selectable<Tables['feedback']>;
export type InstallationRow = Selectable<Tables['installations']>;
export type Job = Selectable<Tables['jobs']>;
export type Message = Selectable<Tables['messages']>;
export type Post = Selectable<Tables['posts']>;
export type PostedResult = Selectable<Tables['posted_results']>;
export type ProjectRow = Selectable<Tables['projects']>;
export type SettingsRow = Selectable<Tables['settings']>;
export type SlackFileRow = Selectable<Tables['slack_files']>;
export type SocketLease = Selectable<Tables['socket_leases']>;
export type TaskStart = Selectable<Tables['task_starts']>;
export type Thread = Selectable<Tables['threads']>;
export type Turn = Selectable<Tables['turns']>;
export type UploadRow = Selectable<Tables['uploads']>;
export type WorkspaceRow = Selectable<Tables['workspaces']>;

/** Which replies in threads that people began are for the agent. */
export type ListenMode = Exclude<ListenSetting, 'everything'>;

/** Identifies a thread; `thread_ts` is the ts of its first message. */
export type ThreadKey = Pick<Thread, 'workspace' | 'channel' | 'thread_ts'>;
/** Identifies a message in Slack. */
export type MessageKey = Pick<Message, 'workspace' | 'channel' | 'ts'>;
/** Identifies a channel's project under a service account. */
export type ProjectKey = Pick<ProjectRow, 'workspace' | 'channel' | 'account_id'>;
/** Identifies a service account of a workspace. */
export type AccountKey = Pick<AccountRow, 'workspace' | 'account_id'>;
/** Identifies an upload: a Slack file and its project. */
export type UploadKey = Pick<UploadRow, 'workspace' | 'slack_file_id' | 'project_id'>;
/** Which turn. */
export type TurnId = Pick<Turn, 'workspace' | 'id'>;
/** Which turn, and where. What works for hours keeps this, and not a row with people's content. */
export type TurnLocation = TurnId & ThreadKey;
/** Whether a workspace's events arrive: the app's own posts come back as events. */
export type EchoState = Pick<WorkspaceRow, 'unheard_posts' | 'unheard_since' | 'heard_at' | 'judged_deaf_at'>;

/** A thread's key as text: the queue's singleton key, and the name of the thread's advisory lock. */
export function threadKeyText({ workspace, channel, thread_ts }: ThreadKey): string {
  return `${workspace}/${channel}/${thread_ts}`;
}
