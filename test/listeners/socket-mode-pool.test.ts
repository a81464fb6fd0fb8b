import { App } from '@slack/bolt';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { type SlackWorkspace, startSlackWorkspace } from '../../sandbox/slack/slack-workspace.ts';
import { SocketModePool, slackAppIdOf } from '../../src/listeners/socket-mode-pool.ts';
import { createSlackLogger } from '../../src/slack/slack-client.ts';
import { StoreError } from '../../src/store/errors.ts';
import { silentLog } from '../support/silent-log.ts';

/** Longer than a lease. */
const KEEP_OPEN_MS = 1_500;
const open: SlackWorkspace[] = [];
afterAll(() => Promise.all(open.map((slack) => slack.stop())));

/** Connections to a workspace of their own; `answer` is what the database says of the share. */
async function connect(answer: (open: number) => Promise<number>) {
  const slack = await startSlackWorkspace({ limits: 'off' });
  open.push(slack);
  const heard: number[] = [];
  let left = 0;
  const connections = new SocketModePool({
    appToken: slack.appToken,
    slackApiUrl: slack.apiUrl,
    socketLease: {
      renew: async (count) => {
        heard.push(count);
        return { allowed: await answer(count), processes: 1 };
      },
      release: async () => {
        left += 1;
      },
      leaseMs: 1_000,
    },
    renewIntervalMs: 50,
    keepOpenMs: KEEP_OPEN_MS,
    onConnected: () => undefined,
    log: silentLog,
  });
  new App({ receiver: connections, authorize: async () => ({}), logger: createSlackLogger(silentLog) });
  onTestFinished(() => connections.stop());
  await connections.start();
  return { slack, connections, heard, left: () => left };
}

describe("a process's Socket Mode connections", () => {
  test('follow its share up and down, and are reported as open until they are closed', async () => {
    let share = 2;
    const { slack, connections, heard } = await connect(async () => share);
    expect(connections.state).toEqual({ live: 2, allowed: 2 });
    share = 1;
    await expect.poll(() => slack.connections).toBe(1);
    await expect.poll(() => heard.at(-1)).toBe(1);
    share = 0;
    await expect.poll(() => slack.connections).toBe(0);
    expect(connections.state).toEqual({ live: 0, allowed: 0 });
    share = 2;
    await expect.poll(() => connections.state.live).toBe(2);
  });

  test('open although the database is slow to give their first lease', async () => {
    let failures = 2;
    const { connections } = await connect(async () => {
      if (failures-- > 0) throw new StoreError('unavailable', 'The database is slow.');
      return 1;
    });
    expect(connections.state).toEqual({ live: 1, allowed: 1 });
  });

  test.each([
    ['fails', () => Promise.reject(new Error('the database is away'))],
    ['hangs', () => new Promise<number>((resolve) => setTimeout(() => resolve(2), 2_000))],
  ])(
    'stay open for a while when the lease cannot be renewed because that %s, and are opened again when it can',
    async (_, away) => {
      let renewedAt = 0;
      const inTime = async () => {
        renewedAt = performance.now();
        return 2;
      };
      let renewed: () => Promise<number> = inTime;
      const { slack, connections } = await connect(() => renewed());
      renewed = away;
      await expect.poll(() => slack.connections, { timeout: 10_000 }).toBe(0);
      expect(performance.now() - renewedAt).toBeGreaterThan(KEEP_OPEN_MS - 50);
      renewed = inTime;
      await expect.poll(() => connections.state.live, { timeout: 10_000 }).toBe(2);
    },
  );

  test('are replaced one by one, so that events keep arriving', async () => {
    const { slack, connections } = await connect(async () => 2);
    const opened = () => slack.calls.filter(({ method }) => method === 'apps.connections.open').length;
    const counts: number[] = [];
    const watch = setInterval(() => counts.push(connections.state.live), 1);
    slack.goDeaf();
    await connections.rebuild();
    clearInterval(watch);
    expect(opened()).toBe(4);
    expect(connections.state).toEqual({ live: 2, allowed: 2 });
    expect(Math.min(...counts)).toBe(1);
    await expect.poll(() => slack.connections).toBe(2);
    const lost = slack.deliveryStats.lost;
    const person = slack.createPerson({ name: 'ann' });
    const channel = slack.createChannel({ name: 'lab' });
    for (let said = 0; said < 8; said += 1) slack.say({ person, channel, text: 'hello' });
    await slack.settled();
    expect(slack.deliveryStats.lost).toBe(lost);
  });

  test('are closed and released at the stop', async () => {
    const { slack, connections, left } = await connect(async () => 2);
    await connections.stop();
    await expect.poll(() => slack.connections).toBe(0);
    expect(left()).toBe(1);
  });

  test('share a lease with those of the same Slack app, which the token names', () => {
    expect(slackAppIdOf('xapp-1-A0123ABC-456-abcdef')).toBe('A0123ABC');
    expect(slackAppIdOf('xapp-1-A0123ABC-457-fedcba')).toBe('A0123ABC');
    expect(slackAppIdOf('xapp-another-form')).not.toBe(slackAppIdOf('xapp-another-one'));
  });
});
