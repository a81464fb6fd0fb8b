import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ReadRate } from '../../../src/relay/runtime/read-rate.ts';
import type { InterruptibleWait } from '../../../src/relay/runtime/retry.ts';

const never = new AbortController().signal;

beforeEach(
  () =>
    void vi.useFakeTimers({
      toFake: ['performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
    }),
);
afterEach(() => void vi.useRealTimers());

/** Asks for so many turns at once; the answer tells how many were had. */
function asking(rate: ReadRate, turns: number): { had: number } {
  const count = { had: 0 };
  for (let turn = 0; turn < turns; turn += 1) {
    void rate.acquire(never).then(() => {
      count.had += 1;
    });
  }
  return count;
}

test('each reply may read once a second, or as often as all of them together may', () => {
  const rate = new ReadRate(20);
  const leave = Array.from({ length: 10 }, () => rate.join());
  expect(rate.intervalMs()).toBe(1_000);
  const more = Array.from({ length: 90 }, () => rate.join());
  expect(rate.intervalMs()).toBe(5_000);
  for (const each of [...leave, ...more, ...more]) each();
  expect(rate.intervalMs()).toBe(1_000);
});

test('turns are given at the rate', async () => {
  const count = asking(new ReadRate(20), 1_000);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(count.had).toBeGreaterThanOrEqual(200);
  expect(count.had).toBeLessThanOrEqual(202);
});

test('turns are given in the order of asking', async () => {
  const rate = new ReadRate(20);
  const order: number[] = [];
  for (const turn of [1, 2, 3, 4]) void rate.acquire(never).then(() => order.push(turn));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(order).toEqual([1, 2, 3, 4]);
});

test('reads whose edit is due go before those that waited longer', async () => {
  const rate = new ReadRate(20);
  const others = asking(rate, 100);
  await vi.advanceTimersByTimeAsync(500);
  let had = false;
  void rate.acquire(never, undefined, 60_000).then(() => {
    had = true;
  });
  await vi.advanceTimersByTimeAsync(51);
  expect(had).toBe(true);
  expect(others.had).toBeLessThan(15);
});

test('more due reads than the rate has room for stay within it, and leave the others their share', async () => {
  const rate = new ReadRate(20);
  let due = 0;
  const steady = setInterval(() => {
    void rate.acquire(never, undefined, 1_000).then((had) => {
      due += had ? 1 : 0;
    });
  }, 45);
  const others = asking(rate, 1_000);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(due + others.had).toBeLessThanOrEqual(402);
  expect(due).toBeGreaterThanOrEqual(290);
  expect(others.had).toBeGreaterThanOrEqual(95);
  clearInterval(steady);
  const before = others.had;
  await vi.advanceTimersByTimeAsync(2_000);
  // No debt is left behind but the due reads of the last second.
  expect(others.had - before).toBeGreaterThanOrEqual(20);
});

test('a wait that is ended, or whose time is up, uses no turn', async () => {
  const rate = new ReadRate(1);
  const wait: InterruptibleWait = { end: undefined };
  await rate.acquire(never);
  const ended = rate.acquire(never, wait);
  const late = rate.acquire(never, undefined, 100);
  const next = rate.acquire(never);
  wait.end?.();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await Promise.all([ended, late, next])).toEqual([false, false, true]);
});

test('nobody reads while the service asks for a pause', async () => {
  const rate = new ReadRate(20);
  rate.pauseFor(5_000);
  let open = false;
  void rate.waitForPauseEnd(never).then(() => {
    open = true;
  });
  const count = asking(rate, 3);
  await vi.advanceTimersByTimeAsync(4_990);
  expect([count.had, open]).toEqual([0, false]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect([count.had, open]).toEqual([3, true]);
});

test('who is called off does not use a turn', async () => {
  const rate = new ReadRate(1);
  const off = new AbortController();
  await rate.acquire(never);
  const refused = rate.acquire(off.signal).catch(() => 'called off');
  const next = rate.acquire(never).then(() => 'had');
  off.abort();
  expect(await refused).toBe('called off');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await next).toBe('had');
});

test('timers that are late do not slow the rate down', async () => {
  const timely = globalThis.setTimeout;
  vi.stubGlobal('setTimeout', (go: () => void, ms: number) => timely(go, ms + 5));
  const count = asking(new ReadRate(20), 1_000);
  await vi.advanceTimersByTimeAsync(10_000);
  vi.unstubAllGlobals();
  expect(count.had).toBeGreaterThanOrEqual(198);
});
