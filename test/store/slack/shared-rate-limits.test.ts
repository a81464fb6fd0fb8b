import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { SharedRateLimits } from '../../../src/store/slack/shared-rate-limits.ts';
import { freshDatabase } from '../../support/fresh-database.ts';

const database = await freshDatabase({ maxConnections: 16 });
const rateLimits = new SharedRateLimits(database.kysely);

/** Takes as often as it is granted, at once. */
async function takeAll(
  limitKey: string,
  pace: { perMinute: number; burst: number },
  most = 50,
): Promise<number> {
  for (let taken = 0; taken < most; taken += 1) {
    if ((await rateLimits.take('T1', limitKey, pace)) > 0) return taken;
  }
  return most;
}

/** As if this had happened so long ago. */
async function age(limitKey: string, seconds: number): Promise<void> {
  await database.pool.query(
    `update rate_limits set theoretical_arrival_at = theoretical_arrival_at - $2 * interval '1 s',
      blocked_until = blocked_until - $2 * interval '1 s',
      rate_reduced_at = rate_reduced_at - $2 * interval '1 s' where limit_key = $1`,
    [limitKey, seconds],
  );
}

describe('a rate limit', () => {
  test('grants its burst at once and then says how long to wait', async () => {
    const pace = { perMinute: 4.4, burst: 4 };
    expect(await takeAll('paced', pace)).toBe(4);
    const waitMs = await rateLimits.take('T1', 'paced', pace);
    expect(waitMs).toBeGreaterThan(10_000);
    expect(waitMs).toBeLessThanOrEqual(Math.ceil(60_000 / 4.4));
  });

  test('grants a larger burst what it denies a smaller one', async () => {
    expect(await takeAll('mixed', { perMinute: 4.4, burst: 4 })).toBe(4);
    expect(await takeAll('mixed', { perMinute: 4.4, burst: 6 })).toBe(2);
    expect(await rateLimits.take('T1', 'mixed', { perMinute: 4.4, burst: 4 })).toBeGreaterThan(25_000);
  });

  test.each([
    ['an hour', 3_600, 0],
    ['a day', 86_400, 60_000],
  ])('does not wait for the clock that went back by %s', async (_, seconds, pauseMs) => {
    const pace = { perMinute: 30, burst: 2 };
    const limitKey = `back by ${seconds}`;
    expect(await takeAll(limitKey, pace)).toBe(2);
    if (pauseMs > 0) await rateLimits.pause('T1', limitKey, pauseMs);
    await age(limitKey, -seconds);
    expect(await takeAll(limitKey, pace)).toBe(2);
    await rateLimits.pause('T1', limitKey, 30_000);
    const waitMs = await rateLimits.take('T1', limitKey, pace);
    expect(waitMs).toBeGreaterThan(29_000);
    expect(waitMs).toBeLessThanOrEqual(30_000);
  });

  test('grants again after the returned wait', async () => {
    const pace = { perMinute: 600, burst: 1 };
    let waitMs = 0;
    while (waitMs === 0) waitMs = await rateLimits.take('T1', 'waiting', pace);
    await sleep(waitMs + 5);
    expect(await rateLimits.take('T1', 'waiting', pace)).toBe(0);
  });

  test('is granted with others that are asked at the same moment, in one statement', async () => {
    const pace = { perMinute: 60, burst: 1 };
    expect(await rateLimits.take('T1', 'first', pace)).toBe(0);
    const query = vi.spyOn(pg.Client.prototype, 'query');
    onTestFinished(() => query.mockRestore());
    const answers = await Promise.all(
      ['first', 'second', 'third'].map((limitKey) => rateLimits.take('T1', limitKey, pace)),
    );
    expect(answers.map((waitMs) => waitMs === 0)).toEqual([false, true, true]);
    // What else runs in this process asks other tables.
    const ofLimits = query.mock.calls.filter((call) => JSON.stringify(call).includes('rate_limits'));
    expect(ofLimits).toHaveLength(1);
  });

  test('is separate for each workspace and each kind of call', async () => {
    const pace = { perMinute: 1, burst: 1 };
    expect(await rateLimits.take('T1', 'a', pace)).toBe(0);
    expect(await rateLimits.take('T1', 'b', pace)).toBe(0);
    expect(await rateLimits.take('T2', 'a', pace)).toBe(0);
    expect(await rateLimits.take('T1', 'a', pace)).toBeGreaterThan(0);
  });
});

