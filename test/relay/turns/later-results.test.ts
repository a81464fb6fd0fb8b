import { expect, test } from 'vitest';
import { followUpPauseMs, nextCheck } from '../../../src/relay/turns/later-results.ts';

test('a task is checked at most twelve times in the hour after its answer, soon at first', () => {
  const minutes: number[] = [];
  let seconds = 0;
  while (seconds < 3_600) {
    // The last check is at the end of the hour.
    seconds = Math.min(3_600, seconds + followUpPauseMs(minutes.length, 10_000) / 1_000);
    minutes.push(Math.round(seconds / 6) / 10);
  }
  expect(minutes).toEqual([0.2, 0.4, 0.9, 1.5, 2.6, 4.4, 7.2, 11.7, 18.8, 30.3, 48.6, 60]);
});

test('the last check is at the end, however long the pause before it', () => {
  const ends_at = new Date(60_000);
  expect(nextCheck({ checks: 0, ends_at }, 10_000, 0)).toEqual({ inMs: 16_000 });
  expect(nextCheck({ checks: 9, ends_at }, 10_000, 20_000)).toEqual({ inMs: 40_000 });
  expect(nextCheck({ checks: 10, ends_at }, 10_000, 60_000)).toBe('done');
});
