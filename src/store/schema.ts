import type { Selectable } from 'kysely';
import type { AuditEventTable, FeedbackTable, OneTimeNoticeTable } from './schema/audit.ts';
import type {
  ResultTable,
  ReviewTable,
  SlackFileTable,
  UploadedFileTable,
  UploadPartTable,
  UploadTable,
} from './schema/files.ts';
import type { ChannelSettingsTable, ProjectChannelTable, ProjectTable } from './schema/projects.ts';
import type { BackfillTable, SharedRateLimitTable, SocketLeaseTable } from './schema/slack.ts';
import type { FollowUpTable, TaskDeletionTable, TaskStartTable } from './schema/tasks.ts';
import type {
  EarlyEditTable,
  MessageTable,
  OrphanReplyTable,
  PostTable,
  ThreadTable,
  TurnTable,
} from './schema/threads.ts';
import type {
  AccountTable,
  InstallationTable,
  UsedOAuthStateTable,
  WorkspaceSettingsTable,
  WorkspaceTable,
} from './schema/workspaces.ts';

export type { AuditEventTable, OneTimeNotice } from './schema/audit.ts';
export type { SlackTs } from './schema/column-types.ts';
export type { SlackFileState } from './schema/files.ts';
export type { AllowedUsers, ListenMode, TaskControl } from './schema/projects.ts';
export type {
  FileNote,
  MessageContent,
  MessageState,
  PostState,
  TaskChoices,
  TurnOutcome,
} from './schema/threads.ts';
export type { AccountRow, InstallationRow } from './schema/workspaces.ts';

/** Every table of ours. The workspace is the first column of each key, except for OAuth states. */
export interface Tables {
  workspaces: WorkspaceTable;
  installations: InstallationTable;
  used_oauth_states: UsedOAuthStateTable;
  accounts: AccountTable;
  workspace_settings: WorkspaceSettingsTable;
  channel_settings: ChannelSettingsTable;
  projects: ProjectTable;
  project_channels: ProjectChannelTable;
  threads: ThreadTable;
  messages: MessageTable;
  early_edits: EarlyEditTable;
  orphan_replies: OrphanReplyTable;
  turns: TurnTable;
  posts: PostTable;
  task_starts: TaskStartTable;
  task_deletions: TaskDeletionTable;
  follow_ups: FollowUpTable;
  uploaded_files: UploadedFileTable;
  uploads: UploadTable;
  upload_parts: UploadPartTable;
  slack_files: SlackFileTable;
  posted_results: ResultTable;
  posted_reviews: ReviewTable;
  rate_limits: SharedRateLimitTable;
  socket_leases: SocketLeaseTable;
  backfills: BackfillTable;
  audit_events: AuditEventTable;
  one_time_notices: OneTimeNoticeTable;
  feedback: FeedbackTable;
}

export type Thread = Selectable<ThreadTable>;
export type Message = Selectable<MessageTable>;
export type Turn = Selectable<TurnTable>;
/** Which turn. */
export type TurnId = Pick<Turn, 'workspace' | 'id'>;
/** Which turn, and where. What works for hours keeps this, and not a row with people's content. */
export type TurnLocation = Pick<Turn, 'workspace' | 'id' | 'channel' | 'thread_ts'>;
export type Post = Selectable<PostTable>;
export type SlackFileRow = Selectable<SlackFileTable>;
export type FollowUp = Selectable<FollowUpTable>;
export type TaskStart = Selectable<TaskStartTable>;
export type TaskDeletion = Selectable<TaskDeletionTable>;
