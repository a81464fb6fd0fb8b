import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { askedBy, neededFor, SharedLoads } from '../../src/calls/askers.ts';
import { ttlCache } from '../../src/calls/shared-calls.ts';
import { SlackRateLimitError } from '../../src/slack/errors.ts';
import type { PermitRequest, PermitStore } from '../../src/slack/permit-queue.ts';
import { RateLimiter, rateLimitTable } from '../../src/slack/rate-limits.ts';
import { InMemoryRateLimits } from '../support/in-memory-rate-limits.ts';
import { silentLog } from '../support/silent-log.ts';

const edits = 'chat.update';

/** Whether a limiter of this test does it. */
const isOwn = new AsyncLocalStorage<true>();

class OwnLimiter extends RateLimiter {
  override permit(...args: Parameters<RateLimiter['permit']>): ReturnType<RateLimiter['permit']> {
    return isOwn.run(true, () => super.permit(...args));
  }
}

function newLimiter(store: PermitStore = rateLimits, workspace = 'T1'): RateLimiter {
  return new OwnLimiter({ workspace, store, rateLimits: rateLimitTable(), log: silentLog });
}

let rateLimits: InMemoryRateLimits;
let rateLimiter: RateLimiter;

beforeEach(() => {
  vi.useFakeTimers();
  watchOwnTimers();
  vi.advanceTimersByTime(1_000_000);
  rateLimits = new InMemoryRateLimits();
  rateLimiter = newLimiter();
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  const left = ownTimers.size;
  ownTimers.clear();
  if (left > 0) throw new Error(`${left} timers are left running although nobody waits.`);
});

/** The running timers of the test's limiters. What earlier files of the worker left may set timers meanwhile, also in src/slack. */
const ownTimers = new Set<unknown>();

function watchOwnTimers(): void {
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  vi.stubGlobal('setTimeout', (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    const timer = set(() => {
      ownTimers.delete(timer);
      run(...args);
    }, ms);
    if (isOwn.getStore() === true) ownTimers.add(timer);
    return timer;
  });
  vi.stubGlobal('clearTimeout', (timer: NodeJS.Timeout | undefined) => {
    ownTimers.delete(timer);
    clear(timer);
  });
}

/** Asks and notes its name when it gets its permit. */
function line(into: string[], name: string, wish: PermitRequest = {}): Promise<void> {
  return rateLimiter.permit(edits, wish).then((permit) => {
    into.push(permit === undefined ? `${name} left out` : name);
  });
}

/** Uses up all that the limit has at once. */
async function drain(count = 5): Promise<void> {
  const asks = Array.from({ length: count }, () =>
    rateLimiter.permit(edits, { priority: () => ({ order: 0, since: 0 }) }),
  );
  await vi.advanceTimersByTimeAsync(0);
  await Promise.all(asks);
}

