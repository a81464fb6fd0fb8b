import { expect, test } from 'vitest';
import { formatDuration, formatRunningTime, formatSize } from '../../src/render/text-format.ts';

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

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [999, '999 bytes'],
  [1_000, '1 KB'],
  [2_449, '2.4 KB'],
  [9_949, '9.9 KB'],
  [9_950, '10 KB'],
  [999_499, '999 KB'],
  [999_500, '1 MB'],
  [5_000_000_000, '5 GB'],
  [7e15, '7000 TB'],
  [-1, 'unknown size'],
  [Number.NaN, 'unknown size'],
])('%d bytes read as %s', (bytes, shown) => {
  expect(formatSize(bytes)).toBe(shown);
});
