import { expect, test } from 'vitest';
import { formatSize } from '../../../src/render/text/file-size.ts';

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
