import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDelimitedTable, showWholeTable, tablesIn } from '../../../src/render/messages/tables.ts';

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
  const isShown = (file: string) => showWholeTable(tablesIn(answer), file);

  test.each(['gene,log2_fc\nTP53,1.2345\nBRCA1,-0.4123\n', 'Gene\tlog2_fc\nBRCA1\t-0.4'])(
    'shows the whole file %j',
    (file) => {
      expect(isShown(file)).toBe(true);
    },
  );

  test.each(['gene,log2_fc\nTP53,1.2\nMYC,3', 'gene,log2_fc,p\nTP53,1.2,0.1', 'gene,q\nTP53,1.2', ''])(
    'does not show all of %j',
    (file) => {
      expect(isShown(file)).toBe(false);
    },
  );
});

describe('the tables of an answer', () => {
  test.each([
    ['quoted, and without outer marks', '> a | b\n> - | -\n> x\\|y | `1`', [['a|b', '-|-', 'xy|1']]],
    ['with empty cells', '| | b |\n|---|---|\n| x | |', [['|b', '---|---', 'x|']]],
    [
      'apart from each other',
      'One:\n| a |\n| - |\n| x |\n\nTwo:\n\n| b |\n| - |\n| y |\nEnd',
      [
        ['a', '-', 'x'],
        ['b', '-', 'y'],
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
