import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { withAlteredCellSearch } from '../../../src/relay/sending/altered-cells.ts';

const never = new AbortController().signal;

/** What is said of a file, once it has streamed in these chunks. */
async function remarkOn(
  content: string | Buffer,
  name = 'genes.csv',
  chunk = 65_536,
): Promise<string | undefined> {
  const bytes = Buffer.from(content);
  const pieces = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, at) =>
    bytes.subarray(at * chunk, (at + 1) * chunk),
  );
  const open = async () => Readable.from(pieces);
  const { source, remark } = withAlteredCellSearch({
    id: 'F1',
    name,
    mime: '',
    sizeBytes: bytes.length,
    open,
  });
  const streamed: Buffer[] = [];
  for await (const piece of await source.open(0, never)) streamed.push(Buffer.from(piece));
  expect(Buffer.concat(streamed).equals(bytes)).toBe(true);
  return (await remark(never)).remark;
}

const genes = ['TP53', 'BRCA1', 'EGFR', 'MYC', 'KRAS', 'PTEN', 'CDK4'];
const rows = (head: string, cells: readonly string[], end = ',1') =>
  [head, ...cells.map((cell) => `${cell}${end}`)].join('\n');

describe('a table with genes', () => {
  test.each([
    ['2-Sep', ' 2-Sep may be SEPTIN2.'],
    ['1-Mar', ' 1-Mar may be MARCHF1 or MTARC1.'],
    ['Mar-01', ' Mar-01 may be MARCHF1 or MTARC1.'],
    ['1-Dec', ' 1-Dec may be DELEC1 or BHLHE40.'],
    ['4-Oct', ' 4-Oct may be POU5F1.'],
    // OCT1 is also what many call SLC22A1.
    ['1-Oct', ''],
    ['15-Sep', ' 15-Sep may be SELENOF.'],
    ['01. Mrz', ' 01. Mrz may be MARCHF1 or MTARC1.'],
    ['02-SEP-2024', ' 02-SEP-2024 may be SEPTIN2.'],
    ['5-Apr', ''],
    ['2024-09-02', ''],
    ['9/2/2024', ''],
  ])('says that %s looks like a date', async (cell, meaning) => {
    const said = `1 cell of “gene” looks like a date that a spreadsheet made: ${cell}.${meaning}`;
    for (const delimiter of [',', ';', '\t'])
      expect(await remarkOn(rows(`gene${delimiter}p`, [...genes, cell], `${delimiter}0.1`))).toBe(said);
  });

  test('names the first of many, and what numbers and dates there are', async () => {
    expect(await remarkOn(rows('Gene Symbol,n', ['2-Sep', ...genes, '7-Mar', '1-Mar']))).toBe(
      '3 cells of “Gene Symbol” look like dates that a spreadsheet made: 2-Sep, 7-Mar and 1-Mar. 1-Mar may be MARCHF1 or MTARC1.',
    );
    expect(await remarkOn(rows('gene_name,n', ['2.31E+19', ...genes]))).toBe(
      '1 cell of “gene_name” looks like a number that a spreadsheet made: 2.31E+19.',
    );
    expect(await remarkOn(rows('hgncSymbol,n', ['2.31E+19', '5-Apr', '6-Apr', '7-Apr', ...genes]))).toBe(
      '4 cells of “hgncSymbol” look like dates or numbers that a spreadsheet made, such as 2.31E+19, 5-Apr and 6-Apr.',
    );
    expect(await remarkOn(rows('id,n', ['007', '012', '13', '9', '9']))).toBe(
      '3 cells of “id” may have lost leading zeros, such as 13 and 9.',
    );
  });

  test('is found without a heading, as R writes it, below a title or comment, in UTF-16 and whatever the line ends', async () => {
    const cells = [...genes, '2-Sep'];
    const found = (where: string) =>
      `1 cell of ${where} looks like a date that a spreadsheet made: 2-Sep. 2-Sep may be SEPTIN2.`;
    expect(
      await remarkOn(
        rows(
          '"baseMean","p"',
          cells.map((cell) => `"${cell}",3`),
        ),
      ),
    ).toBe(found('column 1'));
    expect(await remarkOn(['2-Sep,1', ...genes.map((gene) => `${gene},2`)].join('\n'))).toBe(
      found('column 1'),
    );
    expect(
      await remarkOn(
        `Table S1\n${rows(
          'n\tname\tp',
          cells.map((cell) => `1\t${cell}`),
          '\t1',
        )}`,
        'a.txt',
      ),
    ).toBe(found('“name”'));
    const table = rows('gene\tp', cells, '\t1');
    const commented = `# counted by a program; version 2, of May, 2026\n${table}`;
    expect(await remarkOn(commented, 'counts.txt')).toBe(found('“gene”'));
    const withNote = table.replace('BRCA1\t1', 'BRCA1\t1\ta note in a cell of its own');
    expect(await remarkOn(withNote, 'counts.txt')).toBe(found('“gene”'));
    const forExcel = rows(
      'p;gene',
      cells.map((cell) => `1;${cell}`),
      '',
    );
    expect(await remarkOn(`sep=;\n${forExcel}`)).toBe(found('“gene”'));
    expect(await remarkOn(rows('#gene\tp', cells, '\t1'), 'a.tsv', 9)).toBe(found('“#gene”'));
    expect(await remarkOn(Buffer.from(`\uFEFF${table}`, 'utf16le'), 'unicode.txt', 7)).toBe(found('“gene”'));
    const bigEndian = Buffer.from(`\uFEFF${table}`, 'utf16le').swap16();
    expect(await remarkOn(bigEndian, 'unicode.txt')).toBe(found('“gene”'));
    const german = Buffer.from(rows('Gen_über;p', cells, ';1').replace('Gen_', 'gene '), 'latin1');
    expect(await remarkOn(german, 'genes.csv')).toBe(found('“gene über”'));
    for (const end of ['\r\n', '\r'])
      expect(await remarkOn(table.replaceAll('\n', end), 'a.tsv', 5)).toBe(found('“gene”'));
  });

  test.each([
    ['quotes', ',"a ""quoted"" note, über"'],
    ['line breaks', ',"two lines,\r\nof a note"'],
    ['a quote that nothing closes', ',5" tube'],
  ])('is read the same in chunks of any size, with %s', async (_, end) => {
    const table = rows('gene,note', [...genes, '2-Sep', '1-Mar', '2.31E+19'], end);
    const whole = await remarkOn(table);
    expect(whole).toContain('3 cells');
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 400 }), async (chunk) => {
        expect(await remarkOn(table, 'genes.csv', chunk)).toBe(whole);
      }),
      { numRuns: 30 },
    );
  });

  test('is read on after a quote that nothing closes', async () => {
    const end = `,${'note '.repeat(100)}`;
    const long = rows('gene,note', [...Array.from({ length: 1_000 }, () => 'TP53'), '2-Sep'], end);
    expect(await remarkOn(long.replace('note ', '3" dish '))).toContain('2-Sep');
  });

  test('is read up to 5 MiB, and where it has not streamed', async () => {
    const line = genes.map((gene) => `${gene},${'x'.repeat(300)}\n`).join('');
    const filled = (mib: number) => `gene,n\n${line.repeat(Math.floor((mib * 1_048_576) / line.length))}`;
    expect(await remarkOn(`${filled(4.9)}2-Sep,1\n${filled(1)}`)).toContain('2-Sep');
    expect(await remarkOn(`${filled(5.1)}2-Sep,1\n`)).toBeUndefined();
    const open = async () => Readable.from([Buffer.from('gene\n2-Sep\n')]);
    const file = { id: 'F1', name: 'a.csv', mime: 'text/csv', sizeBytes: 11, open };
    expect((await withAlteredCellSearch(file).remark(never)).remark).toContain('2-Sep');
    const fails = { ...file, open: () => Promise.reject(new Error('gone')) };
    expect(await withAlteredCellSearch(fails).remark(never)).toEqual({});
  });
});

