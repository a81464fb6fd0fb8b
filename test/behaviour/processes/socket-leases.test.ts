import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { mainProgram } from '../../../sandbox/bot-process.ts';
import { limitsSetting } from '../../../sandbox/bot-settings.ts';
import { startApp, type TaskthreadApp } from '../../../src/app.ts';
import { slackAppIdOf } from '../../../src/listeners/socket-mode-pool.ts';
import { type AppScene, openAppScene, pause } from '../../support/app-scene.ts';
import { withinMs } from '../../support/busy-machine.ts';
import { silentLog } from '../../support/silent-log.ts';

const readiness = z.looseObject({
  sockets: z.object({ live: z.number(), allowed: z.number(), trouble: z.string().optional() }),
});

/** What an app tells of its connections. */
async function socketsOf(app: Pick<TaskthreadApp, 'port'>) {
  const response = await fetch(`http://127.0.0.1:${app.port}/readyz`);
  return readiness.parse(await response.json()).sockets;
}

type WhenDone = (close: () => Promise<void> | void) => void;

/** One more process on the scene's database; it lives until the test ends. */
async function another(scene: AppScene, mostSockets: number, whenDone: WhenDone): Promise<TaskthreadApp> {
  const log = pino({ level: process.env.TEST_LOG ?? 'silent' });
  const app = await startApp(scene.sandbox.config, log, { limits: { mostSockets } });
  whenDone(() => app.stop());
  return app;
}

/** The program in a process of its own. */
function program(scene: AppScene, whenDone: WhenDone) {
  const { DATABASE_URL = '' } = scene.sandbox.config;
  const child = spawn(process.execPath, [mainProgram()], {
    env: {
      PATH: process.env.PATH ?? '',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      DATABASE_URL,
      SLACK_BOT_TOKEN: scene.slack.botToken,
      SLACK_APP_TOKEN: scene.slack.appToken,
      SLACK_API_URL: scene.slack.apiUrl,
      ...limitsSetting({ mostSockets: 2 }),
      AGENT_BASE_URL: scene.agent.url,
      AGENT_API_KEY: scene.agent.apiKey,
      PRIVATE_HOSTS: '127.0.0.1',
      PORT: '0',
      METRICS_PORT: '0',
      HOST: '127.0.0.1',
    },
    stdio: 'ignore',
  });
  whenDone(() => {
    child.kill('SIGKILL');
  });
  return child;
}

/** Other processes hold so many connections, as the database sees it. */
async function takenByOthers(scene: AppScene, sockets: number): Promise<void> {
  const values = {
    workspace: scene.slack.team.id,
    app_id: slackAppIdOf(scene.slack.appToken),
    process_id: crypto.randomUUID(),
    sockets,
    expires_at: new Date(Date.now() + 60_000),
  };
  await scene.sandbox.bot.store.db.insertInto('socket_leases').values(values).execute();
}

/** A connection of somebody else's. */
async function stranger(scene: AppScene, whenDone: WhenDone): Promise<WebSocket> {
  const response = await fetch(`${scene.slack.apiUrl}apps.connections.open`, {
    method: 'POST',
    headers: { authorization: `Bearer ${scene.slack.appToken}` },
  });
  const { url } = z.looseObject({ url: z.string() }).parse(await response.json());
  const socket = new WebSocket(url);
  whenDone(() => socket.close());
  await once(socket, 'message');
  return socket;
}

