import { type Kysely, sql } from 'kysely';

/** A turn whose message the running turn sent: it stands beside that one, so a thread may have several open. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table turns add column passed_on_by uuid`.execute(db);
  await sql`drop index turns_open`.execute(db);
  await sql`
    create unique index turns_open on turns (workspace, channel, root)
    where finished_at is null and passed_on_by is null`.execute(db);
  await sql`
    create index turns_passed_on on turns (workspace, channel, root)
    where finished_at is null and passed_on_by is not null`.execute(db);
}
