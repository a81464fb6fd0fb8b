import { type Kysely, sql } from 'kysely';

/** The product's tables. Every key begins with the workspace. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table workspaces (
      workspace text primary key,
      name text not null,
      bot_user text not null,
      bot_id text not null,
      last_event_at timestamptz,
      created_at timestamptz not null default now()
    )`.execute(db);
  await sql`
    create table projects (
      workspace text not null,
      channel text not null,
      account text not null,
      project_id text,
      claimed_by uuid,
      claimed_until timestamptz,
      intended_at timestamptz,
      created_at timestamptz not null default now(),
      primary key (workspace, channel, account)
    )`.execute(db);
  await sql`
    create table threads (
      workspace text not null,
      channel text not null,
      root numeric(16,6) not null,
      account text not null,
      starter text not null,
      began_ts numeric(16,6) not null,
      project_id text,
      task_id text,
      task_title text,
      task_intended_at timestamptz,
      writers text[] not null default '{}',
      dormant boolean not null default false,
      last_used_at timestamptz not null default now(),
      created_at timestamptz not null default now(),
      primary key (workspace, channel, root)
    )`.execute(db);
  await sql`create unique index threads_task on threads (workspace, account, task_id)`.execute(db);
  await sql`create index threads_project on threads (workspace, project_id)`.execute(db);
  await sql`
    create table messages (
      workspace text not null,
      channel text not null,
      ts numeric(16,6) not null,
      root numeric(16,6) not null,
      person text not null,
      state text not null,
      words jsonb,
      edited_ts numeric(16,6),
      marked boolean not null default false,
      received_at timestamptz not null default now(),
      primary key (workspace, channel, ts)
    )`.execute(db);
  await sql`
    create index messages_waiting on messages (workspace, channel, root, ts)
    where state in ('waiting', 'sending')`.execute(db);
  await sql`create index messages_marked on messages (workspace) where marked`.execute(db);
  await sql`create index messages_received on messages (received_at)`.execute(db);
  await sql`
    create table early_changes (
      workspace text not null,
      channel text not null,
      ts numeric(16,6) not null,
      deleted boolean not null,
      words jsonb,
      edited_ts numeric(16,6),
      seen_at timestamptz not null default now(),
      primary key (workspace, channel, ts)
    )`.execute(db);
  await sql`
    create table strays (
      workspace text not null,
      channel text not null,
      root numeric(16,6) not null,
      ts numeric(16,6) not null,
      seen_at timestamptz not null default now(),
      primary key (workspace, channel, root, ts)
    )`.execute(db);
  await sql`
    create table turns (
      id uuid primary key,
      workspace text not null,
      channel text not null,
      root numeric(16,6) not null,
      message_ts numeric(16,6) not null,
      asker text not null,
      content text,
      attached jsonb,
      file_notes jsonb,
      send_after_id text,
      send_intended_at timestamptz,
      user_message_id text,
      assistant_message_id text,
      stop_asked_by text,
      stop_asked_at timestamptz,
      settled_at timestamptz,
      outcome text,
      followed_at timestamptz,
      results_at timestamptz,
      finished_at timestamptz,
      attempts integer not null default 0,
      attempts_since timestamptz not null default now(),
      first_visible_at timestamptz,
      edits integer not null default 0,
      bytes_up bigint not null default 0,
      started_at timestamptz not null default now(),
      unique (workspace, channel, message_ts)
    )`.execute(db);
  await sql`create unique index turns_user_message on turns (workspace, user_message_id)`.execute(db);
  await sql`
    create unique index turns_open on turns (workspace, channel, root)
    where finished_at is null`.execute(db);
  await sql`
    create table posts (
      workspace text not null,
      turn uuid not null,
      part text not null,
      key text not null,
      channel text not null,
      root numeric(16,6) not null,
      state text not null,
      ts numeric(16,6),
      digest text,
      intended_at timestamptz not null default now(),
      primary key (workspace, turn, part)
    )`.execute(db);
  await sql`create index posts_ts on posts (workspace, channel, ts)`.execute(db);
  await sql`
    create table files (
      workspace text not null,
      slack_file text not null,
      project_id text not null,
      file_id text,
      name text not null,
      size_bytes bigint not null,
      created_at timestamptz not null default now(),
      primary key (workspace, slack_file, project_id)
    )`.execute(db);
  await sql`
    create table results (
      workspace text not null,
      channel text not null,
      root numeric(16,6) not null,
      result_id text not null,
      turn uuid not null,
      posted_at timestamptz not null default now(),
      primary key (workspace, channel, root, result_id)
    )`.execute(db);
}
