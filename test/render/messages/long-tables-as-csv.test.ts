import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContentBlock } from '../../../src/agent/content-blocks.ts';
import { withShortTables } from '../../../src/render/messages/long-tables-as-csv.ts';
import { firstOfTable } from '../../../src/render/strings/index.ts';

const text = (answer: string): ContentBlock[] => [{ kind: 'text', text: answer }];
const rows = (count: number, cell = (n: number) => `G${n}`) =>
  ['| gene | p |', '|:--|--:|', ...Array.from({ length: count }, (_, n) => `| ${cell(n)} | 0.${n} |`)].join(
    '\n',
  );
const final = true;

describe('a table of more than 100 rows', () => {
  test('has its first 100 rows and a note, and all of them for its file', () => {
    const { text: shown, tables } = withShortTables(text(`Before.\n\n${rows(240)}\n\nAfter.`), final);
    expect(shown).toBe(`Before.\n\n${rows(100)}\n\n${firstOfTable(100, 240, 'rows')}\n\nAfter.`);
    const [csv = ''] = tables;
    expect(csv.split('\r\n')).toHaveLength(242);
    expect(csv).toMatch(/^"gene","p"\r\n"G0","0.0"\r\n/);
  });

  test.each(['```pip install x```', '1. ```sh\n   ls\n   ```', '```md\n```py\nx\n```'])(
    'has its file behind the code %j',
    (code) => {
      expect(withShortTables(text(`${code}\n\n${rows(240)}`), final).tables).toHaveLength(1);
    },
  );

  test('has a byte order mark in its file where spreadsheets need one to read its signs', () => {
    const [csv = ''] = withShortTables(text(rows(101, (n) => `${n} µM`)), final).tables;
    expect(csv).toMatch(/^\ufeff"gene","p"\r\n"0 µM","0\.0"\r\n/);
  });

  test.each([
    ['$2.5 \\times 10^{-8}$', '2.5e-8'],
    ['-$10^{12}$', '-1e12'],
    ['10<sup>-1</sup>', '1e-1'],
  ])('has the number %s in its file as programs read it: %s', (cell, number) => {
    const { tables } = withShortTables(text(rows(101, () => cell)), final);
    expect(tables[0]?.split('\r\n')[1]).toBe(`"${number}","0.0"`);
  });

  test('has each cell in its file as people read it, however much of it is parsed', () => {
    const cells = [
      ['HLA-A\\*02:01', 'HLA-A*02:01'],
      ['**TP53**', 'TP53'],
      ['`rs334`', 'rs334'],
      ['[rs334](https://snp.example/rs334?q=1)', 'rs334'],
      ['[37](https://a.example/p)', '37'],
      ['[plot](https://a.example/p?X-Amz-Signature=1)', 'plot'],
      ['**[PubMed](https://a.example/31978945)**', 'PubMed (https://a.example/31978945)'],
      ['AT&amp;T &lt; 3', 'AT&T < 3'],
      ['&nbsp;95&#176;C', '\u00a095°C'],
      ['C[C@@H](N)C(=O)O', 'C[C@@H](N)C(=O)O'],
      ['HLA-B*57:01 and HLA-B*15:02', 'HLA-B*57:01 and HLA-B*15:02'],
      ['$2.5 \\times 10^{-8}$', '2.5e-8'],
      ['−0.31', '-0.31'],
      ['from $5 to $10', 'from $5 to $10'],
      ['x**2 + y**2', 'x**2 + y**2'],
      ['**p<0.01, ***p<0.001', '**p<0.01, ***p<0.001'],
      ['$HOME/$USER', '$HOME/$USER'],
      ['a$b$c', 'a$b$c'],
      ['c(**kw, **b)', 'c(**kw, **b)'],
    ] as const;
    const written = cells.map(([cell]) => cell);
    const filler = Array.from({ length: 1_000 }, (_, n) => `**${'G'.repeat(20)}${n}**`);
    const all = [...written, ...filler, ...written];
    const { tables } = withShortTables(text(rows(all.length, (n) => all[n] ?? '')), final);
    const first = (tables[0] ?? '').split('\r\n').map((line) => /^"(.*)","0\.\d+"$/.exec(line)?.[1]);
    const said = cells.map(([, plain]) => plain);
    expect(first.slice(1, 1 + said.length)).toEqual(said);
    expect(first.slice(-1 - said.length, -1)).toEqual(said);
  });

  test('has as many rows as fit a message, in one of its own', () => {
    const wide = rows(
      240,
      (n) => `gene number ${n} of a very long list of genes with long names that nobody knows by heart`,
    );
    const { text: shown, breaks } = withShortTables(
      text(`${'A word. '.repeat(200)}\n\n## Genes\n\n${wide}`),
      final,
    );
    expect(shown.length).toBeLessThan(10_000);
    expect(shown.slice(breaks[0])).toMatch(/^## Genes\n\n\| gene/);
  });

  test.each([
    ['a table of 100 rows', rows(100)],
    ['code', `\`\`\`\n${rows(240)}\n\`\`\``],
    ['a quote', rows(240).replace(/^/gm, '> ')],
    ['lines without a header', Array.from({ length: 240 }, (_, n) => `${n} | x`).join('\n')],
  ])('is not found in %s', (_, answer) => {
    expect(withShortTables(text(answer), final)).toEqual({ text: answer, breaks: [], tables: [] });
  });

  test('never takes back what it showed while the answer grew', () => {
    const answer = `Before.\n\n${rows(103)}\n\nBetween.\n\n${rows(110)}\n\nAfter.`;
    let before = '';
    for (let at = 0; at <= answer.length; at += 1) {
      const { text: shown } = withShortTables(text(answer.slice(0, at)), false);
      expect(shown.startsWith(before)).toBe(true);
      before = shown.trimEnd();
    }
  });

  test('leaves everything else as it is', () => {
    const other = fc.array(fc.constantFrom('a | b', '|', '---', '```', '- x | y', '', '| --- |'), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(other, (lines) => {
        const answer = lines.join('\n');
        expect(withShortTables(text(answer), final).text).toBe(answer);
      }),
    );
  });
});
