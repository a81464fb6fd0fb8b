import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { toPostgresJson } from '../../src/store/queries.ts';
import { freshDatabase } from '../support/fresh-database.ts';

const { kysely } = await freshDatabase();

test('PostgreSQL accepts any value, and returns well-formed ones unchanged', async () => {
  const anything = fc.jsonValue({ stringUnit: 'binary' });
  await fc.assert(
    fc.asyncProperty(anything, async (value) => {
      const { rows } = await sql<{
        back: unknown;
      }>`select ${toPostgresJson({ value })}::jsonb as back`.execute(kysely);
      expect(rows).toHaveLength(1);
    }),
    { numRuns: 200 },
  );
  for (const value of ['a\u0000b', '\ud800', { 'a\u0000': ['\udfff', 1, null] }]) {
    await sql`select ${toPostgresJson({ value })}::jsonb`.execute(kysely);
  }
  expect(toPostgresJson({ a: ['b', 1, null, { c: '\\u0000' }] })).toBe(
    '{"a":["b",1,null,{"c":"\\\\u0000"}]}',
  );
  expect(toPostgresJson('a\u0000b')).toBe('"ab"');
});
