import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDelimitedTable, showWholeTable, TableFinder } from '../../../src/render/messages/tables.ts';

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

function tablesOf(answer: string): string[][][] {
  const finder = new TableFinder(answer);
  while (finder.findNext()) {
    // Each step searches one block.
  }
  return finder.tables;
}

describe('a table of the answer', () => {
  const answer = 'Here:\n\n| Gene | log2_fc |\n| --- | ---: |\n| **TP53** | 1.2 |\n| BRCA1 | -0.4 |\n\nDone.';
  const isShown = (file: string) => showWholeTable(tablesOf(answer), file);

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

describe('tables that are crafted to take the parser long', () => {
  const hostile = `|a|b|\n|-|-|\n${'![a]('.repeat(3_900)}`;

  test('are not parsed, and other tables are found beside them', () => {
    const answer = `${hostile}\n\n| Gene |\n| --- |\n| TP53 |\n\n${hostile}`;
    expect(tablesOf(answer)).toEqual([[['gene'], ['tp53']]]);
  });

  test('are searched in the first 100,000 characters, a block at a time', () => {
    const table = `| Gene |\n| --- |\n${'| TP53 |\n'.repeat(20)}\n`;
    const finder = new TableFinder(table.repeat(4_000));
    let steps = 0;
    while (finder.findNext() && finder.tables.length === steps + 1) steps += 1;
    expect(steps).toBe(Math.floor(100_000 / table.length));
  });
});
