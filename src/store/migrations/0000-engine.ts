import { type Kysely, sql } from 'kysely';

/** The engine's table. The queue keeps its own in the schema `pgboss`. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table lanes (
      workspace text not null,
      lane text not null,
      tat timestamptz not null default 'epoch',
      held_until timestamptz not null default 'epoch',
      primary key (workspace, lane)
    ) with (fillfactor = 50)`.execute(db);
}
