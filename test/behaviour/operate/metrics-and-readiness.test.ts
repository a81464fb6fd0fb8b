import { createServer } from 'node:http';
import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { openAppScene } from '../../support/app-scene.ts';

const lines: Record<string, unknown>[] = [];
const line = z.record(z.string(), z.unknown());
const log = pino({ level: 'info' }, { write: (text) => void lines.push(line.parse(JSON.parse(text))) });
const scene = await openAppScene({ log });
const at = (path: string) => `http://127.0.0.1:${scene.sandbox.bot.port}${path}`;

/** The value of one figure, 0 where it is not there. */
async function figure(name: string): Promise<number> {
  const page = await (await fetch(at('/metrics'))).text();
  const found = page.split('\n').find((row) => row.startsWith(`${name} `));
  return Number(found?.split(' ').at(-1) ?? 0);
}

test('metrics stay off the public port, and a taken METRICS_PORT is a warning', async ({
  onTestFinished,
}) => {
  const taken = String(scene.sandbox.bot.port);
  const other = await openAppScene({ log, settings: { METRICS_PORT: taken } }, onTestFinished);
  expect((await fetch(`http://127.0.0.1:${other.sandbox.bot.port}/metrics`)).status).toBe(404);
  expect(lines.find(({ msg }) => String(msg).startsWith('no metrics:'))).toMatchObject({
    port: Number(taken),
  });
});

test.each([
  ['a key that the service rejects', { AGENT_API_KEY: 'wrong' }, { lastStatus: 401 }, 'AGENT_API_KEY'],
  [
    'an address where nothing answers',
    { AGENT_BASE_URL: 'http://127.0.0.1:9/v1' },
    { lastStatus: null },
    'AGENT_BASE_URL',
  ],
  ['an address of another server', { AGENT_BASE_URL: 'another' }, { lastStatus: 404 }, 'AGENT_BASE_URL'],
] as const)('%s is a warning at the start, and /readyz reports it', async (_, wrong, service, setting) => {
  const another = createServer((_request, response) => response.writeHead(404).end('Not here'));
  await new Promise<void>((resolve) => another.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => another.close().closeAllConnections());
  const address = another.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const settings = Object.values(wrong).includes('another')
    ? { AGENT_BASE_URL: `http://127.0.0.1:${port}/v1` }
    : wrong;
  const said: Record<string, unknown>[] = [];
  const own = pino({ level: 'warn' }, { write: (text) => void said.push(line.parse(JSON.parse(text))) });
  const other = await openAppScene({ log: own, settings }, onTestFinished);
  await expect.poll(() => said.map((one) => one.setting)).toEqual([setting]);
  const ready = await (await fetch(`http://127.0.0.1:${other.sandbox.bot.port}/readyz`)).json();
  expect(ready).toMatchObject({
    ready: true,
    service: { ok: false, lastAnswerAt: null, ...service },
  });
  expect(typeof Reflect.get(Object(ready), 'agentKeyRefusedSince') === 'string').toBe(
    setting === 'AGENT_API_KEY',
  );
});

test('a turn is counted in /metrics', async () => {
  const channel = scene.channel();
  const files = [{ name: 'run.csv', mime: 'text/csv', bytes: Buffer.from('a,b\n1,2\n3,4\n') }];
  await scene.finished(channel, scene.ask(channel, 'what is in there?', { files }));
  scene.slack.say({ person: scene.ada, channel, text: 'not for the bot' });
  await scene.slack.settled();

  expect(await figure('taskthread_events_total{kind="message",outcome="admitted"}')).toBe(1);
  expect(await figure('taskthread_events_total{kind="message",outcome="known"}')).toBe(1);
  expect(await figure('taskthread_events_total{kind="message",outcome="ignored"}')).toBe(1);
  expect(await figure('taskthread_event_seconds_count{kind="message"}')).toBeGreaterThanOrEqual(3);
  expect(await figure('taskthread_turns_ended_total{outcome="completed"}')).toBe(1);
  expect(await figure('taskthread_first_visible_seconds_count')).toBe(1);
  expect(await figure('taskthread_turn_seconds_count{outcome="completed"}')).toBe(1);
  expect(
    await figure('taskthread_slack_calls_total{method="chat.postMessage",outcome="ok"}'),
  ).toBeGreaterThan(0);
  expect(
    await figure('taskthread_slack_permits_total{limit="chat.update",outcome="granted"}'),
  ).toBeGreaterThan(0);
  expect(await figure('taskthread_unseen_text_seconds_count')).toBeGreaterThan(0);
  expect(
    await figure('taskthread_service_calls_total{endpoint="POST /projects",status="200",account="settings"}'),
  ).toBeGreaterThan(0);
  expect(await figure('taskthread_turns{state="following"}')).toBe(0);
  expect(await figure('taskthread_messages_waiting')).toBe(0);
  await scene.until('the thread is let go', async () => (await figure('taskthread_threads_held')) === 0);
});

