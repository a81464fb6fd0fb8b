import { describe, expect, test } from 'vitest';
import type { SlackBlock } from '../../../src/render/blocks/slack-blocks.ts';
import { type DisplayedReply, renderReply } from '../../../src/render/messages/reply-message.ts';
import { shownAnswer } from '../../../src/render/messages/split-answer.ts';

const turnId = '01a1fbfe-6e3a-7000-83e3-5e284a624414';

function shown(text: string, more: Partial<DisplayedReply> = {}) {
  return renderReply({
    ...{
      turnId,
      phase: 'done',
      blocks: [{ kind: 'text', text }],
      elapsedMs: 65_000,
      notes: [],
      maxMessages: 12,
    },
    newBlocks: ['data_table'],
    ...more,
  });
}

function tableOf(
  rows: number,
  cells: (row: number) => string[] = (row) => [`GENE${row}`, `${row}.5`],
): string {
  const columns = cells(0).length;
  const head = `| ${Array.from({ length: columns }, (_, at) => `c${at}`).join(' | ')} |\n|${' --- |'.repeat(columns)}`;
  return [head, ...Array.from({ length: rows }, (_, row) => `| ${cells(row).join(' | ')} |`)].join('\n');
}

/** The cells of the first row of a table with this cell in it; undefined where it is no data table. */
function firstCell(cell: string): unknown {
  const blocks = shown(tableOf(11, () => [cell, 'b']))[0]?.blocks ?? [];
  return dataTables(blocks)[0]?.rows[1]?.[0];
}

function dataTables(blocks: readonly SlackBlock[]) {
  return blocks.flatMap((block) => (block.type === 'data_table' ? [block] : []));
}

