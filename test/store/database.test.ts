import { sql } from 'kysely';
import pg from 'pg';
import { pino } from 'pino';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { DatabaseProxy } from '../../sandbox/chaos/database-proxy.ts';
import { withClient } from '../../sandbox/postgres-server.ts';
import { checkSchema, openDatabase } from '../../src/store/database.ts';
import { connectionError, isLockConflict, StoreError, toStoreError } from '../../src/store/errors.ts';
import { fingerprintOf } from '../../src/store/migrations/0001-baseline.ts';
import { BASELINE, migrations } from '../../src/store/migrations.ts';
import { Store } from '../../src/store/store.ts';
import {
  copyTemplateDatabase,
  dropDatabase,
  emptyDatabase,
  freshDatabase,
} from '../support/fresh-database.ts';
import { lockWaits } from '../support/lock-waits.ts';
import { silentLog } from '../support/silent-log.ts';
import { waitFor } from '../support/wait-for.ts';

const server = inject('databaseServer');
const database = await freshDatabase();

describe('values', () => {
  test('a Slack ts comes back with its six decimals, and a bigint as a number', async () => {
    const { rows } = await database.pool.query(
      'select 1792000000.000100::numeric(16,6) as ts, 5368709120::bigint as bytes',
    );
    expect(rows).toEqual([{ ts: '1792000000.000100', bytes: 5_368_709_120 }]);
  });

  test('a bigint beyond the safe integers throws', async () => {
    await expect(database.pool.query('select 9007199254740993::bigint')).rejects.toThrow(RangeError);
  });
});

describe('a start', () => {
  test('waits for a database that takes longer for its first connection than for others, and says so', async () => {
    const connection = await copyTemplateDatabase();
    const proxy = await DatabaseProxy.start(() => connection);
    onTestFinished(() => proxy.stop());
    proxy.latencyMs = 6_000;
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => lines.push(line) });
    const opening = openDatabase({ embedded: { connection: { ...connection, ...proxy.connection } }, log });
    const opened = opening.then((one) => one.close());
    await waitFor(() => expect(lines.join('')).toContain('the database has not answered yet'));
    proxy.latencyMs = 0;
    await expect(opened).resolves.toBeUndefined();
    await dropDatabase(connection);
  });
});

