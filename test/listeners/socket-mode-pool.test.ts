import { App } from '@slack/bolt';
import fc from 'fast-check';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { type SlackWorkspace, startSlackWorkspace } from '../../sandbox/slack/slack-workspace.ts';
import { fairShare, SocketModePool, slackAppIdOf } from '../../src/listeners/socket-mode-pool.ts';
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

/** Processes that each take the rule's word, with a clock of rounds: a silent one counts until its lease is over. */
class Model {
  readonly most: number;
  readonly leaseRounds = 4;
  readonly #rows = new Map<number, { open: number; row: number; until: number }>();
  round = 0;

  constructor(most: number) {
    this.most = most;
  }

  get open(): number {
    return this.living.reduce((sum, { open }) => sum + open, 0);
  }

  get living() {
    return [...this.#rows.values()].filter(({ until }) => until > this.round);
  }

  renew(id: number): void {
    const mine = this.#rows.get(id);
    const open = mine !== undefined && mine.until > this.round ? mine.open : 0;
    const others = [...this.#rows].filter(([other, { until }]) => other !== id && until > this.round);
    const taken = others.reduce((sum, [, { row }]) => sum + row, 0);
    const allowed = fairShare({ most: this.most, processes: others.length + 1, taken });
    const until = this.round + this.leaseRounds;
    this.#rows.set(id, { open: allowed, row: Math.max(open, allowed), until });
  }
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

describe("sharing Slack's connections", () => {
  test('never exceeds the limit, and keeps two open while a process lives', () => {
    const lives = fc.array(
      fc.record({ id: fc.nat({ max: 11 }), from: fc.nat({ max: 20 }), for: fc.nat({ max: 30 }) }),
      {
        minLength: 1,
        maxLength: 12,
      },
    );
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 10 }), lives, (most, spans) => {
        const model = new Model(most);
        for (; model.round < 60; model.round += 1) {
          const alive = spans.filter(
            (span) => span.from <= model.round && model.round <= span.from + span.for,
          );
          for (const { id } of alive) {
            model.renew(id);
            expect(model.open).toBeLessThanOrEqual(most);
          }
        }
        const survivor = 100;
        const until = model.round + model.leaseRounds + 1;
        for (; model.round < until; model.round += 1) model.renew(survivor);
        expect(model.open).toBe(2);
      }),
    );
  });

  test('spreads them: with more processes than pairs each has one, and a late process gets one', () => {
    const model = new Model(8);
    for (let rounds = 0; rounds < 4; rounds += 1, model.round += 1) {
      for (const id of [1, 2, 3, 4]) model.renew(id);
    }
    expect(model.living.map(({ open }) => open)).toEqual([2, 2, 2, 2]);
    for (let rounds = 0; rounds < 4; rounds += 1, model.round += 1) {
      for (const id of [5, 1, 2, 3, 4]) model.renew(id);
    }
    expect(model.living.map(({ open }) => open)).toEqual([1, 1, 1, 1, 1]);
  });
});