describe('a long table of a finished answer', () => {
  test('can be sorted, filtered and paged through, in its place', () => {
    const [message, ...others] = shown(`Before.\n\n${tableOf(11)}\n\nAfter.`);
    expect(others).toEqual([]);
    const types = message?.blocks.map(({ type }) => type);
    expect(types).toEqual(['markdown', 'data_table', 'markdown', 'context', 'actions', 'context_actions']);
    expect(message?.blocks[1]).toMatchObject({
      caption: 'Table with 11 rows',
      page_size: 10,
      rows: [
        [
          { type: 'raw_text', text: 'c0' },
          { type: 'raw_text', text: 'c1' },
        ],
        [
          { type: 'raw_text', text: 'GENE0' },
          { type: 'raw_number', value: 0.5, text: '0.5' },
        ],
        ...Array.from({ length: 10 }, () => expect.anything()),
      ],
    });
    expect(message?.simpler?.without).toBe('data_table');
    expect(message?.simpler?.message).toEqual(
      shown(`Before.\n\n${tableOf(11)}\n\nAfter.`, { newBlocks: [] })[0],
    );
  });

  test.each([
    ['ten rows', tableOf(10), {}],
    ['an image in a cell', tableOf(11, () => ['![a](https://a.example/b.png)', 'b']), {}],
    ['a list around it', `- x\n\n  ${tableOf(11).replaceAll('\n', '\n  ')}`, {}],
    ['an answer that still grows', tableOf(11), { phase: 'working' }],
    ['the setting off', tableOf(11), { newBlocks: [] }],
  ] as const)('stays as it is with %s', (_name, text, more) => {
    expect(shown(text, more).flatMap(({ blocks }) => dataTables(blocks))).toEqual([]);
  });

  test('keeps the cells beyond its header, where Slack would leave them out', () => {
    const [message] = shown('| a | b |\n| --- | --- |\n| P(A|B) | 1 |\n| x | 2 |');
    const texts = dataTables(message?.blocks ?? [])[0]?.rows.map((row) =>
      row.map((cell) => 'text' in cell && cell.text),
    );
    expect(texts).toEqual([
      ['a', 'b', ' '],
      ['P(A', 'B)', '1'],
      ['x', '2', ' '],
    ]);
    const [plain] = shown('| a | b |\n| --- | --- |\n| P(A|B) | 1 |', { newBlocks: [] });
    expect(plain?.blocks[0]).toMatchObject({ text: '```\n| a | b |\n| --- | --- |\n| P(A|B) | 1 |\n```' });
    expect(shown('| a |\n| --- |\n| 1 | |', { newBlocks: [] })[0]?.blocks[0]).toMatchObject({
      text: '| a |\n| --- |\n| 1 | |',
    });
  });

  test('of one row says so', () => {
    const [message] = shown('| a |\n| --- |\n| 1 | 2 |');
    expect(dataTables(message?.blocks ?? [])[0]?.caption).toBe('Table with 1 row');
  });

  test.each([
    ['HLA-B*57:01 and HLA-B*15:02', 'HLA-B*57:01 and HLA-B*15:02'],
    ['C[C@@H](N)C(=O)O', 'C[C@@H](N)C(=O)O'],
    ['5~10 mg, then 15~20 mg', '5~10 mg, then 15~20 mg'],
    ['P(A\\|B)', 'P(A|B)'],
    ['p < 10<sup>-9</sup>', 'p < 10⁻⁹'],
    ['<i>TP53</i><sup>+/-</sup>', 'TP53⁺⁄⁻'],
  ])('shows %s, also as CSV', (cell, text, csv = text) => {
    expect(firstCell(cell)).toEqual({ type: 'raw_text', text });
    const wide = tableOf(1, () => [cell, ...Array.from({ length: 22 }, () => 'x')]);
    const state = {
      turnId,
      phase: 'done',
      elapsedMs: 1,
      notes: [],
      maxMessages: 12,
      newBlocks: ['data_table'],
    } as const;
    expect(shownAnswer({ ...state, blocks: [{ kind: 'text', text: wide }] }).tables[0]).toContain(
      `\n"${csv}","x"`,
    );
  });

  test('of more than 20 columns shows the first 20, and a file has all of them', () => {
    const text = `Before.\n\n${tableOf(3, (row) => Array.from({ length: 23 }, (_, at) => (at === 22 ? `a"${row}` : `${at}`)))}\n\nAfter.`;
    expect(JSON.stringify(shown(text, { wholeTables: true }))).not.toContain('data_table');
    const state = {
      turnId,
      phase: 'done' as const,
      elapsedMs: 1,
      notes: [],
      maxMessages: 12,
      newBlocks: ['data_table' as const],
    };
    const [csv, ...more] = shownAnswer({ ...state, blocks: [{ kind: 'text', text }] }).tables;
    expect(more).toEqual([]);
    expect(csv?.split('\r\n')).toHaveLength(5);
    expect(csv).toContain('"21","a""2"\r\n');
    const [message] = shown(text);
    const [table] = dataTables(message?.blocks ?? []);
    expect(table?.rows.map((row) => row.length)).toEqual([20, 20, 20, 20]);
    expect(JSON.stringify(message?.blocks)).toContain('the first 20 of 23 columns');
    expect(JSON.stringify(message?.blocks)).not.toContain('```');
    expect(JSON.stringify(message?.simpler?.message)).toContain('```');
    const own = `\`\`\`\n${tableOf(3, () => Array.from({ length: 23 }, () => 'x'))}\n\`\`\``;
    expect(shownAnswer({ ...state, blocks: [{ kind: 'text', text: own }] }).tables).toEqual([]);
  });

  test('of more than 20 columns stays code where it takes several messages', () => {
    const text = tableOf(90, () => Array.from({ length: 23 }, (_, at) => `value ${at}`));
    const messages = shown(text);
    expect(messages.length).toBeGreaterThan(1);
    expect(messages.flatMap(({ blocks }) => dataTables(blocks))).toEqual([]);
  });

  test('is one for each message', () => {
    const [message] = shown(`${tableOf(11)}\n\nAnd:\n\n${tableOf(12)}`);
    expect(dataTables(message?.blocks ?? [])).toHaveLength(1);
    expect(JSON.stringify(message?.blocks)).toContain('| GENE11 | 11.5 |');
  });

  test('stays as it is where it continues in the next message: half of it would be sorted', () => {
    const text = tableOf(90, (row) => [`GENE${row}`, 'x'.repeat(150)]);
    const messages = shown(text);
    expect(messages.length).toBeGreaterThan(1);
    expect(messages.flatMap(({ blocks }) => dataTables(blocks))).toEqual([]);
  });

  test.each([
    ['12', 12],
    ['-0.5', -0.5],
    ['−3', -3],
    ['1.2e-8', 1.2e-8],
    ['1,234,567.8', 1_234_567.8],
    ['7\u202f674\u00a0220.5', 7_674_220.5],
    ['12.5%', 12.5],
    ['100 %', 100],
    ['–3', -3],
    ['0.004*', 0.004],
    ['0.0000004', 4e-7],
    ['.5', 0.5],
    ['0', 0],
    ['1e-400', Number.MIN_VALUE],
    ['1.2 × 10⁻⁸', 1.2e-8],
    ['−3×10^5', -300_000],
    ['10⁻⁴⁰⁰', Number.MIN_VALUE],
    ['-0.1e-400', -Number.MIN_VALUE],
    ['0e-400', 0],
  ])('shows %s as a number', (text, value) => {
    expect(firstCell(text)).toEqual({ type: 'raw_number', value, text });
  });

  test.each(['rs334', '007', '1,5', '< 0.001', '12 mg', '1-2', 'n/a', '1e999', '10⁹⁹⁹', '3 × 10⁸ mg'])(
    'shows %s as text',
    (text) => {
      expect(firstCell(text)).toEqual({ type: 'raw_text', text });
    },
  );

  test('keeps the formatting of its cells', () => {
    const elements = (cell: string) => {
      const rich = firstCell(cell);
      return (JSON.parse(JSON.stringify(rich)) as { elements: { elements: unknown[] }[] }).elements[0]
        ?.elements;
    };
    expect(elements('**x** `y`')).toEqual([
      { type: 'text', text: 'x', style: { bold: true } },
      { type: 'text', text: ' ' },
      { type: 'text', text: 'y', style: { code: true } },
    ]);
    expect(elements('`a\\|b`')).toEqual([{ type: 'text', text: 'a|b', style: { code: true } }]);
    expect(elements('[ClinVar](https://c.example/1 "t")')).toEqual([
      { type: 'link', url: 'https://c.example/1', text: 'ClinVar' },
    ]);
    expect(elements('[a](https://c.example/a\\_b\\)\\|c?x=1&amp;y=2)')).toEqual([
      { type: 'link', url: 'https://c.example/a_b)|c?x=1&y=2', text: 'a' },
    ]);
    expect(elements('https://c.example/a\\|b。')).toEqual([
      { type: 'link', url: 'https://c.example/a|b', text: 'https://c.example/a|b' },
      { type: 'text', text: '。' },
    ]);
    expect(firstCell('a\\_b \\| c')).toEqual({ type: 'raw_text', text: 'a_b | c' });
    expect(firstCell('')).toEqual({ type: 'raw_text', text: ' ' });
    expect(firstCell('a &lt; b &amp; c')).toEqual({ type: 'raw_text', text: 'a < b & c' });
    expect(firstCell('chr1:100:A:T')).toEqual({ type: 'raw_text', text: 'chr1:100:A:T' });
    expect(firstCell('200 &micro;L, 95&#176;C &x; \\&lt;')).toEqual({
      type: 'raw_text',
      text: '200 µL, 95°C &x; &lt;',
    });
    expect(elements('<https://c.example/C=C\\[C@H]C>')).toMatchObject([
      { type: 'link', url: 'https://c.example/C=C\\[C@H]C' },
    ]);
    expect(elements('<https://c.example/1>')).toEqual([
      { type: 'link', url: 'https://c.example/1', text: 'https://c.example/1' },
    ]);
  });
});
