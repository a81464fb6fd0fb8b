import type { Database } from '../../src/store/database.ts';

/** How many of the threads' jobs wait and how many are held, by all processes. */
export async function jobCounts({
  pool,
}: Pick<Database, 'pool'>): Promise<{ waiting: number; held: number }> {
  const { rows } = await pool.query<{ waiting: number; held: number }>(`
    select count(*) filter (where state < 'active') as waiting, count(*) filter (where state = 'active') as held
    from pgboss.job where name = 'turn' and state <= 'active'`);
  return rows[0] ?? { waiting: 0, held: 0 };
}