describe('the order of requests', () => {
  test('final edits go first, then replies that show nothing yet, then the oldest unseen text', async () => {
    await drain();
    const got: string[] = [];
    const all = Promise.all([
      line(got, 'young', { priority: () => ({ order: 2, since: 900 }) }),
      line(got, 'old', { priority: () => ({ order: 2, since: 100 }) }),
      line(got, 'blank', { priority: () => ({ order: 1, since: 950 }) }),
      line(got, 'final', { priority: () => ({ order: 0, since: 990 }) }),
    ]);
    await vi.advanceTimersByTimeAsync(20_000);
    await all;
    expect(got).toEqual(['final', 'blank', 'old', 'young']);
  });

  test('priorities are read when a permit is available, not when it is requested', async () => {
    await drain();
    const got: string[] = [];
    let order = 2;
    const all = Promise.all([
      line(got, 'first asked', { priority: () => ({ order: 1, since: 0 }) }),
      line(got, 'became final', { priority: () => ({ order, since: 0 }) }),
    ]);
    await vi.advanceTimersByTimeAsync(100);
    order = 0;
    await vi.advanceTimersByTimeAsync(10_000);
    await all;
    expect(got).toEqual(['became final', 'first asked']);
  });

  test('a final edit may use a deeper burst than live edits', async () => {
    const got: string[] = [];
    const live = Array.from({ length: 6 }, () =>
      line(got, 'live', { priority: () => ({ order: 2, since: 0 }) }),
    );
    await vi.advanceTimersByTimeAsync(0);
    expect(got).toEqual(['live', 'live', 'live', 'live']);
    const final = line(got, 'final', { priority: () => ({ order: 0, since: 0 }) });
    await vi.advanceTimersByTimeAsync(0);
    expect(got.at(-1)).toBe('final');
    await vi.advanceTimersByTimeAsync(10_000);
    await Promise.all([final, ...live]);
  });

  test('no request goes before its earliest time, and a ready one does not wait for it', async () => {
    const got: string[] = [];
    const start = performance.now();
    const late = line(got, 'late', {
      notBefore: () => start + 3_000,
      priority: () => ({ order: 0, since: 0 }),
    });
    const ready = line(got, 'ready', { priority: () => ({ order: 2, since: 0 }) });
    await vi.advanceTimersByTimeAsync(2_999);
    expect(got).toEqual(['ready']);
    await vi.advanceTimersByTimeAsync(1);
    expect(got).toEqual(['ready', 'late']);
    await Promise.all([late, ready]);
  });

  test('requests give up at once if an exhausted limit cannot serve them in time', async () => {
    await drain();
    const got: string[] = [];
    const first = (since: number) => ({ maxWaitMs: 3_000, priority: () => ({ order: 0, since }) });
    const all = Promise.all(['a', 'b', 'c', 'd'].map((name, index) => line(got, name, first(index))));
    await vi.advanceTimersByTimeAsync(10);
    expect(got).toEqual(['c left out', 'd left out']);
    await vi.advanceTimersByTimeAsync(3_000);
    await all;
    expect(got).toEqual(['c left out', 'd left out', 'a', 'b']);
  });

  test('a flood of final edits does not starve a live edit', async () => {
    await drain();
    const got: string[] = [];
    const live = line(got, 'live', { priority: () => ({ order: 2, since: 0 }) });
    const finals = Array.from({ length: 40 }, () =>
      line(got, 'final', { priority: () => ({ order: 0, since: 0 }) }),
    );
    await vi.advanceTimersByTimeAsync(60_000);
    await Promise.all([live, ...finals]);
    expect(got.indexOf('live')).toBe(10);
  });

  test('nobody with many requests holds up the first one of another, even after a shared one', async () => {
    await drain();
    const got: string[] = [];
    const shared = new SharedLoads();
    const cache = ttlCache(10, 60_000, async (name) => {
      await line(got, name, { priority: () => ({ order: 1 }) });
      return name;
    });
    const load = (name: string) => shared.join(name, () => cache.forceFetch(name));
    const ofAda = (name: string) => askedBy('ada', () => load(name));
    const all = ['a1', 'a2', 'a3', 'a4', 'shared'].map(ofAda);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(got).toEqual(['a1']);
    all.push(
      askedBy('grace', () => load('shared')),
      askedBy('grace', () => load('g1')),
      load('of nobody'),
    );
    await vi.advanceTimersByTimeAsync(20_000);
    await Promise.all(all);
    expect(got).toEqual(['a1', 'shared', 'of nobody', 'a2', 'g1', 'a3', 'a4']);
  });

  test('what somebody waits for goes before names, and those before what people only view', async () => {
    const got: string[] = [];
    const look = async (name: string) => {
      if ((await rateLimiter.permit('users.info', {})) !== undefined) got.push(name);
    };
    const shared = new SharedLoads();
    const cache = ttlCache(10, 60_000, async (name) => {
      await look(name);
      return name;
    });
    const load = () => shared.join('of both', () => cache.forceFetch('of both'));
    const views = Array.from({ length: 40 }, () => neededFor('view', () => look('view')));
    await vi.advanceTimersByTimeAsync(0);
    const most = got.length;
    views.push(neededFor('view', () => neededFor('names', () => look('name in a view'))));
    const names = [neededFor('names', () => look('name'))];
    const both = [neededFor('view', load), load()];
    await vi.advanceTimersByTimeAsync(1_000);
    // Some are kept for it.
    expect(got.slice(most)).toEqual(['of both']);
    await vi.advanceTimersByTimeAsync(60_000);
    await Promise.all([...views, ...names, ...both]);
    expect(got.slice(most, most + 3)).toEqual(['of both', 'name', 'view']);
  });

  test('a priority that throws rejects only its own request', async () => {
    const got: string[] = [];
    const broken = line(got, 'broken', {
      priority: () => {
        throw new Error('gone');
      },
    });
    const sound = line(got, 'sound');
    await expect(broken).rejects.toThrow('gone');
    await vi.advanceTimersByTimeAsync(0);
    await sound;
    expect(got).toEqual(['sound']);
  });
});

