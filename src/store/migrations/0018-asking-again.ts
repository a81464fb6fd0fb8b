import { type Kysely, sql } from 'kysely';

/**
 * Which turn's question a message asks again, and which message a press on a button made: where that one is refused,
 * the button may be pressed again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table messages add column asks_again uuid`.execute(db);
  await sql`alter table turns add column followed_by numeric(16,6)`.execute(db);
  await sql`alter table early_changes add column taken_by numeric(16,6)`.execute(db);
}
