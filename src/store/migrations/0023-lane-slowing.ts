import { type Kysely, sql } from 'kysely';

/** How slow a refusal has made a lane, for all processes: `factor` of its pace at `slowed_at`, and more since. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table lanes
      add column factor double precision not null default 1,
      add column slowed_at timestamptz not null default 'epoch'`.execute(db);
}
