import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ComparedAnswer, compareAnswers } from '../../../src/render/messages/compared-tables.ts';
import { comparedWithEarlier } from '../../../src/render/strings/index.ts';
import { anyCharacter } from '../../support/any-character.ts';

type Rows = readonly (readonly string[])[];

function markdown([head = [], ...rows]: Rows): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const csv = (rows: Rows) => rows.map((row) => row.join(',')).join('\n');
const answer = (...tables: Rows[]): ComparedAnswer => ({
  text: ['What I found:', ...tables.map(markdown), 'That is all.'].join('\n\n'),
  files: [],
});
const withFiles = (...tables: Rows[]): ComparedAnswer => ({ text: 'In the file.', files: tables.map(csv) });

/** What people read below the second answer; undefined for nothing. */
function line(first: ComparedAnswer, second: ComparedAnswer): string | undefined {
  const compared = compareAnswers(first, second);
  return compared && comparedWithEarlier(compared);
}

const GENES: Rows = [
  ['Gene', 'log2FC', 'padj'],
  ['TP53', '1.8', '0.02'],
  ['MYC', '−2.1', '2.5 × 10⁻⁸'],
  ['GAPDH', '0.1', '<0.001'],
];
const changed = (gene: string, column: number, value: string): Rows =>
  GENES.map((row) => (row[0] === gene ? row.map((cell, at) => (at === column ? value : cell)) : row));