test.each([
  ['true dates', rows('date,gene', ['2-Sep', '3-Sep', 'Mar-01'], ',TP53')],
  ['dates of visits', rows('visit_date,n', ['2024-09-02', '2024-09-03'])],
  ['when genes were tested', rows('gene test date,n', ['2-Sep', '3-Sep'])],
  ['labels of days', rows('label,n', ['2-Sep', '3-Sep', '4-Sep', 'A1', 'B2'])],
  [
    'names that hold months',
    rows('gene,n', ['MARCHF1', 'DEC1', 'SEPTIN2', 'DEC-205', 'OCT4', 'NOV', 'MAR1']),
  ],
  ['values in scientific notation', rows('p,gene', ['2.31E+19', '1E-5'], ',TP53')],
  ['numbers', rows('n,gene', ['0', '5', '10', '100'], ',TP53')],
  ['zeros that are all there', rows('id,n', ['007', '012', '013'])],
  ['hours of the day', rows('time,n', ['09', '9', '10'])],
  ['counts', rows('gene_count,n', ['2-Sep', '5'])],
  ['dates of genes', rows('gene_version,n', ['2024-03-01', '2024-03-02'])],
  ['places of genes', rows('Gene start (bp),n', ['1.2E+07', '1.31E+08', '9500'])],
  ['numbers for genes', rows('CRISPR gene effect,n', ['1.2E+3', '0.4'])],
  ['codes of many lengths', rows('icd9,n', ['0389', '4280', '410', '41071'])],
  ['nothing', ''],
  ['one cell', 'gene'],
])('nothing is said of %s', async (_, table) => {
  expect(await remarkOn(table)).toBeUndefined();
});

test('nothing is said of files that are no tables', async () => {
  for (const name of ['genes.md', 'genes.csv.gz', 'genes.fa', 'genes'])
    expect(await remarkOn('gene,n\n2-Sep,1\n', name)).toBeUndefined();
});
