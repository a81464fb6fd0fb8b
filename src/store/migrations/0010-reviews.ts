import { type Kysely, sql } from 'kysely';

/** Reviews of tasks, each posted once in its thread. */
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
}
