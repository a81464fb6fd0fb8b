import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ReadRate, type ReadTimes } from '../../../src/relay/runtime/read-rate.ts';

const never = new AbortController().signal;
const lease = { signal: never, draining: never, remainingMs: () => 8_000 };

beforeEach(
  () =>
    void vi.useFakeTimers({
      toFake: ['performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
    }),
);
afterEach(() => void vi.useRealTimers());

/** A read that an edit waits for, for so long (ms), and that comes much later otherwise. */
function dueFor(ms: number): ReadTimes {
  return { notBefore: performance.now() + 3_600_000, dueUntil: performance.now() + ms };
}

/** Requests this many permits at once, and counts those that are granted. */
function requestPermits(rate: ReadRate, permits: number): { granted: number } {
  const count = { granted: 0 };
  for (let permit = 0; permit < permits; permit += 1) {
    void rate.acquire(lease).then(() => {
      count.granted += 1;
    });
  }
  return count;
}

test('each reply may read once a second, twice if it may end soon, or as often as all of them together may', () => {
  const rate = new ReadRate(20);
  const first = Array.from({ length: 10 }, () => rate.join());
  expect([rate.intervalMs(), rate.intervalMs(true)]).toEqual([1_000, 500]);
  const more = Array.from({ length: 90 }, () => rate.join());
  expect([rate.intervalMs(), rate.intervalMs(true)]).toEqual([5_000, 5_000]);
  for (const place of [...first, ...more, ...more]) place[Symbol.dispose]();
  expect(rate.intervalMs()).toBe(1_000);
});

test('permits are granted at the rate', async () => {
  const count = requestPermits(new ReadRate(20), 1_000);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(count.granted).toBeGreaterThanOrEqual(200);
  expect(count.granted).toBeLessThanOrEqual(202);
});

test('permits are granted in the order of the requests', async () => {
  const rate = new ReadRate(20);
  const order: number[] = [];
  for (const request of [1, 2, 3, 4]) void rate.acquire(lease).then(() => order.push(request));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(order).toEqual([1, 2, 3, 4]);
});

test('reads for a due edit go before those that waited longer', async () => {
  const rate = new ReadRate(20);
  const others = requestPermits(rate, 100);
  await vi.advanceTimersByTimeAsync(500);
  let granted = false;
  void rate.acquire(lease, dueFor(60_000)).then(() => {
    granted = true;
  });
  await vi.advanceTimersByTimeAsync(51);
  expect(granted).toBe(true);
  expect(others.granted).toBeLessThan(15);
});

test('more due reads than the rate allows stay within it, and leave the others their share', async () => {
  const rate = new ReadRate(20);
  let due = 0;
  const steady = setInterval(() => {
    void rate.acquire(lease, dueFor(1_000)).then(() => {
      due += 1;
    });
  }, 45);
  const others = requestPermits(rate, 1_000);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(due + others.granted).toBeLessThanOrEqual(402);
  expect(due).toBeGreaterThanOrEqual(290);
  expect(others.granted).toBeGreaterThanOrEqual(95);
  clearInterval(steady);
  const before = others.granted;
  await vi.advanceTimersByTimeAsync(2_000);
  // Only the due reads of the last second are left.
  expect(others.granted - before).toBeGreaterThanOrEqual(20);
});

test('a read that waits comes at its time, or as soon as it is due, and later as the others do', async () => {
  const rate = new ReadRate(20);
  const order: string[] = [];
  const wait = (name: string, times: ReadTimes) =>
    void rate
      .acquire(lease, times)
      .then(() => order.push(`${name} ${Math.round(performance.now() - since)}`));
  const since = performance.now();
  const late = { notBefore: since + 2_000, dueUntil: 0 };
  const latest = { notBefore: since + 60_000, dueUntil: 0 };
  wait('late', late);
  wait('latest', latest);
  wait('early', { notBefore: since + 1_000, dueUntil: 0 });
  await vi.advanceTimersByTimeAsync(500);
  rate.makeDue(late, 1_000);
  rate.pauseFor(400);
  rate.makeDue(latest, 100);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(order).toEqual(['late 500', 'early 1000']);
});

test('no read gets a permit while the service asks for a pause', async () => {
  const rate = new ReadRate(20);
  rate.pauseFor(5_000);
  let open = false;
  void rate.waitForPauseEnd(never).then(() => {
    open = true;
  });
  const count = requestPermits(rate, 3);
  await vi.advanceTimersByTimeAsync(4_990);
  expect([count.granted, open]).toEqual([0, false]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect([count.granted, open]).toEqual([3, true]);
});

test('an aborted request uses no permit', async () => {
  const rate = new ReadRate(1);
  const controller = new AbortController();
  await rate.acquire(lease);
  const refused = rate.acquire({ ...lease, signal: controller.signal }).catch(() => 'aborted');
  const next = rate.acquire(lease).then(() => 'granted');
  controller.abort();
  expect(await refused).toBe('aborted');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await next).toBe('granted');
});

test('timers that are late do not slow the rate down', async () => {
  const timely = globalThis.setTimeout;
  vi.stubGlobal('setTimeout', (go: () => void, ms: number) => timely(go, ms + 5));
  const count = requestPermits(new ReadRate(20), 1_000);
  await vi.advanceTimersByTimeAsync(10_000);
  vi.unstubAllGlobals();
  expect(count.granted).toBeGreaterThanOrEqual(198);
});
