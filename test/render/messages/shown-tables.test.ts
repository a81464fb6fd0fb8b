import { describe, expect, test } from 'vitest';
import { isShownWhole, tablesIn } from '../../../src/render/messages/shown-tables.ts';

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

describe('the tables of an answer', () => {
  test.each([
    [
      'quoted, and without outer marks',
      '> a | b\n> - | -\n> x\\|y | `1`',
      [
        [
          ['a', 'b'],
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
          ['x', ''],
        ],
      ],
    ],
    [
      'apart from each other',
      'One:\n| a |\n| - |\n| x |\n\nTwo:\n\n| b |\n| - |\n| y |\nEnd',
      [
        [['a'], ['x']],
        [['b'], ['y']],
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
