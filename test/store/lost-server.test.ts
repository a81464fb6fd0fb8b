import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { DatabaseProxy } from '../../sandbox/chaos/database-proxy.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { Jobs } from '../../src/store/jobs/jobs.ts';
import { copyTemplateDatabase, dropDatabase } from '../support/fresh-database.ts';
import { silentLog } from '../support/silent-log.ts';
import { waitFor } from '../support/wait-for.ts';

const unavailable = { name: 'StoreError', code: 'unavailable' };

/** A database behind proxies, one for each host that its address names. */
async function openBehindProxies(hosts = 1, more: { maxConnections?: number } = {}) {
  const connection = await copyTemplateDatabase();
  onTestFinished(() => dropDatabase(connection));
  const proxies = await Promise.all(
    Array.from({ length: hosts }, () => DatabaseProxy.start(() => inject('databaseServer'))),
  );
  for (const proxy of proxies) onTestFinished(() => proxy.stop());
  const names = proxies.map(({ connection: { host, port } }) => `${host}:${port}`).join(',');
  const url = addressOn(names, connection);
  const database = await openDatabase({ url, log: silentLog, ...more });
  onTestFinished(() => database.close());
  return { database, proxies, connection };
}

function addressOn(hosts: string, { user, password, database }: DatabaseProxy['connection']): string {
  return `postgres://${user}:${encodeURIComponent(password)}@${hosts}/${database}`;
}

const write = ({ ackKysely }: Database) =>
  ackKysely
    .insertInto('rate_limits')
    .values({ workspace: 'T1', limit_key: String(Math.random()) })
    .execute();

describe('a server that is lost', () => {
  test('fails what waits for it in time, and old connections are not used again', async () => {
    const { database, proxies } = await openBehindProxies();
    await write(database);
    await Promise.all([1, 2].map(() => database.pool.query('select 1')));
    proxies[0]?.vanish();
    expect(await database.findTrouble()).toMatch(/no answer|unavailable/);
    await expect(write(database)).rejects.toMatchObject(unavailable);
    proxies[0]?.restore();
    // The connections of turns were idle: they are as dead, and were closed with the first that was found dead.
    await database.pool.query('select 1');
    await write(database);
    expect(await database.findTrouble()).toBeUndefined();
  });

  test('is left for the next host of the address', async () => {
    const { database, proxies } = await openBehindProxies(2);
    await write(database);
    proxies[0]?.reset('closed');
    await expect.poll(() => write(database).catch(() => undefined)).toBeDefined();
    proxies[1]?.fill();
    proxies[0]?.restore();
    await expect.poll(() => write(database).catch(() => undefined)).toBeDefined();
  });

  test.each([
    ['55000', 'database "one" is not currently accepting connections'],
    ['XX000', '(EMAXCONN) max client connections reached'],
    ['57P03', 'the database system is starting up'],
    ['42704', 'unrecognized configuration parameter'],
    ['0A000', 'unsupported frontend protocol'],
    ['99999', 'anything else'],
  ])('is an outage where it refuses a connection with %s (%s)', async (code, message) => {
    const { database, proxies } = await openBehindProxies();
    await write(database);
    proxies[0]?.fill(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
    for (const attempt of [1, 2]) {
      await expect(write(database), `attempt ${attempt}`).rejects.toMatchObject(unavailable);
      await expect(database.pool.query('select 1')).rejects.toMatchObject(unavailable);
    }
    proxies[0]?.restore();
    await write(database);
  });

  test('is an outage where it ends a connection in use, whatever the code', async () => {
    const { database } = await openBehindProxies();
    const held = database.kysely.transaction().execute(async (trx) => {
      await sql`set local transaction_timeout = '50ms'`.execute(trx);
      await new Promise((resolve) => setTimeout(resolve, 400));
      await sql`select 1`.execute(trx);
    });
    await expect(held).rejects.toMatchObject(unavailable);
    await write(database);
  });

  test('does not keep a start from the other hosts of the address', async () => {
    const { proxies, connection } = await openBehindProxies();
    const url = addressOn(`127.0.0.1:1,127.0.0.1:${proxies[0]?.connection.port}`, connection);
    const database = await openDatabase({ url, log: silentLog });
    expect(await database.findTrouble()).toBeUndefined();
    await database.close();
  });

  test('has as long to wake at a start where the address has another host that is down', async () => {
    const { proxies, connection, database } = await openBehindProxies();
    const [proxy] = proxies;
    if (proxy === undefined) throw new Error('There is one.');
    await database.close();
    proxy.latencyMs = 6_000;
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => lines.push(line) });
    const opening = openDatabase({ url: addressOn(`127.0.0.1:${proxy.port},127.0.0.1:1`, connection), log });
    const opened = opening.then((one) => one.close());
    await waitFor(() => expect(lines.join('')).toContain('the database has not answered yet'));
    proxy.latencyMs = 0;
    await expect(opened).resolves.toBeUndefined();
  });

  test('does not keep a start waiting for a host that is silent while another one works', async () => {
    const { proxies, connection, database } = await openBehindProxies(2);
    const [silent, other] = proxies.map(({ port }) => `127.0.0.1:${port}`);
    await database.close();
    proxies[0]?.vanish();
    const url = `${addressOn(`${silent},${other}`, connection)}?connect_timeout=600`;
    const opened = await openDatabase({ url, log: silentLog });
    expect(await opened.findTrouble()).toBeUndefined();
    await opened.close();
  });

  test('is given up at a start after the connect_timeout of the address', async () => {
    const { proxies, connection, database } = await openBehindProxies();
    const [proxy] = proxies;
    if (proxy === undefined) throw new Error('There is one.');
    await database.close();
    proxy.latencyMs = 2_500;
    const url = `${addressOn(`127.0.0.1:${proxy.port}`, connection)}?connect_timeout=1`;
    await expect(openDatabase({ url, log: silentLog })).rejects.toMatchObject(unavailable);
  });

  test('says so where it accepts no more writes, and its connections are given up', async () => {
    const { database } = await openBehindProxies(1, { maxConnections: 6 });
    await database.leasePool.query('set session characteristics as transaction read only');
    expect(await database.findTrouble()).toBe('the server is read-only');
    await expect(database.leasePool.query('create table more ()')).rejects.toMatchObject({
      ...unavailable,
      cause: { code: '25006' },
    });
    expect(await database.findTrouble()).toBeUndefined();
    const pid = async () => (await database.leasePool.query('select pg_backend_pid() as pid')).rows[0]?.pid;
    expect(await pid()).toBe(await pid());
  });
});

describe('the connections of a process', () => {
  test('are eight at most, and turns leave some for acknowledgements and leases', async () => {
    const connection = await copyTemplateDatabase();
    const database = await openDatabase({ embedded: { connection }, log: silentLog });
    const turns = Array.from({ length: 20 }, () => database.pool.query('select pg_sleep(1)'));
    await Promise.all(Array.from({ length: 20 }, () => write(database)));
    const leases = new Jobs(database.leaseKysely);
    expect(await leases.renew(['01a1c9f5-7c5e-7000-8000-000000000000'], 1_000)).toEqual([]);
    const { rows } = await database.leasePool.query<{ count: number }>(
      `select count(*) from pg_stat_activity where datname = '${connection.database}'`,
    );
    expect(rows[0]?.count).toBe(8);
    await Promise.all(turns);
    await database.close();
    await dropDatabase(connection);
  });
});
