import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { startAgentService } from '../../../sandbox/agent/agent-service.ts';
import { BotProcess, compileCacheSettings } from '../../../sandbox/bot-process.ts';
import { chaosSettings } from '../../../sandbox/bot-settings.ts';
import { DatabaseProxy } from '../../../sandbox/chaos/database-proxy.ts';
import { connectionUrl } from '../../../sandbox/postgres-server.ts';
import { startSlackWorkspace } from '../../../sandbox/slack/slack-workspace.ts';
import { pause } from '../../support/app-scene.ts';
import { copyTemplateDatabase, dropDatabase } from '../../support/fresh-database.ts';

test('a process whose database vanishes says so, asks people to try again, and still stops in time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'taskthread-lost-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const connection = await copyTemplateDatabase();
  onTestFinished(() => dropDatabase(connection));
  const proxy = await DatabaseProxy.start(() => inject('databaseServer'));
  onTestFinished(() => proxy.stop());
  const slack = await startSlackWorkspace({ limits: 'off' });
  onTestFinished(() => slack.stop());
  const agent = await startAgentService({});
  onTestFinished(() => agent.stop());
  const bot = new BotProcess(
    {
      ...(await compileCacheSettings(join(folder, 'compiled'))),
      ...chaosSettings(slack, agent, 'http', connection),
      DATABASE_URL: connectionUrl({ ...proxy.connection, database: connection.database }),
      DRAIN_SECONDS: '1',
    },
    join(folder, 'bot.log'),
  );
  onTestFinished(async () => {
    if (bot.alive) await bot.kill();
  });
  expect(await bot.ready()).toBe(true);
  const at = `http://127.0.0.1:${bot.port}`;
  await slack.useHttp({ eventsUrl: `${at}/slack/events` });
  const person = slack.createPerson({ name: 'ada', realName: 'Ada' });
  const channel = slack.createChannel({ name: 'lab' });
  const root = slack.say({ person, channel, text: `<@${slack.bot.userId}> /slow 600` });
  const stopButton = () =>
    slack
      .thread(channel, root.ts)
      .find(({ blocks }) => JSON.stringify(blocks ?? []).includes('"action_id":"stop"'));
  await expect.poll(stopButton).toBeDefined();

  proxy.vanish();
  const readyz = async () => {
    const response = await fetch(`${at}/readyz`);
    return { status: response.status, body: await response.json() };
  };
  expect(await readyz()).toMatchObject({
    status: 503,
    body: { ready: false, database: false, reason: expect.any(String) },
  });
  expect((await fetch(`${at}/healthz`)).status).toBe(200);
  await slack.click({ person, channel, ts: stopButton()?.ts ?? '', actionId: 'stop' }).catch(() => undefined);
  await expect
    .poll(() => JSON.stringify(slack.ephemerals(person, channel)))
    .toContain('Please try again in a moment.');
  const lost = async () => {
    const lines = (await readFile(join(folder, 'bot.log'), 'utf8')).split('\n');
    return lines.filter((line) => line.includes('no job could be claimed or renewed'));
  };
  await expect.poll(lost, { timeout: 60_000 }).toHaveLength(1);
  await pause(1_000);
  expect(await lost()).toHaveLength(1);
  expect(await bot.stop()).toBe(true);
});
