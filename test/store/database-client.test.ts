import pg from 'pg';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { connectionUrl } from '../../sandbox/postgres-server.ts';
import { ConnectionPool } from '../../src/store/connection-pool.ts';
import { checkSchema, openDatabase } from '../../src/store/database.ts';
import { DatabaseAddresses } from '../../src/store/database-client.ts';
import { openAppScene } from '../support/app-scene.ts';
import { copyTemplateDatabase, dropDatabase } from '../support/fresh-database.ts';
import { hasPgbouncer, startPgbouncer } from '../support/pgbouncer.ts';
import { silentLog } from '../support/silent-log.ts';

type Connection = Awaited<ReturnType<typeof copyTemplateDatabase>>;

/** A database, or its role there, with settings that make answers or statements other than we read and write them. */
async function databaseWith(settings: Record<string, string>, of: 'database' | 'role'): Promise<Connection> {
  const connection = await copyTemplateDatabase();
  onTestFinished(() => dropDatabase(connection));
  const administrator = new pg.Client(inject('administration'));
  await administrator.connect();
  const { database, user } = connection;
  const whose = of === 'database' ? `database ${database}` : `role ${user} in database ${database}`;
  for (const [name, value] of Object.entries(settings))
    await administrator.query(`alter ${whose} set ${name} = ${value}`);
  await administrator.end();
  return connection;
}

async function opened(options: Parameters<typeof openDatabase>[0]) {
  const database = await openDatabase(options);
  onTestFinished(() => database.close());
  return database;
}

/** What a server of another taste may say; it takes none of our own messages apart. */
const ODD = {
  datestyle: "'SQL, DMY'",
  timezone: "'Asia/Kolkata'",
  intervalstyle: "'sql_standard'",
  bytea_output: "'escape'",
  extra_float_digits: '-10',
  array_nulls: 'off',
  default_transaction_isolation: "'repeatable read'",
  default_transaction_deferrable: 'on',
  statement_timeout: "'2ms'",
  lock_timeout: "'1ms'",
  idle_in_transaction_session_timeout: "'1ms'",
  idle_session_timeout: "'4s'",
  transaction_timeout: "'6s'",
  client_encoding: "'LATIN1'",
};

test.each([
  ['?sslmode=require', '?sslmode=verify-full'],
  [
    '?application_name=a&sslmode=prefer&sslrootcert=/ca.pem',
    '?application_name=a&sslmode=verify-full&sslrootcert=/ca.pem',
  ],
  ['?sslmode=verify-ca', '?sslmode=verify-full'],
  ['?sslmode=no-verify', '?sslmode=no-verify'],
  ['?uselibpqcompat=true&sslmode=require', '?uselibpqcompat=true&sslmode=require'],
  ['?sslmode=require&uselibpqcompat=true', '?sslmode=require&uselibpqcompat=true'],
])('an address that ends with %s is used as %s: pg would take it so, with a warning', (given, used) => {
  const { current } = new DatabaseAddresses(`postgres://user@one,two/name${given}`);
  expect(current).toEqual({ connectionString: `postgres://user@one/name${used}` });
});

describe('whatever the database sets', () => {
  test.each(['database', 'role'] as const)('by its %s, people are answered', async (of) => {
    const connection = await databaseWith(ODD, of);
    const scene = await openAppScene({ databaseUrl: connectionUrl(connection) }, onTestFinished);
    const channel = scene.channel();
    const root = scene.ask(channel, 'who reads dates? 🧬 ü');
    await scene.finished(channel, root);
    expect(scene.sentToAgent('who reads dates?').texts).toEqual(['who reads dates? 🧬 ü']);
  });

  test.each(Object.entries(ODD))('%s = %s changes nothing on any connection', async (name, value) => {
    const connection = await databaseWith({ [name]: value }, 'role');
    const database = await opened({ embedded: { connection }, log: silentLog });
    const addresses = new DatabaseAddresses(connection);
    const own = new ConnectionPool({ name: 'test', maxConnections: 1, addresses, log: silentLog });
    onTestFinished(() => own.end());
    for (const each of [database.pool, database.leasePool, own]) {
      const { rows } = await each.query<{ current: string; time: Date; tenth: number }>(
        `select current_setting('${name}') as current, timestamptz '2026-02-01 10:00:00.5+00' as time,
          0.12345678901234566::float8 as tenth`,
      );
      expect(rows[0]?.current).not.toBe(value.replaceAll("'", ''));
      expect(rows[0]).toMatchObject({
        time: new Date('2026-02-01T10:00:00.500Z'),
        tenth: 0.12345678901234566,
      });
    }
  });
});