describe.concurrent('the connections to Slack', () => {
  test('are two for one process, and pass to the next one when it is killed', async ({ onTestFinished }) => {
    const scene = await openAppScene({ limits: { mostSockets: 2 } }, onTestFinished);
    await scene.sandbox.bot.stop();
    const child = program(scene, onTestFinished);
    await scene.until('the program has two connections', () => {
      if (child.exitCode !== null) throw new Error('The program has ended.');
      return scene.slack.connections === 2;
    });
    await scene.sandbox.restartBot();
    child.kill('SIGKILL');
    await scene.until('the other one has both', async () => (await socketsOf(scene.sandbox.bot)).live === 2);
    expect(scene.slack.connections).toBe(2);
    const channel = scene.channel();
    const root = scene.ask(channel, 'still there?');
    await scene.finished(channel, root);
    expect(scene.sentToAgent('still there?').texts).toEqual(['still there?']);
  });

  test('are shared by six processes: never more than four, never fewer than two, and free when one stops', async ({
    onTestFinished,
  }) => {
    const scene = await openAppScene({ limits: { mostSockets: 4 } }, onTestFinished);
    const seen = new Set<number>();
    const watch = setInterval(() => seen.add(scene.slack.connections), 5);
    onTestFinished(() => clearInterval(watch));
    // One after the other: a start keeps this process busy, and all of them share it, with leases of 8 s.
    const others: TaskthreadApp[] = [];
    while (others.length < 5) others.push(await another(scene, 4, onTestFinished));
    const apps = [scene.sandbox.bot, ...others];
    const lives = async () => Promise.all(apps.map(async (app) => (await socketsOf(app)).live));
    await scene.until('four of them have one each', async () => {
      const live = await lives();
      return (
        live.filter((count) => count === 1).length === 4 && live.filter((count) => count === 0).length === 2
      );
    });
    const live = await lives();
    await others.find((_, index) => live[index + 1] === 1)?.stop();
    await scene.until('another one takes its place', () => scene.slack.connections === 4);
    clearInterval(watch);
    expect(Math.max(...seen)).toBe(4);
    expect(Math.min(...seen)).toBeGreaterThanOrEqual(2);
  });

  test('are not needed to take over a turn and finish it', async ({ onTestFinished }) => {
    const scene = await openAppScene({ agent: { pace: 1 }, limits: { mostSockets: 2 } }, onTestFinished);
    const first = scene.sandbox.bot;
    const channel = scene.channel();
    const root = scene.ask(channel, 'who finishes this?\n/slow 9000');
    await scene.until('the first process shows the reply', () => scene.replies(channel, root).length > 0);
    await takenByOthers(scene, 2);
    const second = await another(scene, 2, onTestFinished);
    expect(await socketsOf(second)).toEqual({ live: 0, allowed: 0 });
    const key = { workspace: scene.slack.team.id, channel: channel.id, ts: root.ts };
    expect((await second.store.turns.ofMessage(key))?.finished_at).toBeNull();
    await first.stop();
    await scene.hurry('who finishes this?');
    await scene.until(
      'the second process finishes it',
      async () => (await second.store.turns.ofMessage(key))?.finished_at != null,
    );
    expect(await socketsOf(second)).toEqual({ live: 0, allowed: 0 });
    expect(scene.sentToAgent('who finishes this?').texts).toEqual(['who finishes this?\n/slow 9000']);
  });

  test('are opened again after Slack refused them for a while, and /readyz says why they were missing', async ({
    onTestFinished,
  }) => {
    const scene = await openAppScene({}, onTestFinished);
    const refuse = (fault: { status: number; body?: unknown }) =>
      scene.slack.faults.add({ call: 'apps.connections.open', fault: { kind: 'status', ...fault } });
    const mend = refuse({ status: 503 });
    scene.slack.cutSockets();
    await scene.until('health says that there is none, and why', async () => {
      const { live, trouble } = await socketsOf(scene.sandbox.bot);
      return live === 0 && trouble?.includes('503');
    });
    const worse = refuse({ status: 200, body: { ok: false, error: 'account_inactive' } });
    mend();
    await scene.until('it is told of the token', async () =>
      (await socketsOf(scene.sandbox.bot)).trouble?.includes('account_inactive'),
    );
    worse();
    await scene.until('both are back', async () => (await socketsOf(scene.sandbox.bot)).live === 2);
    expect((await socketsOf(scene.sandbox.bot)).trouble).toBeUndefined();
    const channel = scene.channel();
    const root = scene.ask(channel, 'back again?');
    await scene.finished(channel, root);
  });

  test('stay at one where Slack refuses an eleventh, until there is room', async ({ onTestFinished }) => {
    const scene = await openAppScene({}, onTestFinished);
    await scene.sandbox.bot.stop();
    const strangers: WebSocket[] = [];
    for (let count = 0; count < 9; count += 1) strangers.push(await stranger(scene, onTestFinished));
    await scene.sandbox.restartBot();
    const { live, allowed, trouble } = await socketsOf(scene.sandbox.bot);
    expect({ live, allowed }).toEqual({ live: 1, allowed: 2 });
    expect(trouble).toContain('too_many_websockets');
    strangers[0]?.close();
    await scene.until('the second one comes', async () => (await socketsOf(scene.sandbox.bot)).live === 2);
  });

  test('are replaced at once when Slack asks for it', async ({ onTestFinished }) => {
    const scene = await openAppScene({}, onTestFinished);
    // A connection that has just been made would wait a moment.
    await pause(5_100);
    const opened = () => scene.slack.calls.filter(({ method }) => method === 'apps.connections.open').length;
    const before = opened();
    const asked = performance.now();
    scene.slack.refreshSockets('warning');
    await scene.until('two new ones are opened', () => opened() === before + 2);
    await scene.until('they stand', async () => (await socketsOf(scene.sandbox.bot)).live === 2);
    // Bolt's own client waits 5 s.
    expect(performance.now() - asked).toBeLessThan(withinMs(4_500));
  });

  test('cannot be opened with an invalid token, and the start says so', async ({ onTestFinished }) => {
    const scene = await openAppScene({}, onTestFinished);
    const config = { ...scene.sandbox.config, SLACK_APP_TOKEN: 'xapp-1-A0WRONG-1-no' };
    await expect(startApp(config, silentLog)).rejects.toThrow(/rejects SLACK_APP_TOKEN \(invalid_auth\)/);
  });
});
