import { expect, test } from 'vitest';
import { isTypeAllowed, throwIfNotAllowed } from '../../../src/relay/sending/allowed-files.ts';

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

test.each([
  ['empty', 0, 0],
  ['message_full', 60, 50],
])('a file that makes its message %s is not sent', (reason, sizeBytes, otherBytes) => {
  const limits = {
    maxFileBytes: 100,
    maxMessageBytes: 100,
    maxMessageFiles: 5,
    allowedTypes: [],
    refusedTypes: [],
  };
  const file = { name: 'a.csv', mime: 'text/csv', sizeBytes };
  expect(() => throwIfNotAllowed(file, otherBytes, limits)).toThrow(reason);
  expect(() => throwIfNotAllowed({ ...file, sizeBytes: 50 }, 50, limits)).not.toThrow();
});
