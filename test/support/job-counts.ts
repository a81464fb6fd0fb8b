import type { Database } from '../../src/store/database.ts';

/** How many of the threads' jobs wait and how many are held, by all processes. */
export async function jobCounts({
  pool,
}: Pick<Database, 'pool'>): Promise<{ waiting: number; held: number }> {
  const { rows } = await pool.query<{ waiting: number; held: number }>(`
    select count(*) filter (where claim_id is null) as waiting, count(*) filter (where claim_id is not null) as held
    from jobs where kind = 'turn'`);
  return rows[0] ?? { waiting: 0, held: 0 };
}