test('an event that the database refuses for good is an error in the log and a figure', async () => {
  const { db } = scene.sandbox.bot.store;
  await sql`alter table messages add constraint refused check (ts < 0) not valid`.execute(db);
  const channel = scene.channel();
  scene.ask(channel, 'one that cannot be kept');
  const refused = () => figure('taskthread_events_total{kind="message",outcome="unrecordable"}');
  await scene.until('it is counted', async () => (await refused()) > 0);
  await sql`alter table messages drop constraint refused`.execute(db);
  const logged = lines.filter(({ msg }) => msg === 'an event cannot be recorded');
  expect(logged[0]).toMatchObject({ level: pino.levels.values.error, event: 'message' });
  expect(JSON.stringify(logged)).toContain('violates check constraint');
});

test('throttled and repeated calls are counted by method and endpoint', async () => {
  const channel = scene.channel();
  scene.slack.faults.add({
    call: 'chat.postMessage',
    times: 1,
    fault: { kind: 'status', status: 429, headers: { 'retry-after': '1' } },
  });
  scene.agent.faults.add({ call: /^GET .*messages$/, times: 1, fault: { kind: 'status', status: 503 } });
  await scene.finished(channel, scene.ask(channel, 'again'));
  expect(await figure('taskthread_slack_throttled_total{method="chat.postMessage"}')).toBe(1);
  const page = await (await fetch(at('/metrics'))).text();
  expect(page).toMatch(/taskthread_service_retries_total\{endpoint="GET [^"]+",account="settings"\} [1-9]/);
});

test('no metric names a workspace, a channel or a person', async () => {
  const page = await (await fetch(at('/metrics'))).text();
  for (const id of [scene.slack.team.id, scene.ada.id, scene.slack.bot.userId])
    expect(page).not.toContain(id);
});

test('/readyz reports Slack, the last event and the service', async () => {
  const ready: unknown = await (await fetch(at('/readyz'))).json();
  expect(ready).toMatchObject({
    ready: true,
    events: 'socket',
    sockets: {
      live: await figure('taskthread_slack_connections'),
      allowed: await figure('taskthread_slack_connections_allowed'),
    },
    lastEventAt: expect.stringMatching(/Z$/),
    service: { ok: true, lastStatus: expect.any(Number) },
  });
  expect(await figure('taskthread_slack_connections')).toBeGreaterThan(0);
});

test('each step of a turn is one log line with the ids of turn, thread and task', async () => {
  const channel = scene.channel();
  const asked = scene.ask(channel, 'one line a step');
  await scene.finished(channel, asked);
  const key = { workspace: scene.slack.team.id, channel: channel.id, ts: asked.ts };
  const turn = await scene.sandbox.bot.store.turns.ofMessage(key);
  const mine = lines.filter((one) => one.turn === turn?.id);
  const steps = mine.flatMap(({ step }) => (step === undefined ? [] : [step]));
  expect(steps).toEqual(['visible', 'frozen', 'sent', 'replying', 'settled', 'results', 'finished']);
  for (const one of mine) expect(one).toMatchObject({ channel: channel.id, thread_ts: asked.ts });
  const [task] = scene.agent.tasks.filter(({ title }) => title.startsWith('one line'));
  for (const one of mine.filter(({ step }) => step !== undefined && step !== 'visible')) {
    expect(one.task).toBe(task?.id);
  }
  expect(JSON.stringify(lines)).not.toContain('one line a step');
});

test('the audit trail records who asked, which tools the agent used and the outcome', async () => {
  const channel = scene.channel();
  const files = [{ name: 'secret-name.csv', mime: 'text/csv', bytes: Buffer.from('a,b\n1,2\n3,4\n') }];
  const asked = scene.ask(channel, 'a secret question', { files });
  await scene.finished(channel, asked);
  const rows = [];
  for await (const row of scene.sandbox.bot.store.audit.read({ since: new Date(0) })) rows.push(row);
  expect(rows.find(({ thread_ts }) => thread_ts === asked.ts)).toMatchObject({
    kind: 'turn',
    user_id: scene.ada.id,
    channel: channel.id,
    task_id: expect.any(String),
    details: { outcome: 'completed', sent: true, filesIn: 1, filesOut: 2, bytesIn: 12 },
  });
  const tools = rows.find(({ thread_ts }) => thread_ts === asked.ts)?.details.tools;
  expect(Object.keys(Object(tools)).length).toBeGreaterThan(0);
  expect(JSON.stringify(rows)).not.toContain('secret');
});

test('the help of each metric explains its labels, and names every value of those that have few', async () => {
  const page = await (await fetch(at('/metrics'))).text();
  const help = new Map(
    [...page.matchAll(/^# HELP (\w+) (.*)$/gm)].map(([, name = '', words]) => [name, words]),
  );
  const unexplained: string[] = [];
  for (const [series, name = '', labels = ''] of page.matchAll(
    /^(taskthread_\w+?)(?:_bucket|_sum|_count)?\{(.*)\}/gm,
  )) {
    const words = help.get(name) ?? '';
    for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="([^"]*)"/g)) {
      if (label === 'le') continue;
      const isOpen = ['endpoint', 'limit', 'method', 'setting', 'status', 'version'].includes(label);
      if (!words.includes(`${label}: `) || !(isOpen || words.includes(value))) unexplained.push(series);
    }
  }
  expect(help.size).toBeGreaterThan(20);
  expect(unexplained).toEqual([]);
});
