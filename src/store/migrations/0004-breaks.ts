import { type Kysely, sql } from 'kysely';

/** Where a turn's answer goes on in a new message although the one before had room: the budget had no edit for it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table turns add column breaks integer[] not null default '{}'`.execute(db);
}
