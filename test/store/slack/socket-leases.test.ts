import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fairShare, SOCKET_LEASE_MS, SocketLeases } from '../../../src/store/slack/socket-leases.ts';
import { freshDatabase } from '../../support/fresh-database.ts';

const database = await freshDatabase({ maxConnections: 12 });
const receivers = new SocketLeases(database.kysely);
let apps = 0;

/** A new app's processes. */
function processesOf(count: number) {
  apps += 1;
  const app = `A${apps}`;
  return Array.from({ length: count }, () => ({ workspace: 'T1', app_id: app, process_id: randomUUID() }));
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

  test('a single process has two; a process that asks while none is free has none until another leaves', async () => {
    const [one, two] = processesOf(2);
    if (one === undefined || two === undefined) throw new Error('two were asked for');
    expect(await receivers.renew(one, 0, 2)).toEqual({ allowed: 2, processes: 1 });
    expect(await receivers.renew(two, 0, 2)).toEqual({ allowed: 0, processes: 2 });
    // It has two open still, so the place is not free before it says that one is closed.
    expect(await receivers.renew(one, 2, 2)).toEqual({ allowed: 1, processes: 2 });
    expect((await receivers.renew(two, 0, 2)).allowed).toBe(0);
    await receivers.renew(one, 1, 2);
    expect((await receivers.renew(two, 0, 2)).allowed).toBe(1);
    await receivers.release(one);
    expect(await receivers.renew(two, 1, 2)).toEqual({ allowed: 2, processes: 1 });
  });

  test('twelve processes that ask at the same time do not exceed the limit', async () => {
    const shares = await Promise.all(processesOf(12).map((process) => receivers.renew(process, 0, 8)));
    expect(shares.reduce((sum, { allowed }) => sum + allowed, 0)).toBe(8);
  });

  test('a silent process keeps its connections for its lease and no longer', async () => {
    const [dead, heir] = processesOf(2);
    if (dead === undefined || heir === undefined) throw new Error('two were asked for');
    await receivers.renew(dead, 0, 2);
    expect((await receivers.renew(heir, 0, 2)).allowed).toBe(0);
    await database.pool.query(
      `update socket_leases set expires_at = expires_at - $1::float8 * interval '1 ms' where process_id = $2`,
      [SOCKET_LEASE_MS, dead.process_id],
    );
    expect(await receivers.renew(heir, 0, 2)).toEqual({ allowed: 2, processes: 1 });
  });
});
