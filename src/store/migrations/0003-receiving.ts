import { type Kysely, sql } from 'kysely';

/** Who holds Slack's connections, since when events are received, and what is to be read back after a gap. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table receivers (
      workspace text not null,
      app text not null,
      process uuid not null,
      sockets integer not null,
      held_until timestamptz not null,
      primary key (workspace, app, process)
    ) with (fillfactor = 50)`.execute(db);
  await sql`alter table workspaces add column receiving_at timestamptz`.execute(db);
  await sql`
    create table catch_ups (
      workspace text not null,
      channel text not null,
      root numeric(16,6) not null,
      since numeric(16,6) not null,
      last_used_at timestamptz not null,
      gaps integer not null default 1,
      claimed_by uuid,
      claimed_until timestamptz not null default 'epoch',
      noted_at timestamptz not null default clock_timestamp(),
      primary key (workspace, channel, root)
    )`.execute(db);
  await sql`create index threads_used on threads (workspace, last_used_at)`.execute(db);
}
