import { expect, test } from 'vitest';
import { formatDuration, formatRunningTime } from '../../../src/render/text/duration.ts';

test.each([
  [-5, 'under a second'],
  [999, 'under a second'],
  [1_000, '1 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [3_599_999, '59 min'],
  [3_600_000, '1 h'],
  [3_900_000, '1 h 5 min'],
  [86_400_000, '1 d'],
  [100_800_000, '1 d 4 h'],
])('%d ms read as %s', (ms, shown) => {
  expect(formatDuration(ms)).toBe(shown);
});

test.each([
  [-1, 'just started'],
  [4_999, 'just started'],
  [5_000, '5 s'],
  [14_999, '10 s'],
  [59_999, '55 s'],
  [60_000, '1 min'],
])('%d ms of running time read as %s', (ms, shown) => {
  expect(formatRunningTime(ms)).toBe(shown);
});
