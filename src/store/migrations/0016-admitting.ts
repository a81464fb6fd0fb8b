import { type Kysely, sql } from 'kysely';

/** Refused messages need no column: `refused` is a state. What a channel was told once, and turns by their time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table channel_notices (
      workspace text not null,
      channel text not null,
      kind text not null,
      turn uuid not null,
      said_at timestamptz not null default now(),
      primary key (workspace, channel, kind)
    )`.execute(db);
  await sql`create index turns_started on turns (workspace, started_at, asker)`.execute(db);
  await sql`
    create index messages_refused on messages (workspace, channel, person)
    where state = 'refused'`.execute(db);
}