describe('a start is refused with what to change', () => {
  test.each(['SQL_ASCII', 'LATIN1'])('where the database has the encoding %s', async (encoding) => {
    const administrator = new pg.Client(inject('administration'));
    await administrator.connect();
    onTestFinished(() => administrator.end());
    const connection = { ...inject('databaseServer'), database: `taskthread_odd_${encoding.toLowerCase()}` };
    await administrator.query(
      `create database ${connection.database} template template0 encoding '${encoding}' locale 'C'`,
    );
    onTestFinished(() => dropDatabase(connection));
    const refusal = {
      code: 'denied',
      message: expect.stringMatching(/encoding .*create database .* encoding 'UTF8' locale 'C'/),
    };
    await expect(openDatabase({ embedded: { connection }, log: silentLog })).rejects.toMatchObject(refusal);
    await expect(checkSchema(connection, silentLog)).rejects.toMatchObject(refusal);
    const [, command = ''] =
      /"(create database [^"]*)"/.exec(await checkSchema(connection, silentLog).then(String, String)) ?? [];
    await administrator.query(command);
    const made = { ...connection, database: 'taskthread_utf8' };
    onTestFinished(() => dropDatabase(made));
    await opened({ embedded: { connection: made }, log: silentLog });
  });

  test('where the server is older than 13', async () => {
    const connection = await databaseWith({ search_path: 'older, public, pg_catalog' }, 'database');
    const client = new pg.Client(connection);
    await client.connect();
    await client.query('create schema older');
    await client.query(`create function older.current_setting(name text) returns text language sql as $$
      select case name when 'server_version_num' then '120022' else pg_catalog.current_setting(name) end $$`);
    await client.end();
    const refusal = { code: 'denied', message: 'PostgreSQL 12 is too old: use 13 or newer.' };
    await expect(openDatabase({ embedded: { connection }, log: silentLog })).rejects.toMatchObject(refusal);
    await expect(checkSchema(connection, silentLog)).rejects.toMatchObject(refusal);
  });

  test.each([
    ['default_transaction_read_only', 'on', 'default_transaction_read_only is on'],
    ['search_path', "'nowhere'", 'search_path = public'],
  ])('where the database sets %s = %s', async (name, value, sentence) => {
    const connection = await databaseWith({ [name]: value }, 'database');
    await expect(openDatabase({ embedded: { connection }, log: silentLog })).rejects.toMatchObject({
      name: 'StoreError',
      message: expect.stringContaining(sentence),
    });
  });
});

describe.skipIf(!hasPgbouncer)('behind a pooler', () => {
  /** The addresses of a database with these settings. */
  async function pooled(settings: Record<string, string>) {
    const connection = await databaseWith(settings, 'database');
    const url = (await startPgbouncer(onTestFinished)).url(connection.database);
    return { url, directUrl: connectionUrl(connection), connection };
  }

  test('people are answered where it passes on what we need', async () => {
    const { datestyle, timezone } = ODD;
    const { url, directUrl } = await pooled({ datestyle, timezone, lock_timeout: "'5s'" });
    const scene = await openAppScene(
      { databaseUrl: url, settings: { DATABASE_DIRECT_URL: directUrl } },
      onTestFinished,
    );
    const channel = scene.channel();
    await scene.finished(channel, scene.ask(channel, 'who reads dates?'));
    expect(scene.sentToAgent('who reads dates?').texts).toHaveLength(1);
  });

  test.each([
    ['IntervalStyle', ODD.intervalstyle],
    ['extra_float_digits', ODD.extra_float_digits],
    ['default_transaction_isolation', ODD.default_transaction_isolation],
  ])('a start is refused with the command that mends %s', async (name, value) => {
    const { url, directUrl, connection } = await pooled({ [name]: value });
    const refused = await openDatabase({ url, directUrl, log: silentLog }).then(String, String);
    const [, command = ''] = /run "(alter role [^"]*)", and restart the pooler/.exec(refused) ?? [];
    expect(command).toContain(name);
    const direct = new pg.Client(connection);
    await direct.connect();
    await direct.query(command);
    await direct.end();
    const other = (await startPgbouncer(onTestFinished)).url(connection.database);
    const again = await opened({ url: other, directUrl, log: silentLog });
    await again.pool.query('select 1');
  });
});
