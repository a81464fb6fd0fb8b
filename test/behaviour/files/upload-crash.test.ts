import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { BotProcess } from '../../../sandbox/bot-process.ts';
import { connectionUrl } from '../../../sandbox/postgres-server.ts';
import { startSandboxServices } from '../../../sandbox/sandbox-services.ts';
import { openAppScene } from '../../support/app-scene.ts';
import { copyTemplateDatabase } from '../../support/fresh-database.ts';

const kib = 1024;
const parts = 32;
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

test('a process killed in the middle of an upload neither loses nor duplicates the attachment', async () => {
  await using undo = new AsyncDisposableStack();
  const { slack, agent, settings, folder } = await startSandboxServices(
    {
      slack: { limits: 'off', retryScale: 0.01 },
      agent: {
        pace: 0.02,
        behaviour: { partSize: 64 * kib, multipartThreshold: 64 * kib, minPartSize: 1 },
      },
      databaseUrl: connectionUrl(await copyTemplateDatabase()),
    },
    undo,
  );
  const puts = () => agent.calls.filter(({ name, status }) => name === 'PUT part' && status === 200).length;
  // The rest of the parts is held until the process is dead.
  const crash = Promise.withResolvers<void>();
  agent.faults.add({ call: 'PUT part', times: parts / 2 + 1, fault: { kind: 'latency', ms: 150 } });
  const hold = agent.faults.add({ call: 'PUT part', fault: { kind: 'hold', until: crash.promise } });

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
  await expect.poll(puts, { timeout: 100_000, interval: 5 }).toBeGreaterThan(parts / 2);
  await first.kill();
  const before = puts();
  hold();
  crash.resolve();
  expect(before).toBeLessThan(parts);

  const second = new BotProcess(settings, join(folder, 'second.log'));
  undo.defer(async () => void (await second.stop()));
  await second.ready();
  const sent = () => agent.tasks[0]?.messages.filter(({ role }) => role === 'user') ?? [];
  const answered = () => agent.tasks[0]?.messages.filter(({ input }) => input !== null) ?? [];
  await expect.poll(() => answered().length, { timeout: 100_000 }).toBe(1);
  expect(sent()).toHaveLength(1);
  expect(answered()[0]?.input?.fileIds).toEqual([agent.files[0]?.id]);
  expect(agent.files.filter(({ purpose }) => purpose === 'input')).toHaveLength(1);
  expect(await agent.files[0]?.sha256()).toBe(sha256(bytes));
  // Those that were under way when it was killed are sent again, and no others.
  expect(puts() - before).toBeLessThanOrEqual(parts - before + 12);
  expect(puts()).toBeLessThan(parts + 13);
});

test('a process that stops hands its upload over', async () => {
  const behaviour = { partSize: 64 * kib, multipartThreshold: 64 * kib, minPartSize: 1 };
  const scene = await openAppScene({ agent: { behaviour: behaviour } }, onTestFinished);
  scene.agent.faults.add({ call: 'PUT part', fault: { kind: 'latency', ms: 150 } });
  const channel = scene.channel();
  const bytes = randomBytes(parts * 64 * kib);
  const root = scene.ask(channel, 'and this', { files: [{ name: 'reads.bin', bytes }] });
  const puts = () => scene.agent.calls.filter(({ name }) => name === 'PUT part').length;
  await scene.until('half of it is there', () => puts() > parts / 2);
  await scene.sandbox.restartBot();
  await scene.finished(channel, root);
  expect(await scene.agent.files[0]?.sha256()).toBe(sha256(bytes));
  expect(scene.agent.files).toHaveLength(1);
  expect(puts()).toBeLessThan(parts + 13);
  expect(scene.sentToAgent('and this').fileIds).toEqual([[scene.agent.files[0]?.id]]);
});
