import { describe, expect, onTestFinished, test } from 'vitest';
import { connectionUrl } from '../../../sandbox/postgres-server.ts';
import { readConfig } from '../../../src/config/environment-and-secret-files.ts';
import { checkDatabase } from '../../../src/operate/checks/database-checks.ts';
import { withOperatorStore } from '../../../src/operate/command-runner.ts';
import { errorMessage } from '../../../src/postgres/errors.ts';
import { openDatabase } from '../../../src/store/database.ts';
import type { Store } from '../../../src/store/store.ts';
import { openAppScene } from '../../support/app-scene.ts';
import { copyTemplateDatabase, dropDatabase, emptyDatabase } from '../../support/fresh-database.ts';
import { hasPgbouncer, startPgbouncer } from '../../support/pgbouncer.ts';
import { silentLog } from '../../support/silent-log.ts';

if (!hasPgbouncer) console.warn('No pgbouncer was found: the tests with a pooler are skipped.');

async function all<T>(found: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of found) items.push(item);
  return items;
}

/** What the doctor says of a database. */
async function examined(addresses: Record<string, string>): Promise<string> {
  const config = readConfig({
    SLACK_BOT_TOKEN: 'xoxb-1',
    SLACK_APP_TOKEN: 'xapp-1',
    AGENT_BASE_URL: 'https://agent.example/v1',
    AGENT_API_KEY: 'key',
    ...addresses,
  });
  const tools = { log: silentLog, now: () => Date.now(), freeBytes: async () => 0, mend: false };
  try {
    const found = await all(checkDatabase(config, tools));
    return found.map((one) => (typeof one === 'string' ? one : one.message)).join('\n');
  } catch (error) {
    return errorMessage(error);
  }
}

describe.skipIf(!hasPgbouncer)('behind a pgbouncer in transaction mode that speaks TLS', () => {
  test('people are answered where DATABASE_DIRECT_URL names the server itself', async () => {
    const connection = await copyTemplateDatabase();
    onTestFinished(() => dropDatabase(connection));
    const pgbouncer = await startPgbouncer(onTestFinished);
    const scene = await openAppScene(
      {
        databaseUrl: pgbouncer.url(connection.database),
        settings: { DATABASE_DIRECT_URL: connectionUrl(connection) },
      },
      onTestFinished,
    );
    const channel = scene.channel();
    const root = scene.ask(channel, 'who is between us?');
    await scene.finished(channel, root);
    await scene.finished(channel, scene.reply(channel, root, 'and now?'));
    expect(scene.sentToAgent('who is between us?').texts).toEqual(['who is between us?', 'and now?']);
  });

  test("an operator's commands and the doctor go past it, and a start finds that its two addresses are of two databases", async () => {
    const [connection, other] = await Promise.all([copyTemplateDatabase(), emptyDatabase()]);
    onTestFinished(() => Promise.all([connection, other].map(dropDatabase)).then(() => undefined));
    const pgbouncer = await startPgbouncer(onTestFinished);
    const addresses = (of: typeof connection, direct = connectionUrl(connection)) => ({
      DATABASE_URL: pgbouncer.url(of.database),
      DATABASE_DIRECT_URL: direct,
    });
    const read = (store: Store) => all(store.audit.read({ since: new Date(0) }));
    const settings = { ...addresses(connection), DATA_FOLDER: '' };
    expect(await withOperatorStore(settings, read)).toEqual([]);

    expect(await examined(addresses(connection))).toMatch(/^PostgreSQL \S+, its tables are up to date$/);
    const nobody = 'postgres://u@127.0.0.1:9/d';
    expect(await examined(addresses(connection, nobody))).toMatch(/^DATABASE_DIRECT_URL: .* unavailable/);
    const another = 'leads to another database than DATABASE_URL';
    expect(await examined(addresses(other))).toContain(`DATABASE_DIRECT_URL: it ${another}`);
    const { DATABASE_URL: url, DATABASE_DIRECT_URL: directUrl } = addresses(other);
    await expect(openDatabase({ url, directUrl, log: silentLog })).rejects.toMatchObject({
      code: 'denied',
      message: expect.stringContaining(another),
    });
  });

  test('one that ignores our settings is told by the first statement that it has prepared elsewhere', async () => {
    const connection = await copyTemplateDatabase();
    onTestFinished(() => dropDatabase(connection));
    const ignored =
      'IntervalStyle,bytea_output,extra_float_digits,array_nulls,default_transaction_isolation,jit,lock_timeout,' +
      'default_transaction_deferrable,statement_timeout,idle_in_transaction_session_timeout';
    const pgbouncer = await startPgbouncer(onTestFinished, [`ignore_startup_parameters = ${ignored}`]);
    const opened = await openDatabase({ url: pgbouncer.url(connection.database), log: silentLog });
    onTestFinished(() => opened.close());
    await opened.pool.query('select $1::int', [1]);
    await expect(opened.leasePool.query('select $1::int', [1])).rejects.toMatchObject({
      code: 'denied',
      message: expect.stringMatching(/^DATABASE_URL leads to a pooler .*: set DATABASE_DIRECT_URL/),
    });
  });

  test('a start without it is refused with the name of the setting, and so is a wrong certificate', async () => {
    const connection = await copyTemplateDatabase();
    onTestFinished(() => dropDatabase(connection));
    const pgbouncer = await startPgbouncer(onTestFinished);
    const url = pgbouncer.url(connection.database);
    await expect(openDatabase({ url, log: silentLog })).rejects.toMatchObject({
      code: 'denied',
      message: expect.stringMatching(/^DATABASE_URL leads to a pooler .*: set DATABASE_DIRECT_URL/),
    });
    const unknownCa = openDatabase({ url: url.replace(/&.*$/, ''), log: silentLog });
    await expect(unknownCa).rejects.toMatchObject({
      code: 'denied',
      message: expect.stringContaining('sslrootcert'),
    });
  });
});
