import type { AuditTables } from './schema/audit.ts';
import type { FileTables } from './schema/files.ts';
import type { ProjectTables } from './schema/projects.ts';
import type { SlackTables } from './schema/slack.ts';
import type { TaskTables } from './schema/tasks.ts';
import type { ThreadTables } from './schema/threads.ts';
import type { WorkspaceTables } from './schema/workspaces.ts';

export type * from './schema/audit.ts';
export type { SlackTs } from './schema/column-types.ts';
export type * from './schema/files.ts';
export type * from './schema/projects.ts';
export type * from './schema/tasks.ts';
export type * from './schema/threads.ts';
export type * from './schema/workspaces.ts';

/** Every table of ours. The workspace is the first column of each key, except for OAuth states. */
export interface Tables
  extends WorkspaceTables,
    ProjectTables,
    ThreadTables,
    TaskTables,
    FileTables,
    SlackTables,
    AuditTables {}
