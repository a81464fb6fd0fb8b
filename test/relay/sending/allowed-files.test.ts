import { expect, test } from 'vitest';
import { isTypeAllowed } from '../../../src/relay/sending/allowed-files.ts';

test.each([
  [['.csv'], [], true],
  [['.CSV'], [], true],
  [['text/*'], [], true],
  [['text/csv'], [], true],
  [['.tsv', 'image/*'], [], false],
  [[], ['.csv'], false],
  [['.csv'], ['text/*'], false],
  [[], ['text'], true],
])('with allowed types %j and refused types %j, a CSV is sent: %s', (allowed, refused, taken) => {
  expect(
    isTypeAllowed(
      { name: 'A.Csv', mime: 'text/csv; charset=utf-8' },
      { allowedTypes: allowed, refusedTypes: refused },
    ),
  ).toBe(taken);
});
