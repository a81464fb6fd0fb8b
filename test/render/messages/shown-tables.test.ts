import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isShownWhole,
  isTabSeparated,
  parseDelimitedTable,
  tablesIn,
} from '../../../src/render/messages/shown-tables.ts';

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

describe('a table of the answer', () => {
  const answer = 'Here:\n\n| Gene | log2_fc |\n| --- | ---: |\n| **TP53** | 1.2 |\n| BRCA1 | -0.4 |\n\nDone.';
  const isShown = (file: string) => isShownWhole(file, tablesIn(answer));

  test.each(['gene,log2_fc\nTP53,1.2345\nBRCA1,-0.4123\n', 'Gene\tlog2_fc\nBRCA1\t-0.4'])(
    'shows the whole file %j',
    (file) => {
      expect(isShown(file)).toBe(true);
    },
  );

  test.each([
    ['a row that it lacks', 'gene,log2_fc\nTP53,1.2\nMYC,3'],
    ['a column that it lacks', 'gene,log2_fc,p\nTP53,1.2,0.1'],
    ['another column', 'gene,q\nTP53,1.2'],
    ['another value', 'gene,log2_fc\nTP53,1.3'],
    ['a row more often', 'gene,log2_fc\nTP53,1.2\nTP53,1.21'],
    ['no rows', 'gene,log2_fc\n'],
    ['nothing', ''],
  ])('does not show the whole file with %s', (_, file) => {
    expect(isShown(file)).toBe(false);
  });

  test('of two means does not show the sixty measurements', () => {
    const means = tablesIn('| condition | value |\n| --- | --- |\n| control | 1.0 |\n| treated | 2.0 |');
    const rows = Array.from({ length: 60 }, (_, at) => `${at % 2 === 0 ? 'control,1' : 'treated,2'}.0${at}`);
    expect(isShownWhole(`condition,value\n${rows.join('\n')}`, means)).toBe(false);
    expect(isShownWhole('condition,value\ncontrol,1.04\ntreated,1.96', means)).toBe(true);
  });

  test.each([
    ['p<0.05', 'p>0.05', false],
    ['+/-', '-/-', false],
    ['**HLA-B*57:01**', 'HLA-B*57:01', true],
    ['1.2e-8', '1.234e-8', true],
    ['1.2e-8', '1.9e-8', false],
    ['12,345', '12345', true],
    ['chr1', 'chr2', false],
    ['', '0', false],
    ['−3.1', '-3.14', true],
  ])('with %j in a cell shows %j: %s', (shown, cell, expected) => {
    const tables = tablesIn(`| a | b | extra |\n| --- | --- | --- |\n| x | ${shown} | y |`);
    expect(isShownWhole(`a\tb\nx\t${cell}`, tables)).toBe(expected);
  });

  test('shows a file whose names of rows have no header', () => {
    const tables = tablesIn('| | mean |\n| --- | --- |\n| TP53 | 1.2 |');
    expect(isShownWhole('"mean"\n"TP53",1.21\n', tables)).toBe(true);
    expect(isShownWhole('mean\tsd\nTP53\t1.21\t0.1\n', tables)).toBe(false);
    const both = tablesIn('| | mean | sd |\n| --- | --- | --- |\n| TP53 | 1.2 | 0.1 |');
    expect(isShownWhole('mean\tsd\nTP53\t1.21\t0.1\n', both)).toBe(true);
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

describe('the tables of an answer', () => {
  test.each([
    [
      'quoted, and without outer marks',
      '> a | b\n> - | -\n> x\\|y | `1`',
      [
        [
          ['a', 'b'],
          ['-', '-'],
          ['x|y', '1'],
        ],
      ],
    ],
    [
      'with empty cells',
      '| | b |\n|---|---|\n| x | |',
      [
        [
          ['', 'b'],
          ['---', '---'],
          ['x', ''],
        ],
      ],
    ],
    [
      'apart from each other',
      'One:\n| a |\n| - |\n| x |\n\nTwo:\n\n| b |\n| - |\n| y |\nEnd',
      [
        [['a'], ['-'], ['x']],
        [['b'], ['-'], ['y']],
      ],
    ],
    ['but no other lines', 'a | b\n\nso `x | y` holds', []],
  ])('are read %s', (_, answer, tables) => {
    expect(tablesIn(answer)).toEqual(tables);
  });

  test('are searched in the first 100,000 characters', () => {
    const table = `| Gene |\n| --- |\n${'| TP53 |\n'.repeat(20)}\n`;
    expect(tablesIn(table.repeat(4_000))).toHaveLength(Math.floor(100_000 / table.length));
  });
});
