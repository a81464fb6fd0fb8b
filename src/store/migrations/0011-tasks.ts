import { type Kysely, sql } from 'kysely';

/** What lists of tasks show, tasks that are to be deleted, and what was said once. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table threads
      add column task_begun_at timestamptz,
      add column task_state text,
      add column task_read_at timestamptz,
      add column permalink text`.execute(db);
  await sql`update threads set task_begun_at = created_at where task_id is not null`.execute(db);
  await sql`
    create index threads_of_starter on threads (workspace, starter, (coalesce(task_begun_at, created_at)) desc)
    where task_id is not null`.execute(db);
  await sql`
    create index threads_of_channel on threads (workspace, channel, (coalesce(task_begun_at, created_at)) desc)
    where task_id is not null`.execute(db);
  await sql`create index turns_thread on turns (workspace, channel, root, id)`.execute(db);
  await sql`
    create table task_deletions (
      workspace text not null,
      task text not null,
      account text not null,
      channel text not null,
      root numeric(16,6) not null,
      person text not null,
      asked_at timestamptz not null default now(),
      deleted_at timestamptz,
      telling_at timestamptz,
      told_at timestamptz,
      held_until timestamptz not null,
      primary key (workspace, task)
    )`.execute(db);
  await sql`
    create table told_once (
      workspace text not null,
      channel text not null,
      what text not null,
      told_at timestamptz not null default now(),
      primary key (workspace, channel, what)
    )`.execute(db);
}
