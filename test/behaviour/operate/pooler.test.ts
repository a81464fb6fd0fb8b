import { describe, expect, onTestFinished, test } from 'vitest';
import { connectionUrl } from '../../../sandbox/postgres-server.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { openAppScene } from '../../support/app-scene.ts';
import { copyTemplateDatabase, dropDatabase } from '../../support/fresh-database.ts';
import { hasPgbouncer, startPgbouncer } from '../../support/pgbouncer.ts';
import { silentLog } from '../../support/silent-log.ts';

if (!hasPgbouncer) console.warn('No pgbouncer was found: the tests with a pooler are skipped.');

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
