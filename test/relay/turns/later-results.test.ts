import { expect, test } from 'vitest';
import { nextCheck } from '../../../src/relay/turns/later-results.ts';

test('a task is checked at most twelve times in the hour after its answer, soon at first', () => {
  const ends_at = new Date(3_600_000);
  const minutes: number[] = [];
  let now = 10_000;
  for (let checks = 0; ; checks += 1) {
    minutes.push(Math.round(now / 6_000) / 10);
    const next = nextCheck({ checks, ends_at }, 10_000, now);
    if (next === 'done') break;
    now += next.inMs;
  }
  expect(minutes).toEqual([0.2, 0.4, 0.9, 1.5, 2.6, 4.4, 7.2, 11.7, 18.8, 30.3, 48.6, 60]);
});

test('the last check is at the end, however long the pause before it', () => {
  const ends_at = new Date(60_000);
  expect(nextCheck({ checks: 0, ends_at }, 10_000, 0)).toEqual({ inMs: 16_000 });
  expect(nextCheck({ checks: 9, ends_at }, 10_000, 20_000)).toEqual({ inMs: 40_000 });
  expect(nextCheck({ checks: 10, ends_at }, 10_000, 60_000)).toBe('done');
});
