import { describe, expect, test } from 'vitest';
import { RELAY_LIMITS } from '../../../src/limits.ts';
import { nextCheck } from '../../../src/relay/turns/later-results.ts';

const minute = 60_000;
const week = 7 * 24 * 60;

/** When a task is checked after its turn (min). */
function checkTimes(isAtWork: boolean): number[] {
  const minutes: number[] = [];
  for (let watchedMs = RELAY_LIMITS.watchIntervalMs; ; ) {
    minutes.push(Math.round(watchedMs / 6_000) / 10);
    const next = nextCheck(isAtWork, watchedMs, RELAY_LIMITS);
    if (next === 'done') return minutes;
    watchedMs += next.inMs;
  }
}

describe('a task', () => {
  test('is checked at most twelve times in the hour after its answer, soon at first', () => {
    expect(checkTimes(false)).toEqual([0.2, 0.5, 0.8, 1.4, 2.3, 3.7, 6.2, 10.2, 16.8, 27.7, 45.8, 60]);
  });

  test('is checked for a week while it works, each time soon beside how long it has worked', () => {
    const times = checkTimes(true);
    const pauses = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    expect(times.at(-1)).toBe(week);
    expect(times.length).toBeLessThan(800);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(20.1);
    expect(Math.max(...pauses.filter((_, index) => (times[index] ?? 0) < 60))).toBeLessThan(1.2);
  });
});

test('the last check is at the end, however long the pause before it', () => {
  const limits = { watchMs: minute, watchIntervalMs: 10_000, workWatchMs: 2 * minute };
  expect(nextCheck(false, 10_000, limits)).toEqual({ inMs: 20_000 });
  expect(nextCheck(false, 50_000, limits)).toEqual({ inMs: 10_000 });
  expect(nextCheck(false, minute, limits)).toBe('done');
  expect(nextCheck(true, minute, limits)).toEqual({ inMs: 20_000 });
  expect(nextCheck(true, 2 * minute, limits)).toBe('done');
});