describe('waiting', () => {
  test('a withdrawn request rejects with its reason, and leaves no timer and no permit used', async () => {
    await drain();
    const asked = rateLimits.asked;
    const withdraw = new AbortController();
    const wish = rateLimiter.permit(edits, { signal: withdraw.signal });
    const [[answer]] = await Promise.all([
      Promise.allSettled([wish]),
      vi.advanceTimersByTimeAsync(10).then(() => withdraw.abort('not needed')),
    ]);
    expect(answer).toEqual({ status: 'rejected', reason: 'not needed' });
    expect(ownTimers.size).toBe(0);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(rateLimits.asked).toBeLessThanOrEqual(asked + 1);
  });

  test('no timer of another limiter in this worker counts as left by this test', async () => {
    await drain();
    const withdraw = new AbortController();
    const wish = { signal: withdraw.signal };
    const setUp = { workspace: 'T1', store: rateLimits, rateLimits: rateLimitTable(), log: silentLog };
    const others = new RateLimiter(setUp).permit(edits, wish);
    await vi.advanceTimersByTimeAsync(10);
    expect(ownTimers.size).toBe(0);
    const own = rateLimiter.permit(edits, wish);
    await vi.advanceTimersByTimeAsync(10);
    expect(ownTimers.size).toBe(1);
    withdraw.abort('not needed');
    expect(await Promise.allSettled([others, own])).toHaveLength(2);
  });

  test('a request with an aborted signal rejects at once', async () => {
    await expect(rateLimiter.permit(edits, { signal: AbortSignal.abort(new Error('over')) })).rejects.toThrow(
      'over',
    );
  });

  test('the store is asked once for each permit or wait, and never without a request', async () => {
    await drain();
    const before = rateLimits.asked;
    const wish = rateLimiter.permit(edits, {});
    await vi.advanceTimersByTimeAsync(5_000);
    await wish;
    expect(rateLimits.asked - before).toBe(2);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(rateLimits.asked - before).toBe(2);
  });

  test('an optional call is skipped at once if no permit is available soon', async () => {
    await drain();
    const got: string[] = [];
    const ornament = line(got, 'mark', { maxWaitMs: 500 });
    await vi.advanceTimersByTimeAsync(1);
    await ornament;
    expect(got).toEqual(['mark left out']);
  });

  test('an optional call with a low priority is skipped after its time limit', async () => {
    await drain();
    const got: string[] = [];
    const others = Array.from({ length: 4 }, () =>
      line(got, 'edit', { priority: () => ({ order: 0, since: 0 }) }),
    );
    const ornament = line(got, 'mark', { maxWaitMs: 4_000, priority: () => ({ order: 3, since: 0 }) });
    await vi.advanceTimersByTimeAsync(4_001);
    await ornament;
    expect(got).toContain('mark left out');
    await vi.advanceTimersByTimeAsync(10_000);
    await Promise.all(others);
  });

  test('a returned permit serves the next request', async () => {
    await drain(4);
    const permit = await rateLimiter.permit(edits, { priority: () => ({ order: 0, since: 0 }) });
    const asked = rateLimits.asked;
    permit?.release();
    permit?.release();
    const next = rateLimiter.permit(edits, {});
    await vi.advanceTimersByTimeAsync(0);
    await next;
    expect(rateLimits.asked).toBe(asked);
    const third = rateLimiter.permit(edits, {});
    await vi.advanceTimersByTimeAsync(0);
    expect(rateLimits.asked).toBe(asked + 1);
    await vi.advanceTimersByTimeAsync(5_000);
    await third;
  });

  test('requests wait while the store is unavailable, and get their permits afterwards', async () => {
    rateLimits.failures = 4;
    const got: string[] = [];
    const wish = line(got, 'edit');
    await vi.advanceTimersByTimeAsync(3_000);
    expect(got).toEqual([]);
    await vi.advanceTimersByTimeAsync(2_000);
    await wish;
    expect(got).toEqual(['edit']);
    expect(rateLimits.asked).toBe(5);
  });
});