describe('migrations', () => {
  test('several processes can start on an empty database at once', async () => {
    const connection = await emptyDatabase();
    const embedded = { connection };
    const opened = await Promise.all([1, 2, 3, 4].map(() => openDatabase({ embedded, log: silentLog })));
    const { rows } = await (opened[0]?.pool ?? database.pool).query(
      'select name from kysely_migration order by name',
    );
    expect(rows).toEqual(Object.keys(migrations).map((name) => ({ name })));
    for (const each of opened) await each.close();
    await dropDatabase(connection);
  });

  /** A copy of the template whose record of migrations was changed. */
  async function recorded(change: string) {
    const connection = await copyTemplateDatabase();
    const client = new pg.Client(connection);
    await client.connect();
    await client.query(change);
    await client.end();
    return connection;
  }

  const future = "insert into kysely_migration values ('9999-future', now()::text)";

  test('an older release starts beside a newer one, leaves its tables alone, and logs a warning', async () => {
    const connection = await recorded(`${future}; alter table rate_limits add column future text`);
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => lines.push(line) });
    const opened = await Promise.all([1, 2].map(() => openDatabase({ embedded: { connection }, log })));
    const store = new Store((opened[0] ?? database).kysely);
    await store.audit.add({ workspace: 'T1', kind: 'forget' });
    const { rows } = await (opened[1] ?? database).pool.query(
      "select name from kysely_migration where name > '9'",
    );
    for (const each of opened) await each.close();
    await dropDatabase(connection);
    expect(rows).toEqual([{ name: '9999-future' }]);
    const told = lines.filter((line) => line.includes('"migrations":["9999-future"]'));
    expect(told).toHaveLength(2);
  });

  test.each(['0000-engine', '0001-baseline', '0001-baseline-0123456789ab'])(
    'a database that begins with the migration %s is refused with what to do',
    async (name) => {
      const connection = await recorded(`update kysely_migration set name = '${name}'`);
      const opening = openDatabase({ embedded: { connection }, log: silentLog });
      await expect(opening).rejects.toMatchObject({
        code: 'migration_failed',
        message: expect.stringMatching(
          /another, unreleased version of Taskthread: start with an empty database/,
        ),
      });
      await dropDatabase(connection);
    },
  );

  test('a start says that it migrates; cut off in the middle, it changes nothing, and the next one finishes it', async () => {
    const connection = await copyTemplateDatabase();
    let seconds = 600;
    migrations['0002-next'] = {
      up: async (db) => {
        await sql`create table next_notes (note text)`.execute(db);
        await sql`select pg_sleep(${seconds})`.execute(db);
      },
    };
    onTestFinished(() => void delete migrations['0002-next']);
    const lines: string[] = [];
    const log = pino({ level: 'info' }, { write: (line) => lines.push(line) });
    const open = () => openDatabase({ embedded: { connection }, log });
    const cut = open().catch((error: unknown) => error);
    await withClient(connection, async (client) => {
      await waitFor(async () => {
        const { rowCount } = await client.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()",
        );
        expect(rowCount).toBe(1);
      });
      expect(await cut).toMatchObject({ message: expect.stringMatching(/start again/) });
      const { rows } = await client.query("select to_regclass('next_notes') as made");
      expect(rows).toEqual([{ made: null }]);
    });
    expect(lines.join('')).toContain('bringing the tables up to date');
    seconds = 0;
    const opened = await open();
    const { rows } = await opened.pool.query("select name from kysely_migration where name like '0002%'");
    expect(rows).toEqual([{ name: '0002-next' }]);
    const said = lines.length;
    await opened.close();
    await (await open()).close();
    expect(lines).toHaveLength(said);
    await dropDatabase(connection);
  });

  test('a change waits for a table that a backup reads, and those that use the table go on meanwhile', async () => {
    const connection = await copyTemplateDatabase();
    const running = await openDatabase({ embedded: { connection }, log: silentLog });
    migrations['0002-next'] = {
      up: async (db) => void (await sql`alter table rate_limits add column next text`.execute(db)),
    };
    onTestFinished(() => void delete migrations['0002-next']);
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => lines.push(line) });
    const opened = await withClient(connection, async (backup) => {
      await backup.query('begin');
      await backup.query('lock table rate_limits in access share mode');
      const opening = openDatabase({ embedded: { connection }, log });
      await waitFor(async () => expect(await lockWaits(running.kysely)).toBe(1));
      expect(await running.kysely.selectFrom('rate_limits').selectAll().execute()).toEqual([]);
      await waitFor(() => expect(lines.join('')).toContain('uses a table that must change'));
      await backup.query('commit');
      return opening;
    });
    expect(await opened.kysely.selectFrom('rate_limits').select(sql`next`.as('next')).execute()).toEqual([]);
    for (const each of [running, opened]) await each.close();
    await dropDatabase(connection);
  });

  test('the tables are made in the first schema of the search path, beside another program that records its migrations', async () => {
    const connection = await emptyDatabase();
    const names = (schema: string) => `select name from ${schema}.kysely_migration`;
    await withClient(connection, async (client) => {
      await client.query('create table kysely_migration (name text primary key, timestamp text)');
      await client.query("insert into kysely_migration values ('2020-notes', '2020-01-01')");
      await client.query('create schema ours');
      await client.query(`alter database ${connection.database} set search_path = ours`);
    });
    for (const start of ['first', 'second']) {
      const opened = await openDatabase({ embedded: { connection }, log: silentLog });
      const found = await Promise.all(['public', 'ours'].map((schema) => opened.pool.query(names(schema))));
      await opened.close();
      expect([start, ...found.map(({ rows }) => rows)]).toEqual([
        start,
        [{ name: '2020-notes' }],
        [{ name: BASELINE }],
      ]);
    }
    await dropDatabase(connection);
  });

  test('a later change is made to the tables that are there, though the search path begins with another schema now', async () => {
    const connection = await copyTemplateDatabase();
    await withClient(connection, async (client) => {
      await client.query('create schema later');
      await client.query(`alter database ${connection.database} set search_path = later, public`);
    });
    migrations['0002-next'] = {
      up: async (db) => void (await sql`alter table rate_limits add column next text`.execute(db)),
    };
    onTestFinished(() => void delete migrations['0002-next']);
    const opened = await openDatabase({ embedded: { connection }, log: silentLog });
    const { rows } = await opened.pool.query(
      "select table_schema, column_name from information_schema.columns where table_name = 'rate_limits' and column_name = 'next'",
    );
    await opened.close();
    await dropDatabase(connection);
    expect(rows).toEqual([{ table_schema: 'public', column_name: 'next' }]);
  });

  test('no function has a body that PostgreSQL 13 cannot read', async () => {
    const { rows } = await database.pool.query(
      'select proname, prosqlbody is null as "isText" from pg_proc where pronamespace = current_schema()::regnamespace',
    );
    expect(rows).toContainEqual({ proname: 'file_ids_in', isText: true });
    expect(rows.filter(({ isText }) => !isText)).toEqual([]);
  });

  test('the baseline has another name for other tables, and not for other comments or spaces', () => {
    const table = 'create table threads (id text)';
    expect(fingerprintOf([`-- a comment\n  ${table}`, table])).toBe(fingerprintOf([` ${table}\n${table}`]));
    expect(fingerprintOf(['create table threads (id uuid)'])).not.toBe(fingerprintOf([table]));
    expect(BASELINE).toMatch(/^0001-baseline-[0-9a-f]{12}$/);
  });

  test('a database with tables of another program is refused by their names, also in the doctor', async () => {
    const connection = await recorded(
      'drop schema public cascade; create schema public; create table threads (id text); create table notes (id text)',
    );
    const message = expect.stringContaining('already has tables of another program (threads)');
    const opening = openDatabase({ embedded: { connection }, log: silentLog });
    await expect(opening).rejects.toMatchObject({ code: 'migration_failed', message });
    await expect(checkSchema(connection, silentLog)).rejects.toMatchObject({
      code: 'migration_failed',
      message,
    });
    await dropDatabase(connection);
  });
});

