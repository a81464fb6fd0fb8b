import { CompiledQuery, type Kysely } from 'kysely';
import pg from 'pg';
import { vi } from 'vitest';
import { z } from 'zod';

const askedSchema = z.object({ text: z.string(), values: z.array(z.unknown()) });
const ROWS = /"(?:Actual Rows|Rows Removed by [\w ]+)":(\d+)/g;

/**
 * The most rows that a part of one statement reads, of those that `work` sends. Each runs once more for that: they must be
 * ones that change nothing by then.
 */
export async function mostRowsRead<Tables>(
  db: Kysely<Tables>,
  work: () => Promise<unknown>,
): Promise<number> {
  const query = vi.spyOn(pg.Client.prototype, 'query');
  await work();
  const asked = query.mock.calls.flatMap(([config]) => askedSchema.safeParse(config).data ?? []);
  query.mockRestore();
  const counts: number[] = [];
  for (const { text, values } of asked.filter((one) => /^\s*(?:select|delete)\b/.test(one.text))) {
    const plan = await db.executeQuery(CompiledQuery.raw(`explain (analyze, format json) ${text}`, values));
    counts.push(...[...JSON.stringify(plan.rows).matchAll(ROWS)].map(([, count]) => Number(count)));
  }
  return Math.max(...counts);
}
