import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FailingTime } from '../../../src/relay/runtime/retry-and-giving-up.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});

afterEach(() => {
  vi.useRealTimers();
});

test('the time of a failing thing counts only between failures between which another call succeeded', async () => {
  const failing = new FailingTime();
  let lastSuccessAt = Number.NEGATIVE_INFINITY;
  const failAfter = async (ms: number, others: 'succeed' | 'fail') => {
    vi.advanceTimersByTime(ms / 2);
    if (others === 'succeed') lastSuccessAt = performance.now();
    vi.advanceTimersByTime(ms / 2);
    return failing.count((at) => lastSuccessAt > at);
  };
  expect(await failAfter(60_000, 'succeed')).toBe(0);
  expect(await failAfter(10_000, 'succeed')).toBe(10_000);
  for (let minutes = 0; minutes < 30; minutes += 1) expect(await failAfter(60_000, 'fail')).toBe(10_000);
  expect(await failAfter(20_000, 'succeed')).toBe(30_000);
});
