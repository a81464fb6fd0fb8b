import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { fairShare } from '../../../src/listeners/socket-mode-pool.ts';
import { type ShareRule, SOCKET_LEASE_MS, SocketLeases } from '../../../src/store/slack/socket-leases.ts';
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

/** The rule of the pool. */
const upTo =
  (most: number): ShareRule =>
  (at) =>
    fairShare({ most, ...at });

describe("sharing Slack's connections", () => {
  test('a single process has two; a process that asks while none is free has none until another leaves', async () => {
    const [one, two] = processesOf(2);
    if (one === undefined || two === undefined) throw new Error('two were asked for');
    expect(await receivers.renew(one, 0, upTo(2))).toEqual({ allowed: 2, processes: 1 });
    expect(await receivers.renew(two, 0, upTo(2))).toEqual({ allowed: 0, processes: 2 });
    // It has two open still, so the place is not free before it says that one is closed.
    expect(await receivers.renew(one, 2, upTo(2))).toEqual({ allowed: 1, processes: 2 });
    expect((await receivers.renew(two, 0, upTo(2))).allowed).toBe(0);
    await receivers.renew(one, 1, upTo(2));
    expect((await receivers.renew(two, 0, upTo(2))).allowed).toBe(1);
    await receivers.release(one);
    expect(await receivers.renew(two, 1, upTo(2))).toEqual({ allowed: 2, processes: 1 });
  });

  test('twelve processes that ask at the same time do not exceed the limit', async () => {
    const shares = await Promise.all(processesOf(12).map((process) => receivers.renew(process, 0, upTo(8))));
    expect(shares.reduce((sum, { allowed }) => sum + allowed, 0)).toBe(8);
  });

  test('a silent process keeps its connections for its lease and no longer', async () => {
    const [dead, heir] = processesOf(2);
    if (dead === undefined || heir === undefined) throw new Error('two were asked for');
    await receivers.renew(dead, 0, upTo(2));
    expect((await receivers.renew(heir, 0, upTo(2))).allowed).toBe(0);
    await database.pool.query(
      `update socket_leases set expires_at = expires_at - $1::float8 * interval '1 ms' where process_id = $2`,
      [SOCKET_LEASE_MS, dead.process_id],
    );
    expect(await receivers.renew(heir, 0, upTo(2))).toEqual({ allowed: 2, processes: 1 });
  });
});
