import { type Kysely, sql } from 'kysely';

/** Reviews of tasks, each posted once in its thread, and projects that are to get the names of their channels. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table reviews (
      workspace text not null,
      channel text not null,
      root numeric(16,6) not null,
      review text not null,
      turn uuid not null,
      claimed_at timestamptz not null default now(),
      shown_at timestamptz,
      primary key (workspace, channel, root, review)
    )`.execute(db);
  await sql`
    alter table projects
      add column name_due timestamptz,
      add column name_held_until timestamptz`.execute(db);
  await sql`create index projects_name_due on projects (name_due) where name_due is not null`.execute(db);
}