describe('two answers', () => {
  test('whose tables have the same columns are compared by row and column, with what differs by name', () => {
    expect(line(answer(GENES), answer(changed('TP53', 1, '2.4')))).toBe(
      'Compared with the earlier answer: 5 of 6 figures agree within 1 %; log2FC of TP53 differs: 1.8, 2.4.',
    );
    expect(line(answer(GENES), answer(GENES))).toBe(
      'Compared with the earlier answer: 6 of 6 figures agree within 1 %.',
    );
  });

  test('may have columns and rows in another order, in a file or in the text, with other marks', () => {
    const turned = GENES.map(([gene = '', fold = '', p = '']) => [p, gene, fold]);
    const [head = [], ...rows] = turned;
    const marked = [
      head.map((name) => `**${name}**`),
      ...rows.toReversed().map((row) => row.map((one) => `_${one}_`)),
    ];
    expect(line(answer(GENES), answer(marked))).toContain('6 of 6 figures agree');
    expect(line(withFiles(GENES), withFiles(turned))).toContain('6 of 6 figures agree');
    // A file's numbers are more exact than those that the text rounds: they are not counted twice.
    const both = { ...answer(GENES), files: [csv(GENES)] };
    expect(line(both, { ...answer(changed('MYC', 1, '9')), files: [csv(GENES)] })).toContain('6 of 6');
    expect(line(both, answer(changed('MYC', 1, '9')))).toContain('5 of 6');
  });

  test('say which rows only one of them has, and name at most five differences', () => {
    const many: Rows = [['Gene', 'n'], ...Array.from({ length: 9 }, (_, at) => [`G${at}`, `${at + 1}0`])];
    const other: Rows = many.map(([gene = '', n = ''], at) => [gene, at > 0 && at < 8 ? `${n}0` : n]);
    const told = line(answer(many), answer([...other, ['NEW', '5']]));
    expect(told).toMatch(
      /: 2 of 9 figures agree within 1 %; n of G0 differs: 10, 100; .*; 2 more differ; 1 row in one/,
    );
    expect(told?.match(/differs/g)).toHaveLength(5);
  });

  test.each<[string, Rows, string]>([
    [
      'the first column, also behind numbers of rows',
      [
        ['#', 'Gene', 'n'],
        ['1', 'A', '5'],
        ['2', 'B', '6'],
      ],
      '2 of 2',
    ],
    [
      'as few columns of words as tell rows apart',
      [
        ['Gene', 'Tissue', 'n', 'Comment'],
        ['A', 'liver', '5', 'up'],
        ['A', 'lung', '6', 'down'],
      ],
      '2 of 2',
    ],
    [
      'doses and whole numbers, if words do not tell them apart',
      [
        ['Drug', 'Dose', 'Viability'],
        ['A', '5 mg', '0.9'],
        ['A', '10 mg', '0.4'],
      ],
      '2 of 2',
    ],
    [
      'whole numbers alone',
      [
        ['k', 'Inertia'],
        ['2', '50.5'],
        ['3', '40.5'],
      ],
      '2 of 2',
    ],
    [
      'other numbers in the first column',
      [
        ['Dose (µM)', 'Viability'],
        ['0.1', '0.9'],
        ['1.5', '0.4'],
      ],
      '2 of 2',
    ],
    [
      'nothing, in a table of one row',
      [
        ['Mean', 'SD'],
        ['5.5', '1.2'],
      ],
      '2 of 2',
    ],
    [
      'names of rows without a name of their column, as R writes them',
      [
        ['n', 'mean'],
        ['A', '5', '1.5'],
        ['B', '6', '2.5'],
      ],
      '4 of 4',
    ],
  ])('identify rows by %s', (_, rows, agreeing) => {
    expect(line(withFiles(rows), withFiles(rows))).toContain(`${agreeing} figures agree`);
  });

  test('say that figures agree as rounded, and that a bound holds', () => {
    const told = line(answer(GENES), answer(changed('TP53', 1, '1.84')));
    expect(told).toBe('Compared with the earlier answer: 6 of 6 figures agree within 1 % or as rounded.');
  });

  const cohort = (n: string, p: string): Rows => [
    ['Gene', 'n', 'p'],
    ['TP53', n, p],
  ];
  const counted = (n: string, p: string): Rows => [
    ['Gene', 'n', 'p'],
    ['TP53', '10', '0.01'],
    ['TP53', '20', '0.02'],
    ['MDM2', n, p],
  ];
  const trends = (up: string, down: string): Rows => [
    ['Direction', 'Gene', 'padj'],
    [up, 'TP53', '0.01'],
    [down, 'MYC', '0.02'],
  ];

  test('are not compared by a table of which one of them has two', () => {
    const [a, b] = [cohort('10', '0.01'), cohort('20', '0.02')];
    expect(line(answer(a, b), answer(b, a))).toBeUndefined();
    expect(line(withFiles(a, b), withFiles(a))).toBeUndefined();
  });

  test('name rows by words, never by what was measured', () => {
    expect(line(answer(counted('30', '0.03')), answer(counted('31', '0.9')))).toBeUndefined();
    expect(line(answer(trends('up', 'down')), answer(trends('down', 'up')))).toBeUndefined();
    const other: Rows = [
      ['Gene', 'n', 'p'],
      ['MDM2', '10', '0.01'],
    ];
    expect(line(answer(cohort('10', '0.01')), answer(other))).toBeUndefined();
  });

  test('pass over numbers of rows, places and years, however their columns are named', () => {
    const rows = (index: string, start: string, year: string): Rows => [
      ['', 'gene', 'Start (bp)', 'Published', 'Unnamed: 0', 'x'],
      [index, 'TP53', start, year, index, '1.5'],
      ['7', 'MYC', '128735434', '2001', '7', '2.5'],
    ];
    const told = line(withFiles(rows('0', '7675088', '2015')), withFiles(rows('1', '7670000', '2024')));
    expect(told).toContain('2 of 2 figures agree');
  });

  const groups = (column: string, size: string): Rows => [
    ['Group', column],
    ['A', size],
    ['B', '12'],
  ];
  test.each([
    ...['Uric acid (mg/dL)', 'Body mass index (kg/m²)', 'Exacerbations per year', 'Weight at end'],
    ...['Cells per cluster', 'HER2 pos (%)', 'Papers published', 'Distance to TSS (bp)'],
  ])('are compared by sizes whose name ends like that of ids or places: %s', (column) => {
    const told = line(answer(groups(column, '5')), answer(groups(column, '9')));
    expect(told).toContain(`1 of 2 figures agree within 1 %; ${column} of A differs: 5, 9.`);
  });

  test.each([
    ...['PMID', 'Entrez ID', 'geneID', 'ENTREZID', 'Gene start (bp)', 'Publication year'],
    ...['Year published', 'seurat_cluster', 'cell_index', 'Rank'],
    ...['SUBJID', 'taxid', 'probeid'],
  ])('are not compared by ids, places and years: %s', (column) => {
    expect(line(answer(groups(column, '5')), answer(groups(column, '9')))).toBeUndefined();
  });

  test('count a figure once that stands in the text and in a file', () => {
    const both = (fold: string) => ({
      ...answer(GENES.map((row) => row.slice(0, 2))),
      files: [csv(changed('TP53', 1, fold))],
    });
    expect(line(both('1.8'), both('2.4'))).toContain(
      '5 of 6 figures agree within 1 %; log2FC of TP53 differs',
    );
  });

  test('are not compared by the numbers of rows alone, of which one answer has more', () => {
    const rows = (...sizes: string[]): Rows => [['', 'FC'], ...sizes.map((size, at) => [String(at), size])];
    expect(line(answer(rows('1.5', '2.5')), answer(rows('9.5', '1.5', '2.5')))).toBeUndefined();
  });

  test('count a row once that the text and a file of one answer alone have', () => {
    const both = (rows: Rows) => ({ ...answer(rows), files: [csv(rows)] });
    const told = line(both(GENES), both([...GENES, ['EGFR', '0.5', '0.2']]));
    expect(told).toContain('6 of 6 figures agree within 1 %; 1 row in one of the answers only.');
  });

  test('keep figures apart that two tables call the same', () => {
    const markers = (last: string, mean: string): Rows => [
      ['Marker', 'Mean', last],
      ['CRP', mean, '1'],
      ['IL6', `${mean}7`, '2'],
    ];
    const told = line(
      answer(markers('SD', '5'), markers('n', '9')),
      answer(markers('SD', '8'), markers('n', '9')),
    );
    expect(told).toContain('6 of 8 figures agree within 1 %; Mean of CRP differs: 5, 8; Mean of IL6 differs');
  });

  test('read files with a comma at each end, and none that begin with a remark', () => {
    const ended = { text: '', files: ['gene,x\nA,1.5,\nB,2.5,\n'] };
    const begun = { text: '', files: ['# made by a program\ngene,x\nA,1.5\nB,2.5\n'] };
    expect(line(ended, ended)).toContain('2 of 2 figures agree');
    expect(line(begun, begun)).toBeUndefined();
  });

  test('tell names apart that differ in where their digits stand', () => {
    const wells = (x: string): Rows => [
      ['Well', 'x'],
      ['s_1_11', '1.5'],
      ['s_11_1', x],
    ];
    expect(line(answer(wells('2.5')), answer(wells('9.5')))).toContain('x of s_11_1 differs: 2.5, 9.5');
  });

  test('of one figure say so in the singular', () => {
    const one: Rows = [
      ['Gene', 'n'],
      ['A', '5'],
    ];
    expect(line(answer(one), answer(one))).toContain('1 of 1 figure agrees within 1 %.');
  });

  const rowsOf = (...lines: string[]): Rows => lines.map((one) => one.split(',').map((cell) => cell.trim()));

  test.each<[string, Rows, Rows, string]>([
    [
      'no interval, even if nothing else is a word',
      rowsOf('Dose (mg), Response, CI', '10, 1.20, 0.9–1.5', '20, 2.40, 2.0–2.8'),
      rowsOf('Dose (mg), Response, CI', '10, 1.20, 0.8–1.6', '20, 2.90, 2.0–2.8'),
      '1 of 2 figures agree within 1 %; Response of 20 differs: 2.40, 2.90.',
    ],
    [
      'names beside intervals that other rows have',
      rowsOf('Gene, OR, CI', 'A, 1.20, 0.9–1.5', 'B, 2.40, 2.0–2.8'),
      rowsOf('Gene, OR, CI', 'A, 1.20, 2.0–2.8', 'B, 2.40, 0.9–1.5'),
      '2 of 2 figures agree within 1 %.',
    ],
    [
      'the name above, in a table with merged cells',
      rowsOf('Gene, Time, FC', 'TP53, 24h, 1.8', ', 48h, 2.0', 'MYC, 24h, 3.0'),
      rowsOf('Gene, Time, FC', 'MYC, 24h, 3.0', ', 48h, 4.0', 'TP53, 24h, 1.8'),
      '2 of 2 figures agree within 1 %; 2 rows in one of the answers only.',
    ],
    [
      'as few columns as do, beside remarks that differ from run to run',
      rowsOf(
        'Gene, Time, FC, Note',
        'TP53, 24h, 1.8, early',
        'TP53, 48h, 2.0, late',
        'MYC, 24h, 3.0, strong',
      ),
      rowsOf(
        'Gene, Time, FC, Note',
        'TP53, 24h, 1.8, rises',
        'TP53, 48h, 2.5, later',
        'MYC, 24h, 3.0, robust',
      ),
      '2 of 3 figures agree within 1 %; FC of TP53, 48h differs: 2.0, 2.5.',
    ],
    [
      'doses, of which one answer has one more',
      rowsOf('Dose (µM), Viability', '0.1, 0.9', '1, 0.4'),
      rowsOf('Dose (µM), Viability', '0.1, 0.9', '1, 0.5', '10, 0.1'),
      '1 of 2 figures agree within 1 %; Viability of 1 differs: 0.4, 0.5; 1 row in one of the answers only.',
    ],
    [
      'names alone, behind what numbers the rows',
      rowsOf('No., Gene, FC', '1, TP53, 1.8', '2, MYC, 3.0'),
      rowsOf('No., Gene, FC', '1, MYC, 3.0', '2, TP53, 1.9'),
      '1 of 2 figures agree within 1 %; FC of TP53 differs: 1.8, 1.9.',
    ],
    [
      'names, whatever their links, their dashes and the references behind them',
      rowsOf('Arm, ORR', '[IL-6](https://x.org/6) [3], 36 %', 'TNF‑α, 28 %', '**18–29 y** [^2], 5 %'),
      rowsOf('Arm, ORR', 'IL‑6, 36 %', '_TNF-α_ [[1]](https://x.org/1), 48 %', '18-29 y [1; 4], 5 %'),
      '2 of 3 figures agree within 1 %; ORR of TNF‑α differs: 28 %, 48 %.',
    ],
    [
      'intervals in brackets, which are no references',
      [
        ['Age', 'Share'],
        ['[18,30]', '1.5'],
        ['[31,45]', '2.5'],
      ],
      [
        ['Age', 'Share'],
        ['[18,30]', '1.5'],
        ['[31,45]', '3.5'],
      ],
      '1 of 2 figures agree within 1 %; Share of [31,45] differs: 2.5, 3.5.',
    ],
    [
      'formulas, of which no part is a link',
      rowsOf('SMILES, IC50', 'C[C@@H](N)C(=O)O, 5', 'CCO, 7'),
      rowsOf('SMILES, IC50', 'C[C@@H](O)C(=O)O, 9', 'CCO, 7'),
      '1 of 1 figure agrees within 1 %; 2 rows in one of the answers only.',
    ],
    [
      'ids, too',
      rowsOf('Cluster, Marker, FC', 'T cells, CD3D, 2.1', 'B cells, MS4A1, 3.0'),
      rowsOf('Cluster, Marker, FC', 'T cells, IL7R, 3.4', 'B cells, MS4A1, 3.0'),
      '1 of 1 figure agrees within 1 %; 2 rows in one of the answers only.',
    ],
  ])('identify rows by %s', (_, first, second, expected) => {
    expect(line(answer(first), answer(second))).toBe(`Compared with the earlier answer: ${expected}`);
  });

  test.each<[string, ComparedAnswer, ComparedAnswer]>([
    [
      'other genes at the same times',
      answer(rowsOf('Gene, Time, FC', 'TP53, 24h, 1.8', 'TP53, 48h, 2.0')),
      answer(rowsOf('Gene, Time, FC', 'MYC, 24h, 3.0', 'MYC, 48h, 4.0')),
    ],
    ['other columns', answer(GENES), answer(GENES.map((row) => row.slice(0, 2)))],
    ['no table', answer(GENES), { text: 'TP53 rose by 1.8.', files: [] }],
    ['other rows', answer(GENES), answer([GENES[0] ?? [], ['BRCA1', '1.8', '0.02']])],
    [
      'words alone',
      answer([
        ['Gene', 'Trend'],
        ['A', 'up'],
      ]),
      answer([
        ['Gene', 'Trend'],
        ['A', 'down'],
      ]),
    ],
    [
      'ids alone',
      answer([
        ['Gene', 'Entrez ID'],
        ['A', '7157'],
      ]),
      answer([
        ['Gene', 'Entrez ID'],
        ['A', '7158'],
      ]),
    ],
    [
      'rows that nothing tells apart',
      answer([
        ['G', 'x'],
        ['A', '1.5'],
        ['A', '2.5'],
      ]),
      answer([
        ['G', 'x'],
        ['A', '1.5'],
        ['A', '2.5'],
      ]),
    ],
    [
      'a column twice',
      answer([
        ['x', 'x'],
        ['1', '2'],
      ]),
      answer([
        ['x', 'x'],
        ['1', '2'],
      ]),
    ],
  ])('with %s are not compared', (_, first, second) => {
    expect(line(first, second)).toBeUndefined();
  });

  test('are compared cell by cell only where both have numbers of one unit', () => {
    const other = GENES.map((row) =>
      row.map((cell) => (cell === '1.8' ? 'NA' : cell === '0.1' ? '10 %' : cell)),
    );
    expect(line(answer(GENES), answer(other))).toContain('4 of 4 figures');
  });

  test('are compared whether µ is the micro sign or the Greek letter', () => {
    const doses = (mu: string, dose: string): Rows => [
      ['drug', 'dose', `IC50 (${mu}M)`],
      ['A', `5 ${mu}M`, '2'],
      ['B', `${dose} ${mu}M`, '3'],
    ];
    expect(line(answer(doses('\u00b5', '7')), answer(doses('\u03bc', '70')))).toMatch(
      /3 of 4 figures agree within 1 %; dose of B differs: 7 \u00b5M, 70 \u03bcM\.$/u,
    );
  });

  const cell = fc.oneof(
    fc.constantFrom(
      'TP53',
      '__proto__',
      'constructor',
      '',
      'a|b',
      '1.8 ± 0.2',
      '<0.001',
      'NA',
      '**x**',
      '2e-3',
    ),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.string({ unit: anyCharacter, maxLength: 8 }),
  );
  const table = fc
    .integer({ min: 1, max: 5 })
    .chain((columns) =>
      fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { maxLength: 8 }),
    );

  test('of any words are compared without an error; the same ones agree, and neither order nor side matters', () => {
    fc.assert(
      fc.property(table, table, fc.boolean(), (one, other, inFiles) => {
        const as = inFiles ? withFiles : answer;
        const same = compareAnswers(as(one), as(one));
        expect(same?.differing ?? []).toEqual([]);
        expect(same?.unmatchedRows ?? 0).toBe(0);
        const there = compareAnswers(as(one, other), as(other));
        const back = compareAnswers(as(other), as(one, other));
        expect(back?.compared).toBe(there?.compared);
        expect(back?.differing.length).toBe(there?.differing.length);
        const told = there === undefined ? 'Compared with nothing.' : comparedWithEarlier(there);
        expect(told).toMatch(/^Compared .*\.$/);
      }),
    );
  });

  const regions = (...rows: (readonly [string, string])[]): Rows => [
    ['#', 'Locus', 'OR'],
    ...rows.map(([locus, ratio], at) => [String(at + 1), locus, ratio]),
  ];
  const arms = (...rows: (readonly string[])[]): Rows => [['Arm', 'Call', 'HR'], ...rows];
  test.each([
    [
      'rows by loci, in whatever order',
      regions(['17q21', '1.4'], ['8q24', '1.1']),
      regions(['8q24', '1.1'], ['17q21', '1.4']),
      /2 of 2 figures agree/,
    ],
    [
      'rows whose sizes of samples differ',
      arms(['drug', 'n=35', '0.80'], ['none', 'n=40', '0.90']),
      arms(['drug', 'n=36', '0.60'], ['none', 'n=40', '0.90']),
      /HR of drug differs: 0\.80, 0\.60/,
    ],
    [
      'rows whose calls differ',
      arms(['drug', 'UP', '0.80'], ['none', 'DOWN', '0.90']),
      arms(['drug', 'UP', '0.80'], ['none', 'NS', '0.50']),
      /HR of none differs: 0\.90, 0\.50/,
    ],
    [
      'figures with marks behind their errors',
      arms(['drug', 'a', '5.2 ± 0.3a'], ['none', 'b', '(1.2–2.4)']),
      arms(['drug', 'a', '7.2 ± 0.3a'], ['none', 'b', '(1.2–2.4)']),
      /HR of drug differs: 5\.2 ± 0\.3a, 7\.2 ± 0\.3a/,
    ],
  ])('compare %s', (_, one, other, said) => {
    expect(line(answer(one), answer(other))).toMatch(said);
  });

  test('of great length take no long time', () => {
    const long: Rows = [
      ['Gene', 'x', 'y'],
      ...Array.from({ length: 6_000 }, (_, at) => [`G${at}`, `${at}.5`, '1e-3']),
    ];
    const began = process.threadCpuUsage();
    expect(compareAnswers(withFiles(long), withFiles(long))?.compared).toBe(12_000);
    expect(process.threadCpuUsage(began).user / 1_000).toBeLessThan(5_000);
    const tooLong = [...long, ...long.slice(1).map(([gene = '', ...rest]) => [`${gene}b`, ...rest])];
    expect(compareAnswers(withFiles(tooLong), withFiles(tooLong))).toBeUndefined();
    const wide = [['Gene'], ['A'], ['B']].map((row) => [
      ...row,
      ...Array.from({ length: 5_000 }, (_, at) => `c${at}`),
    ]);
    expect(compareAnswers(withFiles(wide), withFiles(wide))).toBeUndefined();
  });
});
