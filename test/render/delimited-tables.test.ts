import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isTabSeparated, parseDelimitedTable } from '../../src/render/delimited-tables.ts';

describe('reading a table', () => {
  test.each([
    [
      'commas',
      'a,b\n1,2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'tabs',
      'a\tb\r\n1\t2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'semicolons',
      'a;b\n1,5;2',
      [
        ['a', 'b'],
        ['1,5', '2'],
      ],
    ],
    [
      'quotes',
      'a,b\n"x, ""y""\nz",2',
      [
        ['a', 'b'],
        ['x, "y"\nz', '2'],
      ],
    ],
    [
      'empty cells and lines',
      'a,b\n\n,\n1,',
      [
        ['a', 'b'],
        ['', ''],
        ['1', ''],
      ],
    ],
    [
      'a byte order mark',
      '\uFEFFa,b\n1,2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'a first line that names the separator for Excel',
      '\uFEFFsep=;\r\na;b\r\n1,5;2\r\n',
      [
        ['a', 'b'],
        ['1,5', '2'],
      ],
    ],
    [
      'a header and rows whose ends differ',
      'a,b\r\n1,2\n3,4\r5,6\r\n',
      [
        ['a', 'b'],
        ['1', '2'],
        ['3', '4'],
        ['5', '6'],
      ],
    ],
  ])('reads %s', (_, text, rows) => {
    expect(parseDelimitedTable(text)).toEqual(rows);
  });

  test('restores cells that were written with quotes', () => {
    const cell = fc.string({ maxLength: 12, unit: fc.constantFrom('a', ',', '"', '\n', 'é', ' ', '\t') });
    const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(table, (rows) => {
        const quoted = (value: string) => `"${value.replaceAll('"', '""')}"`;
        const text = ['h,h', ...rows.map((row) => row.map(quoted).join(','))].join('\n');
        expect(parseDelimitedTable(text).slice(1)).toEqual(rows);
      }),
    );
  });

  test('terminates for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', ',', '"', '\n', '\r', '\t') }), (text) => {
        expect(Array.isArray(parseDelimitedTable(text))).toBe(true);
      }),
    );
  });
});

test.each([
  ['a\tb\n1\t2\n', true],
  ['mean\tsd\r\nTP53\t1\t2\r\nMYC\t3\t4', true],
  ['A report.\n\nAll went well.', false],
  ['a\tb', false],
  ['a\tb\nprose', false],
  [`a\tb\n${'1\t2\n'.repeat(9_000)}`, true],
])('whether %j is a table with tabs: %s', (text, expected) => {
  expect(isTabSeparated(text)).toBe(expected);
});
