import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { prepared } from '../../src/store/connection-pool.ts';
import { freshDatabase } from '../support/fresh-database.ts';

test('a statement has one name, and those that cannot be prepared have none', () => {
  expect(prepared('select $1', [1]).name).toBe(prepared('select $1', [2]).name);
  expect(prepared('select $1', [1]).name).not.toBe(prepared('select $1 + 1', [1]).name);
  expect(prepared('begin').name).toBeUndefined();
  expect(prepared('begin; select 1; commit', [], true).name).toBeUndefined();
  expect(prepared('select 1', [], true).name).toBeDefined();
});

test('a column that a newer release adds fails one statement, which can be repeated', async () => {
  const { kysely } = await freshDatabase();
  const read = () => kysely.selectFrom('settings').selectAll().where('workspace', '=', 'T1').execute();
  await read();
  await sql`alter table settings add column new_one text`.execute(kysely);
  await expect(read()).rejects.toMatchObject({ code: 'unavailable' });
  expect(await read()).toEqual([]);
});
