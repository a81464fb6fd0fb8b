import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { AUDIT_TRIGGERS } from './baseline/audit-triggers.ts';
import { RECORD_MESSAGE_FUNCTIONS } from './baseline/record-message.ts';
import { TASK_TABLES } from './baseline/task-tables.ts';
import { THREAD_TABLES } from './baseline/thread-tables.ts';
import { WORKSPACE_TABLES } from './baseline/workspace-tables.ts';

const STATEMENTS = [WORKSPACE_TABLES, THREAD_TABLES, TASK_TABLES, RECORD_MESSAGE_FUNCTIONS, AUDIT_TRIGGERS];

/** The same for the same SQL, whatever its comments and spaces. */
export function fingerprintOf(statements: readonly string[]): string {
  const text = statements.join('\n').replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ');
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** Which tables, functions and triggers this baseline makes. */
export const FINGERPRINT = fingerprintOf(STATEMENTS);

/** The names of the tables. */
export const TABLES = [...STATEMENTS.join('\n').matchAll(/create table (\w+)/g)].flatMap(
  ([, name = '']) => name,
);

/** Creates every table, function and trigger of the first release. The queue creates its own in the schema `pgboss`. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statements of STATEMENTS) await sql.raw(statements).execute(db);
}