describe('after a refusal by Slack', () => {
  test('the limit is paused for the time that Slack names, here and in the store, and the call is retried', async () => {
    const calls: number[] = [];
    const start = performance.now();
    const done = rateLimiter.run(edits, {}, () => {
      calls.push(performance.now() - start);
      if (calls.length === 1) return Promise.reject(throttled(7_000));
      return Promise.resolve('done');
    });
    await vi.advanceTimersByTimeAsync(6_999);
    expect(calls).toEqual([0]);
    const other = newLimiter();
    const got: string[] = [];
    const elsewhere = other.permit(edits, {}).then(() => got.push('elsewhere'));
    await vi.advanceTimersByTimeAsync(0);
    expect(got).toEqual([]);
    await vi.advanceTimersByTimeAsync(2);
    expect(await done).toBe('done');
    await elsewhere;
    expect(calls).toHaveLength(2);
    expect(calls[1]).toBeGreaterThanOrEqual(7_000);
  });

  test('no other method and no other workspace waits', async () => {
    rateLimiter.backOff(edits, 30_000);
    expect(await rateLimiter.permit('chat.postMessage', {})).toBeDefined();
    expect(await newLimiter(rateLimits, 'T2').permit(edits, {})).toBeDefined();
  });

  test('refusals of simultaneous calls slow the limit once, and it recovers', async () => {
    const factor = () => rateLimits.factor('T1', 'chat.update');
    rateLimiter.backOff(edits, 0);
    rateLimiter.backOff(edits, 1_000);
    expect(factor()).toBeCloseTo(0.8, 5);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(factor()).toBeCloseTo(0.9, 5);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(factor()).toBe(1);
  });

  test('an unavailable store does not lift the pause', async () => {
    const hold = vi.spyOn(rateLimits, 'pause').mockRejectedValue(new Error('away'));
    rateLimiter.backOff(edits, 5_000);
    const got: string[] = [];
    const wish = line(got, 'edit');
    await vi.advanceTimersByTimeAsync(4_999);
    expect(got).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await wish;
    expect(hold).toHaveBeenCalledTimes(1);
  });

  test('an optional call is not retried', async () => {
    let calls = 0;
    const done = rateLimiter.run(edits, { maxWaitMs: 1_000 }, () => {
      calls += 1;
      return Promise.reject(throttled(100));
    });
    expect(await done).toBeUndefined();
    expect(calls).toBe(1);
    await vi.advanceTimersByTimeAsync(60_000);
  });

  test('other errors reach the caller', async () => {
    await expect(rateLimiter.run(edits, {}, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  });

  test('a call fails after eight refusals', async () => {
    let calls = 0;
    const done = rateLimiter.run(edits, {}, () => {
      calls += 1;
      return Promise.reject(throttled(1_000));
    });
    const failed = done.catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await failed).toBeInstanceOf(SlackRateLimitError);
    expect(calls).toBe(8);
  });
});

describe('processes that share a limit', () => {
  /** Two in each process who always want an edit; the answer tells how many each process got in so many ms. */
  async function compete(processes: readonly RateLimiter[], ms: number): Promise<number[]> {
    const over = new AbortController();
    const got = processes.map(() => 0);
    const asker = async (process: RateLimiter, index: number) => {
      try {
        for (;;) {
          await process.permit(edits, { signal: over.signal });
          got[index] = (got[index] ?? 0) + 1;
        }
      } catch (error) {
        if (error !== over.signal.reason) throw error;
      }
    };
    const askers = processes.flatMap((process, index) => [asker(process, index), asker(process, index)]);
    await vi.advanceTimersByTimeAsync(ms);
    over.abort(new Error('over'));
    await Promise.all(askers);
    return got;
  }

  const other = () => newLimiter();
  const sum = (counts: readonly number[]) => counts.reduce((a, b) => a + b, 0);

  test.each([0, 1, 6])(
    'get equally many permits after one of them was refused %i times',
    async (refusals) => {
      const processes = [rateLimiter, other()];
      for (let count = 0; count < refusals; count += 1) {
        rateLimiter.backOff(edits, 1_000);
        await vi.advanceTimersByTimeAsync(2_000);
      }
      const got = await compete(processes, 60_000);
      expect(Math.abs((got[0] ?? 0) - (got[1] ?? 0))).toBeLessThanOrEqual(2);
    },
  );

  test('get about equal shares even if some have a slower connection to the store', async () => {
    const far = [0, 1, 4].map((ms) => {
      const away = () => new Promise((resolve) => setTimeout(resolve, ms));
      const store: PermitStore = {
        take: async (...question) => {
          await away();
          const waitMs = await rateLimits.take(...question);
          await away();
          return waitMs;
        },
        pause: (...hold) => rateLimits.pause(...hold),
      };
      return newLimiter(store);
    });
    const got = await compete(far, 120_000);
    await vi.advanceTimersByTimeAsync(100);
    expect(Math.min(...got)).toBeGreaterThan(Math.max(...got) * 0.75);
  });

  test('slow down and recover together, whichever of them asks', async () => {
    const calm = other();
    const half = 11;
    for (let count = 0; count < 6; count += 1) {
      rateLimiter.backOff(edits, 1_000);
      await vi.advanceTimersByTimeAsync(2_000);
    }
    await compete([calm], 5_000);
    expect(sum(await compete([calm], 30_000))).toBeLessThan(half);
    expect(sum(await compete([rateLimiter], 30_000))).toBeLessThan(half);
    await vi.advanceTimersByTimeAsync(420_000);
    for (const process of [rateLimiter, calm])
      expect(sum(await compete([process], 30_000))).toBeGreaterThanOrEqual(2 * half - 1);
  });

  test('a final edit of the other process goes before live edits of the refused one', async () => {
    const calm = other();
    rateLimiter.backOff(edits, 1_000);
    const over = new AbortController();
    const live = Array.from({ length: 20 }, () => rateLimiter.permit(edits, { signal: over.signal }));
    const ended = Promise.allSettled(live);
    await vi.advanceTimersByTimeAsync(10_000);
    const asked = performance.now();
    let waited = Number.POSITIVE_INFINITY;
    const final = calm.permit(edits, { priority: () => ({ order: 0, since: 0 }) }).then(() => {
      waited = performance.now() - asked;
    });
    await vi.advanceTimersByTimeAsync(5_000);
    over.abort(new Error('over'));
    await Promise.all([final, ended]);
    expect(waited).toBeLessThan(1_000);
  });
});

function throttled(ms: number): SlackRateLimitError {
  return new SlackRateLimitError({ method: 'chat.update', slackCode: 'ratelimited' }, ms);
}

test('posts that wait for their channel take no permits from the other channels of the workspace', async () => {
  const post = (channel: string) =>
    rateLimiter.run('chat.postMessage', {}, async () => performance.now(), channel);
  const busy = Array.from({ length: 200 }, () => post('C1'));
  await vi.advanceTimersByTimeAsync(5_000);
  const since = performance.now();
  const other = post('C2');
  await vi.advanceTimersByTimeAsync(300_000);
  expect(((await other) ?? Number.NaN) - since).toBeLessThan(100);
  await Promise.all(busy);
});
