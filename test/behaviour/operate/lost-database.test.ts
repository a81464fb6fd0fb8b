import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { DatabaseProxy } from '../../../sandbox/chaos/database-proxy.ts';
import { connectionUrl } from '../../../sandbox/postgres-server.ts';
import { openAppScene, pause } from '../../support/app-scene.ts';
import { withinMs } from '../../support/busy-machine.ts';
import { copyTemplateDatabase, dropDatabase } from '../../support/fresh-database.ts';

/** After it, the process ends without having closed everything (src/main.ts): DRAIN_SECONDS and CLOSE_TIMEOUT_MS. */
const STOP_TIMEOUT_MS = 12_000;

test('a bot whose database vanishes says so, asks people to try again, and still stops in time', async () => {
  const connection = await copyTemplateDatabase();
  onTestFinished(() => dropDatabase(connection));
  const proxy = await DatabaseProxy.start(() => connection);
  onTestFinished(() => proxy.stop());
  const lines: string[] = [];
  const scene = await openAppScene(
    {
      databaseUrl: connectionUrl(proxy.connection),
      log: pino({ level: 'warn' }, { write: (line) => void lines.push(line) }),
      settings: { DRAIN_SECONDS: '1' },
      transport: 'http',
    },
    onTestFinished,
  );
  const { ada, slack } = scene;
  const { bot } = scene.sandbox;
  const channel = scene.channel();
  const root = scene.ask(channel, '/slow 30000');
  const { ts } = await scene.messageWithButton(channel, root, 'stop');

  proxy.vanish();
  const at = `http://127.0.0.1:${bot.port}`;
  const readyz = await fetch(`${at}/readyz`);
  expect(readyz.status).toBe(503);
  expect(await readyz.json()).toMatchObject({ ready: false, database: false, reason: expect.any(String) });
  expect((await fetch(`${at}/healthz`)).status).toBe(200);
  await slack.click({ person: ada, channel, ts, actionId: 'stop' }).catch(() => undefined);
  await scene.until('she is asked to try again', () =>
    JSON.stringify(slack.ephemerals(ada, channel)).includes('Please try again in a moment.'),
  );
  const lost = () => lines.filter((line) => line.includes('no job could be claimed or renewed'));
  await scene.until('the log says so', () => lost().length > 0);
  await pause(1_000);
  expect(lost()).toHaveLength(1);
  expect(lost()[0]).toMatch(/"err":\{.*"message":"The database is unavailable/);
  const began = performance.now();
  await bot.stop();
  expect(performance.now() - began).toBeLessThan(withinMs(STOP_TIMEOUT_MS));
});
