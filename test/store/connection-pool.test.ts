import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { prepared } from '../../src/store/connection-pool.ts';
import { freshDatabase } from '../support/fresh-database.ts';

test('a statement has one name, and those that cannot be prepared have none', () => {
  expect(prepared('select $1', [1]).name).toBe(prepared('select $1', [2]).name);
  expect(prepared('select $1', [1]).name).not.toBe(prepared('select $1 + 1', [1]).name);
  expect(prepared('begin').name).toBeUndefined();
  expect(prepared('begin; select 1; commit').name).toBeUndefined();
});

test('a NUL character in a text is left out, as PostgreSQL takes none', async () => {
  const { kysely } = await freshDatabase();
  const { rows } = await sql`select ${'U\u00001'} as one, ${['a\u0000', 'b']}::text[] as list`.execute(
    kysely,
  );
  expect(rows).toEqual([{ one: 'U1', list: ['a', 'b'] }]);
});

test('a column that a newer release adds fails no statement, and a transaction once', async () => {
  // One connection for all: it has each statement prepared.
  const { kysely, pool } = await freshDatabase({ maxConnections: 6 });
  const read = (db = kysely) => db.selectFrom('settings').selectAll().where('workspace', '=', 'T1').execute();
  const readByPool = () => pool.query('select * from settings where workspace = $1', ['T1']);
  const inTransaction = () => kysely.transaction().execute(async (transaction) => read(transaction));
  await read();
  await readByPool();
  await sql`alter table settings add column new_one text`.execute(kysely);
  expect(await read()).toEqual([]);
  await sql`alter table settings add column new_two text`.execute(kysely);
  expect((await readByPool()).fields.map(({ name }) => name)).toContain('new_two');
  await sql`alter table settings add column new_three text`.execute(kysely);
  await expect(inTransaction()).rejects.toMatchObject({ code: 'unavailable' });
  expect(await inTransaction()).toEqual([]);
});
