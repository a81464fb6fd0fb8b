import { type Kysely, sql } from 'kysely';

/** Files that we put into Slack. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table slack_files (
      workspace text not null,
      turn uuid not null,
      part text not null,
      slack_file text not null,
      state text not null,
      intended_at timestamptz not null default now(),
      primary key (workspace, turn, part)
    )`.execute(db);
}
