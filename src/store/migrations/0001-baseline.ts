import { type Kysely, sql } from 'kysely';
import { AUDIT_TRIGGERS } from './baseline/audit-triggers.ts';
import { RECORD_MESSAGE_FUNCTIONS } from './baseline/record-message.ts';
import { TASK_TABLES } from './baseline/task-tables.ts';
import { THREAD_TABLES } from './baseline/thread-tables.ts';
import { WORKSPACE_TABLES } from './baseline/workspace-tables.ts';

/** Creates every table, function and trigger of the first release. The queue creates its own in the schema `pgboss`. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statements of [
    WORKSPACE_TABLES,
    THREAD_TABLES,
    TASK_TABLES,
    RECORD_MESSAGE_FUNCTIONS,
    AUDIT_TRIGGERS,
  ]) {
    await sql.raw(statements).execute(db);
  }
}