describe('a block', () => {
  test('applies to all callers until it ends, also on an unused limit', async () => {
    const pace = { perMinute: 6_000, burst: 10 };
    await rateLimits.pause('T1', 'held', 60_000);
    await rateLimits.pause('T1', 'held', 10);
    const waitMs = await rateLimits.take('T1', 'held', pace);
    expect(waitMs).toBeGreaterThan(50_000);
    expect(waitMs).toBeLessThanOrEqual(60_000);
    expect(await rateLimits.take('T2', 'held', pace)).toBe(0);
    await age('held', 60);
    expect(await rateLimits.take('T1', 'held', pace)).toBe(0);
  });
});

describe('a 429', () => {
  const rule = { perMinute: 60, burst: 5 };

  /** What one permit costs now, as a share of what it costs at full pace. */
  async function cost(limitKey: string): Promise<number> {
    const paidAt = async () => {
      const { rows } = await database.pool.query<{ at: number }>(
        'select extract(epoch from theoretical_arrival_at)::float8 as at from rate_limits where limit_key = $1',
        [limitKey],
      );
      return rows[0]?.at ?? 0;
    };
    // The first pays for the time that nobody used.
    expect(await rateLimits.take('T1', limitKey, rule)).toBe(0);
    const before = await paidAt();
    expect(await rateLimits.take('T1', limitKey, rule)).toBe(0);
    return (await paidAt()) - before;
  }

  test('reduces the rate for everybody, once for simultaneous ones, and the rate recovers', async () => {
    await rateLimits.pause('T1', 'slowed', 10);
    await rateLimits.pause('T1', 'slowed', 10);
    await age('slowed', 30);
    expect(await cost('slowed')).toBeCloseTo(1 / 0.9, 1);
    await age('slowed', 30);
    expect(await cost('slowed')).toBeCloseTo(1, 1);
  });

  test('reduces the rate repeatedly, to 0.3 at least', async () => {
    await rateLimits.take('T1', 'refused', rule);
    for (const factor of [0.8, 0.64, 0.512, 0.41, 0.328, 0.3, 0.3]) {
      await rateLimits.pause('T1', 'refused', 0);
      const { rows } = await database.pool.query<{ factor: number }>(
        "select rate_factor as factor from rate_limits where limit_key = 'refused'",
      );
      // Each comes 2.2 seconds after the one before.
      expect(rows[0]?.factor).toBeGreaterThanOrEqual(factor - 0.001);
      expect(rows[0]?.factor).toBeLessThan(factor + 0.03);
      await age('refused', 2.2);
    }
  });

  test('does not enlarge the burst', async () => {
    for (let count = 0; count < 6; count += 1) {
      await rateLimits.pause('T1', 'shallow', 0);
      await age('shallow', 3);
    }
    // Each permit costs 33 s, and the room is 40 s.
    const slow = { perMinute: 6, burst: 5 };
    expect(await takeAll('shallow', slow)).toBe(2);
    const waitMs = await rateLimits.take('T1', 'shallow', slow);
    expect(waitMs).toBeGreaterThan(20_000);
    expect(waitMs).toBeLessThan(27_000);
  });
});

describe('under 16 clients at once', () => {
  test('no sliding window exceeds the burst and its rate, and little is left unused', async () => {
    // The database itself notes when it granted, so that the windows are exact.
    await database.pool.query(`
      create table grants (at double precision);
      create function note_grant() returns trigger language plpgsql as
        'begin insert into grants values (extract(epoch from clock_timestamp()) * 1000); return null; end';
      create trigger note after insert or update of theoretical_arrival_at on rate_limits
        for each row execute function note_grant()`);
    // A hundred times faster than a real limit: 100 a second stand for 100 a minute.
    const pace = { perMinute: 6_000, burst: 20 };
    const started = performance.now();
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        while (performance.now() - started < 3_000) {
          const waitMs = await rateLimits.take('T1', 'crowd', pace);
          if (waitMs > 0) await sleep(Math.min(waitMs, 20));
        }
      }),
    );
    const { rows } = await database.pool.query<{ at: number }>('select at from grants order by at');
    const times = rows.map(({ at }) => at);
    const most = (windowMs: number) =>
      Math.max(...times.map((from) => times.filter((time) => time >= from && time < from + windowMs).length));
    for (const windowMs of [10, 100, 600, 2_000])
      expect(most(windowMs)).toBeLessThanOrEqual(20 + windowMs / 10);
    expect(most(600)).toBeGreaterThanOrEqual(50);
  });

  test('simultaneous requests on a full limit get exactly the burst', async () => {
    const pace = { perMinute: 2, burst: 10 };
    const answers = await Promise.all(Array.from({ length: 64 }, () => rateLimits.take('T1', 'rush', pace)));
    expect(answers.filter((waitMs) => waitMs === 0)).toHaveLength(10);
  });
});
