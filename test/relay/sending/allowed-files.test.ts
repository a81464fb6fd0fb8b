import { expect, test } from 'vitest';
import { isTypeAllowed, reasonNotAllowed } from '../../../src/relay/sending/allowed-files.ts';

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
  ['counts.csv.gz', 'text/csv', ['text/csv'], [], false],
  ['counts.csv', 'application/vnd.ms-excel', ['text/csv'], [], true],
  ['calls.vcf', 'text/x-vcard', [], ['text/x-vcard'], false],
  ['page.txt', 'text/html', [], ['text/html'], false],
])(
  '%s, announced as %s, with allowed types %j and refused types %j: %s',
  (name, mime, allowed, refused, taken) => {
    expect(isTypeAllowed({ name, mime }, { allowedTypes: allowed, refusedTypes: refused })).toBe(taken);
  },
);

test('a file that makes its message too large is not sent', () => {
  const limits = {
    maxFileBytes: 100,
    maxMessageBytes: 100,
    maxMessageFiles: 5,
    allowedTypes: [],
    refusedTypes: [],
  };
  const file = { name: 'a.csv', mime: 'text/csv', sizeBytes: 50 };
  expect(reasonNotAllowed(file, 51, limits)).toBe('message_full');
  expect(reasonNotAllowed(file, 50, limits)).toBeUndefined();
});