test('a migration that fails for another reason does not blame a newer release', async () => {
  const connection = await emptyDatabase();
  const client = new pg.Client(connection);
  await client.connect();
  await client.query('create view kysely_migration as select 1 as name where false');
  const opening = openDatabase({ embedded: { connection }, log: silentLog });
  await expect(opening).rejects.toMatchObject({
    code: 'migration_failed',
    message: expect.not.stringContaining('newer release'),
  });
  await client.end();
  await dropDatabase(connection);
});

describe('outages', () => {
  test('a connection that breaks in use throws a StoreError, and the pool keeps working', async () => {
    const held = database.kysely.transaction().execute(async (trx) => {
      await database.pool.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
      );
      await trx.selectFrom('rate_limits').selectAll().execute();
    });
    await expect(held).rejects.toMatchObject({ name: 'StoreError', code: 'unavailable' });
    expect(await database.kysely.selectFrom('rate_limits').selectAll().execute()).toEqual([]);
  });

  test('a database that cannot be reached is unavailable, and one that does not exist is denied', async () => {
    const gone = openDatabase({ url: 'postgres://nobody@127.0.0.1:1/none', log: silentLog });
    // A start that fails exits: it must not promise to continue.
    await expect(gone).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.not.stringContaining('automatically'),
    });
    const connection = { ...server, database: 'nowhere' };
    const unknown = openDatabase({ embedded: { connection }, log: silentLog });
    await expect(unknown).rejects.toMatchObject({ code: 'denied' });
  });

  test.each(['postgres://u:%ff@127.0.0.1:1/d', 'postgres://u:p/w@127.0.0.1:1/d'])(
    '%s is rejected with the name of the setting',
    async (url) => {
      const none = openDatabase({ url, log: silentLog });
      await expect(none).rejects.toMatchObject({
        code: 'denied',
        message: expect.stringContaining('DATABASE_URL'),
      });
    },
  );

  test('a full disk has its own code, and a violated constraint is not mapped', async () => {
    const full = Object.assign(new Error('could not extend file'), { code: '53100' });
    expect(toStoreError(full)).toMatchObject({ code: 'disk_full', cause: full });
    const row = { workspace: 'T1', limit_key: 'edits' };
    await database.kysely.insertInto('rate_limits').values(row).execute();
    const again = database.kysely.insertInto('rate_limits').values(row).execute();
    await expect(again).rejects.not.toBeInstanceOf(StoreError);
    await expect(again).rejects.toMatchObject({ code: '23505' });
  });

  test('a transaction that was rolled back for another one may be tried again', () => {
    const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01' });
    expect(toStoreError(deadlock)).toMatchObject({ code: 'unavailable', cause: deadlock });
    expect(isLockConflict(toStoreError(deadlock))).toBe(true);
  });

  test('an address without a password, and a server that takes only TLS, are told apart from a wrong password', () => {
    const noPassword = new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string');
    expect(connectionError(noPassword)).toMatchObject({
      code: 'denied',
      message: expect.stringMatching(/^The database asks for a password/),
    });
    const refusal = (reason: string) => connectionError(Object.assign(new Error(reason), { code: '28000' }));
    expect(refusal('pg_hba.conf rejects connection for host "one", no encryption').message).toContain(
      'sslmode',
    );
  });

  test('a certificate whose file is not there is no outage of the database', async () => {
    const url = 'postgres://user@127.0.0.1:1/name?sslmode=require&sslrootcert=/no/such/ca.pem';
    await expect(openDatabase({ url, log: silentLog })).rejects.toMatchObject({
      code: 'denied',
      message: expect.stringMatching(/^No TLS connection to the database \(ENOENT.*sslrootcert\.$/),
    });
  });

  test('a certificate that cannot be opened for now is one', () => {
    const noFiles = Object.assign(new Error("EMFILE: too many open files, open '/ca.pem'"), {
      code: 'EMFILE',
    });
    expect(connectionError(noFiles)).toMatchObject({
      code: 'unavailable',
      message: expect.not.stringContaining('sslmode'),
    });
  });

  test('a statement that takes too long is cancelled', async () => {
    const { rows } = await database.pool.query("select current_setting('statement_timeout') as most");
    expect(rows).toEqual([{ most: '7500ms' }]);
  });
});
