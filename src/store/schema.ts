import type { ColumnType } from 'kysely';
import type * as tasks from './schema/tasks.ts';
import type * as threads from './schema/threads.ts';
import type * as workspaces from './schema/workspaces.ts';

export type * from './keys.ts';
export type * from './schema/tasks.ts';
export type * from './schema/threads.ts';
export type * from './schema/workspaces.ts';

/**
 * A table with these rows. Columns have defaults. Times and `jsonb` may be written as text; `jsonb` must, because `pg` would
 * write an array as a PostgreSQL array.
 */
type Table<Row> = {
  [Column in keyof Row]: ColumnType<Row[Column], Row[Column] | string | undefined, Row[Column] | string>;
};

/** The tables that Kysely knows. The workspace is the first column of each key. */
export interface Tables {
  accounts: Table<workspaces.AccountRow>;
  audit_events: Table<workspaces.AuditRow>;
  early_edits: Table<threads.EarlyEditRow>;
  feedback: Table<threads.FeedbackRow>;
  installations: Table<workspaces.InstallationRow>;
  jobs: Table<tasks.Job>;
  messages: Table<threads.Message>;
  posted_results: Table<tasks.PostedResult>;
  posts: Table<threads.Post>;
  projects: Table<tasks.ProjectRow>;
  rate_limits: Table<workspaces.RateLimitRow>;
  settings: Table<tasks.SettingsRow>;
  slack_files: Table<tasks.SlackFileRow>;
  socket_leases: Table<workspaces.SocketLease>;
  task_starts: Table<tasks.TaskStart>;
  threads: Table<threads.Thread>;
  turns: Table<threads.Turn>;
  workspaces: Table<workspaces.WorkspaceRow>;
}
