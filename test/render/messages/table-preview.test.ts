import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDelimitedTable, tablePreviewMessage } from '../../../src/render/messages/table-preview.ts';

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

describe('the message with the first rows', () => {
  const text = ['gene,fold', ...Array.from({ length: 30 }, (_, row) => `g${row},${row}`)].join('\n');

  test('shows ten rows and the number of all rows', () => {
    const message = tablePreviewMessage({ name: 'genes.csv', text });
    const [, table, note] = message?.blocks ?? [];
    expect(table).toMatchObject({
      text: expect.stringMatching(/^\| gene \| fold \|\n\| --- \| --- \|\n\| g0 \| 0 \|/),
    });
    expect(JSON.stringify(table)).toContain('g9');
    expect(JSON.stringify(table)).not.toContain('g10');
    expect(JSON.stringify(note)).toContain('30 rows, 2 columns; showing the first 10 rows');
  });

  test('shortens wide tables and long cells, and escapes cells', () => {
    const wide = Array.from({ length: 12 }, (_, column) => `c${column}`).join(',');
    const message = tablePreviewMessage({
      name: 'w.csv',
      text: `${wide}\n"<!channel> | **x**",${'y'.repeat(99)}`,
    });
    const [, table] = message?.blocks ?? [];
    const shown = table?.type === 'markdown' ? table.text : '';
    const lines = shown.split('\n');
    expect(lines).toHaveLength(3);
    expect(shown).not.toContain('c8');
    expect(shown).not.toContain('<!channel>');
    expect(shown).toContain('\\*\\*x\\*\\*');
    expect(lines[2]?.length).toBeLessThan(200);
  });

  test.each(['', 'one line', 'only,a,head', 'one\ncolumn\n'])('does not exist for %j', (other) => {
    expect(tablePreviewMessage({ name: 'x.csv', text: other })).toBeUndefined();
  });
});
