import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../src/store/schema.ts';

/** How many statements in the database wait for another transaction. */
export async function lockWaits(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql`
    select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
    db,
  );
  return rows.length;
}
