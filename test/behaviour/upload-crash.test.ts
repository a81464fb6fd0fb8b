import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startAgentService } from '../../src/sandbox/agent/service.ts';
import { BotProcess } from '../../src/sandbox/chaos/bot-process.ts';
import { startSlackWorkspace } from '../../src/sandbox/slack/workspace.ts';
import { copyOfTemplate, urlOf } from '../store/postgres.ts';
import { openScene } from './scene.ts';

const kib = 1024;
const parts = 32;
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

test('a kill in the middle of an upload neither loses nor doubles the attachment', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'taskthread-crash-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const slack = await startSlackWorkspace({ limits: 'off', retryScale: 0.01 });
  onTestFinished(() => slack.stop());
  const dialect = { partSize: 64 * kib, multipartThreshold: 64 * kib, minPartSize: 1 };
  const agent = await startAgentService({ pace: 0.02, dialect });
  onTestFinished(() => agent.stop());
  const connection = await copyOfTemplate();
  const settings = {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    AGENT_BASE_URL: agent.url,
    AGENT_API_KEY: agent.apiKey,
    PRIVATE_HOSTS: '127.0.0.1',
    DATABASE_URL: urlOf(connection),
    PORT: '0',
    HOST: '127.0.0.1',
  };
  const puts = () => agent.calls.filter(({ name, status }) => name === 'PUT part' && status === 200).length;
  agent.faults.add({ call: 'PUT part', fault: { kind: 'latency', ms: 150 } });

  const first = new BotProcess(settings, join(folder, 'first.log'));
  await first.ready();
  const ada = slack.createPerson({ name: 'ada' });
  const lab = slack.createChannel({ name: 'lab' });
  const bytes = randomBytes(parts * 64 * kib);
  const mention = `<@${slack.bot.userId}>`;
  slack.say({
    person: ada,
    channel: lab,
    text: `${mention} keep this`,
    files: [{ name: 'reads.bin', bytes }],
  });
  await expect.poll(puts, { timeout: 20_000, interval: 5 }).toBeGreaterThan(parts / 2);
  await first.kill();
  const before = puts();
  expect(before).toBeLessThan(parts);

  const second = new BotProcess(settings, join(folder, 'second.log'));
  onTestFinished(async () => {
    await second.stop();
  });
  await second.ready();
  const sent = () => agent.tasks[0]?.messages.filter(({ role }) => role === 'user') ?? [];
  const answered = () => agent.tasks[0]?.messages.filter(({ input }) => input !== null) ?? [];
  await expect.poll(() => answered().length, { timeout: 40_000 }).toBe(1);
  expect(sent()).toHaveLength(1);
  expect(answered()[0]?.input?.fileIds).toEqual([agent.files[0]?.id]);
  expect(agent.files.filter(({ purpose }) => purpose === 'input')).toHaveLength(1);
  expect(await agent.files[0]?.sha256()).toBe(sha256(bytes));
  // Those that were under way when it was killed are sent again, and no others.
  expect(puts() - before).toBeLessThanOrEqual(parts - before + 5);
  expect(puts()).toBeLessThan(parts + 6);
});

test('a process that is asked to stop hands an upload over', async () => {
  const dialect = { partSize: 64 * kib, multipartThreshold: 64 * kib, minPartSize: 1 };
  const scene = await openScene({ agent: { dialect } }, onTestFinished);
  scene.agent.faults.add({ call: 'PUT part', fault: { kind: 'latency', ms: 150 } });
  const channel = scene.channel();
  const bytes = randomBytes(parts * 64 * kib);
  const root = scene.ask(channel, 'and this', { files: [{ name: 'reads.bin', bytes }] });
  const puts = () => scene.agent.calls.filter(({ name }) => name === 'PUT part').length;
  await scene.until('half of it is there', () => puts() > parts / 2);
  await scene.stage.restartBot();
  await scene.finished(channel, root);
  expect(await scene.agent.files[0]?.sha256()).toBe(sha256(bytes));
  expect(scene.agent.files).toHaveLength(1);
  expect(puts()).toBeLessThan(parts + 6);
  expect(scene.told('and this').fileIds).toEqual([[scene.agent.files[0]?.id]]);
});
