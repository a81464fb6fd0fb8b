import { createServer } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { listenLocally } from '../../sandbox/local-server.ts';
import { ConnectionPool, prepared } from '../../src/store/connection-pool.ts';
import { DatabaseAddresses } from '../../src/store/database-client.ts';
import { copyTemplateDatabase, dropDatabase, freshDatabase } from '../support/fresh-database.ts';
import { silentLog } from '../support/silent-log.ts';

test('a statement has one name, and those that cannot be prepared have none', () => {
  expect(prepared('select $1', [1]).name).toBe(prepared('select $1', [2]).name);
  expect(prepared('select $1', [1]).name).not.toBe(prepared('select $1 + 1', [1]).name);
  expect(prepared('begin').name).toBeUndefined();
  expect(prepared('begin; select 1; commit').name).toBeUndefined();
});

/** Longer than any wait for the database (ms). */
const STILL_MS = 4_500;

/** When a connection that does not come is given up, and the next would be opened (ms). */
const CONNECTED_LATEST_MS = 5_000;

/** The process does nothing, as on a machine that is busy. */
function standStill(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STILL_MS);
}

test('a connection and an answer that come while the process stands still are not too late', async () => {
  const connection = await copyTemplateDatabase();
  const options = { name: 'still', maxConnections: 1, timeoutMs: 4_000, log: silentLog };
  const pool = new ConnectionPool({ ...options, addresses: new DatabaseAddresses(connection) });
  onTestFinished(async () => {
    await pool.end();
    await dropDatabase(connection);
  });
  for (const number of [1, 2]) {
    const asked = pool.query(`select ${number} as number`);
    // Its first packet is on the way.
    await setImmediate();
    standStill();
    expect((await asked).rows).toEqual([{ number }]);
  }
});

test('whoever was told that no connection came waits for none any more', async () => {
  let opened = 0;
  const silent = createServer((socket) => {
    opened += 1;
    onTestFinished(() => void socket.destroy());
  });
  const port = await listenLocally(silent);
  onTestFinished(() => void silent.close());
  const options = { name: 'silent', maxConnections: 1, timeoutMs: 500, log: silentLog };
  const connection = { host: '127.0.0.1', port, user: 'u', database: 'd' };
  const pool = new ConnectionPool({ ...options, addresses: new DatabaseAddresses(connection) });
  const asked = Array.from({ length: 5 }, () => pool.query('select 1'));
  for (const result of await Promise.allSettled(asked)) expect(result.status).toBe('rejected');
  // Those that wait when the first is given up may open one more.
  await setTimeout(4 * options.timeoutMs);
  const before = opened;
  await setTimeout(CONNECTED_LATEST_MS);
  expect(opened).toBe(before);
  await pool.end();
});

test('a NUL character in a text is left out, as PostgreSQL takes none', async ({ onTestFinished }) => {
  const { kysely } = await freshDatabase({}, onTestFinished);
  const { rows } = await sql`select ${'U\u00001'} as one, ${['a\u0000', 'b']}::text[] as list`.execute(
    kysely,
  );
  expect(rows).toEqual([{ one: 'U1', list: ['a', 'b'] }]);
});

test('a column that a newer release adds fails no statement, and a transaction once', async ({
  onTestFinished,
}) => {
  // One connection for all: it has each statement prepared.
  const { kysely, pool } = await freshDatabase({ maxConnections: 6 }, onTestFinished);
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
