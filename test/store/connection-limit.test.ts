import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { pino } from 'pino';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { connectionUrl, withClient } from '../../sandbox/postgres-server.ts';
import { readConfig } from '../../src/config/environment-and-secret-files.ts';
import type { CheckResult } from '../../src/operate/checks/check-result.ts';
import { checkDatabase } from '../../src/operate/checks/database-checks.ts';
import { type Database, type DatabaseOptions, openDatabase } from '../../src/store/database.ts';
import { connectionError } from '../../src/store/errors.ts';
import { copyTemplateDatabase, dropDatabase, emptyDatabase } from '../support/fresh-database.ts';
import { hasPgbouncer, startPgbouncer } from '../support/pgbouncer.ts';
import { silentLog } from '../support/silent-log.ts';

const administer = (statement: string) =>
  withClient(inject('administration'), (client) => client.query(statement));

/** A database of a role that may have so many connections. */
async function limitedTo(most: number) {
  const role = `limited_${randomUUID().slice(0, 8)}`;
  await administer(`create role ${role} login password 'p' connection limit ${most}`);
  const connection = { ...(await emptyDatabase()), user: role, password: 'p' };
  onTestFinished(async () => {
    await dropDatabase(connection);
    await administer(`drop role ${role}`);
  });
  await administer(`alter database ${connection.database} owner to ${role}`);
  return { role, connection, url: connectionUrl(connection) };
}

/** Opens a database, and keeps what the log says. */
async function opened(options: Omit<DatabaseOptions, 'log'>) {
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => lines.push(line) });
  const database = await openDatabase({ ...options, log });
  onTestFinished(() => database.close());
  return { database, said: () => lines.join('') };
}

/** What the doctor says of a database, beside its version. */
async function examined(url: string): Promise<CheckResult[]> {
  const config = readConfig({
    SLACK_BOT_TOKEN: 'xoxb-1',
    SLACK_APP_TOKEN: 'xapp-1',
    AGENT_BASE_URL: 'https://agent.example/v1',
    AGENT_API_KEY: 'key',
    DATABASE_URL: url,
  });
  const tools = { log: silentLog, now: () => Date.now(), freeBytes: async () => 0, mend: false };
  const found: CheckResult[] = [];
  for await (const one of checkDatabase(config, tools)) if (typeof one !== 'string') found.push(one);
  return found;
}

/** Twenty statements at a time on the connections of turns. */
const manyAtOnce = ({ pool }: Database) =>
  Promise.all(Array.from({ length: 20 }, () => pool.query('select pg_sleep(0.05)')));

async function connectionsOf({ database, user }: pg.ClientConfig): Promise<number> {
  const counted = 'select count(*)::int as n from pg_stat_activity where datname = $1 and usename = $2';
  return withClient(inject('administration'), async (client) => {
    return (await client.query<{ n: number }>(counted, [database, user])).rows[0]?.n ?? 0;
  });
}

describe('a role with a limit of connections', () => {
  test('that is too low is refused by a start and the doctor, with the command that raises it', async () => {
    const { role, url } = await limitedTo(3);
    const sentence = `Only 3 connections can be had, and each process is set to 9 (DATABASE_CONNECTIONS): run "alter role ${role} connection limit 9".`;
    const refused = openDatabase({ url, log: silentLog });
    await expect(refused).rejects.toMatchObject({ code: 'denied', message: sentence });
    expect(await examined(url)).toEqual([{ what: 'connections', ok: false, message: sentence }]);
    await administer(`alter role ${role} connection limit 9`);
    expect((await opened({ url })).said()).toBe('');
  });

  test('that is lower than the setting is kept within, and a start and the doctor say so', async () => {
    const { url, connection } = await limitedTo(7);
    const { database, said } = await opened({ url });
    expect(said()).toMatch(/Only 7 connections .* or set DATABASE_CONNECTIONS to 7 or less/);
    await Promise.all([manyAtOnce(database), database.leasePool.query('select 1')]);
    expect(await connectionsOf(connection)).toBeLessThanOrEqual(7);
    const lock = database.createClient({});
    await lock.connect();
    await lock.end();
    expect(await examined(url)).toMatchObject([{ what: 'connections', ok: true }]);
  });

  test('that is used up meanwhile is told in the log, and statements take turns', async () => {
    const { role, url } = await limitedTo(20);
    const { database, said } = await opened({ url });
    for (const pool of [database.pool, database.leasePool]) await pool.query('select 1');
    await administer(`alter role ${role} connection limit 3`);
    await manyAtOnce(database);
    expect(said()).toMatch(
      /too many connections for role .*: raise that limit, or lower DATABASE_CONNECTIONS/,
    );
  });
});

test.each([
  ['08P01', 'no more connections allowed (max_client_conn)'],
  ['08P01', 'client connections exceeded (max_user_client_connections)'],
  ['XX000', 'MaxClientsInSessionMode: max clients reached - in Session mode max clients are limited to 15'],
  ['53300', 'désolé, trop de clients sont déjà connectés'],
])('%s (%s) names the setting that is too high', (code, reason) => {
  const error = Object.assign(new Error(reason), { code });
  expect(connectionError(error)).toMatchObject({
    code: 'unavailable',
    message: `The database gives no more connections (${reason}): raise that limit, or lower DATABASE_CONNECTIONS of each process.`,
  });
});

test.skipIf(!hasPgbouncer)(
  'few clients of a pooler are shared, and no start is refused for them',
  async () => {
    const connection = await copyTemplateDatabase();
    onTestFinished(() => dropDatabase(connection));
    const pgbouncer = await startPgbouncer(onTestFinished, ['max_client_conn = 7']);
    const { database } = await opened({
      url: pgbouncer.url(connection.database),
      directUrl: connectionUrl(connection),
    });
    expect(await manyAtOnce(database)).toHaveLength(20);
  },
);
