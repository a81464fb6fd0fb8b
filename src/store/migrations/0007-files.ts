import { type Kysely, sql } from 'kysely';

/** Uploads that can be gone on with, files kept for the next message, and watched tasks. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table uploads (
      workspace text not null,
      slack_file text not null,
      project_id text not null,
      holder uuid not null,
      held_until timestamptz not null,
      file_id text,
      multipart_id text,
      part_bytes bigint,
      headers jsonb,
      size_bytes bigint,
      finalizing boolean not null default false,
      begun_at timestamptz not null default now(),
      primary key (workspace, slack_file, project_id)
    )`.execute(db);
  await sql`
    create table upload_parts (
      workspace text not null,
      slack_file text not null,
      project_id text not null,
      number integer not null,
      etag text not null,
      primary key (workspace, slack_file, project_id, number),
      foreign key (workspace, slack_file, project_id) references uploads on delete cascade
    )`.execute(db);
  await sql`
    create table watches (
      workspace text not null,
      channel text not null,
      root numeric(16,6) not null,
      turn uuid not null,
      looks integer not null default 0,
      next_at timestamptz not null,
      until_at timestamptz not null,
      holder uuid,
      held_until timestamptz,
      primary key (workspace, channel, root)
    )`.execute(db);
  await sql`create index watches_next on watches (next_at)`.execute(db);
  await sql`
    alter table results
      add column batch text not null default '',
      add column shown_at timestamptz`.execute(db);
  await sql`alter table turns add column kept_for uuid`.execute(db);
  await sql`
    create index turns_kept on turns (workspace, channel, root) where outcome = 'kept'`.execute(db);
}
