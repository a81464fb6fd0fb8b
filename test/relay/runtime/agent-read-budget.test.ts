import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ReadRate } from '../../../src/relay/runtime/agent-read-budget.ts';

const never = new AbortController().signal;

beforeEach(
  () =>
    void vi.useFakeTimers({
      toFake: ['performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
    }),
);
afterEach(() => void vi.useRealTimers());

/** Requests this many permits at once, and counts those that are granted. */
function requestPermits(rate: ReadRate, permits: number): { granted: number } {
  const count = { granted: 0 };
  for (let permit = 0; permit < permits; permit += 1) {
    void rate.acquire(never).then(() => {
      count.granted += 1;
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

test('permits are granted at the rate', async () => {
  const count = requestPermits(new ReadRate(20), 1_000);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(count.granted).toBeGreaterThanOrEqual(200);
  expect(count.granted).toBeLessThanOrEqual(202);
});

test('permits are granted in the order of the requests', async () => {
  const rate = new ReadRate(20);
  const order: number[] = [];
  for (const request of [1, 2, 3, 4]) void rate.acquire(never).then(() => order.push(request));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(order).toEqual([1, 2, 3, 4]);
});

test('reads for a due edit go before those that waited longer', async () => {
  const rate = new ReadRate(20);
  const others = requestPermits(rate, 100);
  await vi.advanceTimersByTimeAsync(500);
  let granted = false;
  void rate.acquire(never, undefined, 60_000).then(() => {
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
    void rate.acquire(never, undefined, 1_000).then((granted) => {
      due += granted ? 1 : 0;
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

test('a wait that is ended, or gives up, uses no permit', async () => {
  const rate = new ReadRate(1);
  const wait = new AbortController();
  await rate.acquire(never);
  const ended = rate.acquire(never, wait.signal);
  const late = rate.acquire(never, undefined, 100);
  const next = rate.acquire(never);
  wait.abort();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await Promise.all([ended, late, next])).toEqual([false, false, true]);
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
  await rate.acquire(never);
  const refused = rate.acquire(controller.signal).catch(() => 'aborted');
  const next = rate.acquire(never).then(() => 'granted');
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
