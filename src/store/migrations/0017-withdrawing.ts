import { type Kysely, sql } from 'kysely';

/** Workspaces that an organisation took the app from stay without it until it is given to them again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table workspaces add column withdrawn_at timestamptz`.execute(db);
}
