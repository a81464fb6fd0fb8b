import { describe, expect, test } from 'vitest';
import { AnswerSplitter } from '../../../src/render/splitting/answer-splitter.ts';
import { displayedText, splitAnswer } from '../../support/answer-parts.ts';
import { cellsOf, expectWithinLimits, markdownOf, shapeOf } from '../../support/markdown-shape.ts';

/** The parts of an answer, after the checks that hold for all. */
function partsOf(answer: string) {
  const parts = splitAnswer(answer);
  expect(displayedText(parts)).toBe(answer);
  for (const part of parts) expectWithinLimits(part, { fencesClosed: true });
  return parts;
}

function tableRows(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `| gene ${index} | ${index / 7} |`);
}

const head = '| name | value |\n| --- | ---: |';
const sentence = 'The **third** sample differs from the others, see `run_18`. ';

describe('an answer of', () => {
  test.each([
    [3_000, 1],
    [4_000, 1],
    [12_000, 2],
    [120_000, 14],
  ])('%i characters takes at most %i messages', (length, most) => {
    const paragraph = `${sentence.repeat(8).trimEnd()}\n\n`;
    const answer = paragraph
      .repeat(Math.ceil(length / paragraph.length))
      .slice(0, length)
      .trimEnd();
    expect(partsOf(answer).length).toBeLessThanOrEqual(most);
  });

  test.each([
    ['ideographs', '細胞の遺伝子発現を調べました。'],
    ['ideographs without an end', '細胞の遺伝子発現'],
    ['families of emoji', '👩‍👩‍👧'],
    ['flags and skin tones', '🇩🇪👍🏽'],
    ['letters with many marks', `e${'\u0301'.repeat(40)}`],
  ])('%s is cut between graphemes only', (_, unit) => {
    const answer = unit.repeat(Math.ceil(30_000 / unit.length));
    const parts = partsOf(answer);
    expect(parts.length).toBeGreaterThan(3);
    const whole = new Set([...new Intl.Segmenter().segment(answer)].map(({ index }) => index));
    for (const { source } of parts) expect(whole.has(source[0])).toBe(true);
  });
});

test.each(['_', '*'])('lines of %s leave room for the backslashes before them', (mark) => {
  const line = `${'some words '.repeat(20)}${mark.repeat(90)}\n`;
  expect(partsOf(line.repeat(60).trimEnd()).length).toBeGreaterThan(2);
});

describe('a formula that is longer than a message', () => {
  test.each([
    ['$$', '$$'],
    ['\\[', '\\]'],
    ['\\begin{align}', '\\end{align}'],
  ])('between %s and %s is code in each of its messages, cut between lines', (open, close) => {
    const lines = Array.from({ length: 500 }, (_, at) => `x_{${at}} + y_{${at}} \\\\`);
    const parts = partsOf(['Before.', '', open, ...lines, close, '', 'After.'].join('\n'));
    expect(parts.length).toBeGreaterThan(2);
    for (const [at, part] of parts.entries()) {
      const before = at === 0 ? 'Before.\n\n' : '';
      const after = at === parts.length - 1 ? `${close}\n\`\`\`\n\nAfter.` : '\\\\\n\n```';
      expect(markdownOf(part).slice(0, 200).split('x_', 1)).toEqual([`${before}\`\`\`\n${open}\n`]);
      expect(markdownOf(part).endsWith(after)).toBe(true);
    }
  });
});

describe('an answer of links with long addresses', () => {
  const link = (index: number) =>
    `[${index}](https://journal.example.org/articles/${index}?token=${'a'.repeat(250)})`;
  const links = Array.from({ length: 60 }, (_, index) => link(index)).join(', ');

  test.each(['', 'The sources are these. '])('is cut between two of them, behind %j', (before) => {
    const parts = partsOf(before + links);
    for (const { source } of parts.slice(1)) expect((before + links).slice(source[0])).toMatch(/^\[\d+\]\(/);
    expect(parts[0]?.source[1]).toBeGreaterThan(8_500);
  });
});

describe('a half-written link with many open brackets', () => {
  test.each(['[x](http://a', '[&R](A', '[x](<a> ('])('takes no time that grows with them: %s', (link) => {
    const answer = `A tree: ${link}${'(a,'.repeat(60)} and on`;
    expect(displayedText(splitAnswer(answer, { final: false }))).not.toContain('and on and on');
  });
});

describe('a paragraph with hard breaks', () => {
  test('is not cut behind their backslashes', () => {
    const answer = 'A line of a poem that goes on, and on.\\\n'.repeat(400).slice(0, -2);
    const parts = partsOf(answer);
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts) expect(markdownOf(part).trimEnd()).not.toMatch(/\\$/);
  });
});

describe('a fence that is longer than a message', () => {
  const lines = Array.from({ length: 1_500 }, (_, index) => `  value[${index}] = read(${index})`);
  const code = lines.join('\n');

  test.each([
    ['```python', '```'],
    ['~~~~', '~~~~'],
  ])('that starts with %s continues as code of the same kind', (opening, fence) => {
    const shapes = partsOf(`Before.\n\n${opening}\n${code}\n${fence}\n\nAfter.`).map((part) =>
      shapeOf(markdownOf(part)),
    );
    expect(shapes.length).toBeGreaterThan(3);
    const codes = shapes.flatMap((shape) => shape.codes);
    expect(new Set(codes.map(({ lang }) => lang)).size).toBe(1);
    expect(codes.flatMap(({ value }) => value.split('\n')).filter((line) => line !== '')).toEqual(lines);
  });

  test('is closed in what is shown of it while it grows', () => {
    const answer = `\`\`\`\n${code}`;
    const splitter = new AnswerSplitter();
    for (let length = 10; length < answer.length; length += 3_001) {
      const open = splitter.parts(answer.slice(0, length), { final: false }).map(markdownOf).map(shapeOf);
      expect(open.filter(({ openFences }) => openFences > 0)).toEqual([]);
    }
  });

  test('stays closed while its last line is a shorter fence', () => {
    const answer = `\`\`\`\`md\n${'some words\n'.repeat(20)}\`\`\`\n`;
    const splitter = new AnswerSplitter();
    splitter.parts(answer, { final: false });
    const [part] = splitter.parts(`${answer}\n`, { final: false });
    expect(part && shapeOf(markdownOf(part)).openFences).toBe(0);
  });

  test('inside a list stays in it', () => {
    const inner = lines.map((line) => `  ${line}`).join('\n');
    const shapes = partsOf(`- step\n  \`\`\`\n${inner}\n  \`\`\`\n- next`).map((part) =>
      shapeOf(markdownOf(part)),
    );
    const shown = shapes.flatMap((shape) => shape.codes).flatMap(({ value }) => value.split('\n'));
    expect(shown.filter((line) => line !== '')).toEqual(lines);
  });
});

describe('a table', () => {
  test.each([
    ['rows', tableRows(350)],
    ['characters', tableRows(90).map((row) => `${row.slice(0, -2)} ${'wide '.repeat(60)}|`)],
  ])('with more %s than fit a message repeats its header in each part', (_, rows) => {
    const tables = partsOf(`Text.\n\n${head}\n${rows.join('\n')}\n\nAfter.`).flatMap(
      (part) => shapeOf(markdownOf(part)).tables,
    );
    expect(tables.length).toBeGreaterThan(2);
    for (const table of tables) {
      expect(cellsOf(table)[0]).toEqual(['name', 'value']);
      expect(table.align).toEqual([null, 'right']);
    }
    const names = tables.flatMap((table) => cellsOf(table).slice(1)).map((row) => row[0]);
    expect(names).toEqual(rows.map((_row, index) => `gene ${index}`));
  });

  test('beside another one keeps the limits of both', () => {
    const two = `${head}\n${tableRows(80).join('\n')}\n\nand\n\n${head}\n${tableRows(150).join('\n')}`;
    const rows = partsOf(two).flatMap((part) =>
      shapeOf(markdownOf(part)).tables.flatMap((table) => cellsOf(table).slice(1)),
    );
    expect(rows).toHaveLength(230);
  });

  test('that is too wide for Slack is shown as code, at once and while it grows', () => {
    const row = `|${'cell|'.repeat(22)}`;
    const wide = `Look:\n\n${row}\n${row.replaceAll('cell', '---')}\n${`${row}\n`.repeat(200)}`;
    for (const part of partsOf(wide.trimEnd())) expect(shapeOf(markdownOf(part)).tables).toEqual([]);
    const splitter = new AnswerSplitter();
    for (let length = 20; length < wide.length; length += 3_499) {
      for (const part of splitter.parts(wide.slice(0, length), { final: false })) {
        expectWithinLimits(part, { fencesClosed: true });
      }
    }
  });

  test('that becomes too wide on the way turns into code as a whole', () => {
    const grown = `${head}\n${tableRows(20).join('\n')}\n`;
    const splitter = new AnswerSplitter();
    for (const length of [60, 300, grown.length]) splitter.parts(grown.slice(0, length), { final: false });
    const [part] = splitter.parts(`${grown}|${'cell|'.repeat(22)}\n`, { final: false });
    expect(part && shapeOf(markdownOf(part)).tables).toEqual([]);
    expect(part && shapeOf(markdownOf(part)).codes[0]?.value.split('\n')).toHaveLength(23);
  });
});

describe('nested lists', () => {
  test('go on at their depth in the next message', () => {
    const items = Array.from(
      { length: 400 },
      (_, index) => `    - inner ${index} of the list, with some words`,
    );
    const parts = partsOf(`1. first\n   - second\n${items.map((item) => `  ${item}`).join('\n')}`);
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts.slice(1)) expect(markdownOf(part)).toMatch(/^1\. …\n {3}- …\n/);
  });
});

describe('a link whose label names another host', () => {
  test('shows the host that it opens in its label; code shows what it showed', () => {
    const link = '[sign in at **google.com**](https://two.example/a/very/long?way=1 "title")';
    const code = '`[a.io](https://b.io)`';
    const [part] = partsOf(`- See ${link} and [one.org](https://one.org/a).\n\n${code}`);
    expect(part && markdownOf(part)).toBe(
      `- See ${link.replace('](', ' (two.example)](')} and [one.org](https://one.org/a).\n\n${code.replace(']', ']\u2060')}`,
    );
  });

  test.each(['google.com', '`[` google.com'])('leaves room for the hosts behind %s', (label) => {
    const host = `${'two.'.repeat(50)}example`;
    const parts = partsOf(`[${label}](https://${host}/a) `.repeat(100).trimEnd());
    const counts = parts.map((part) => markdownOf(part).split(` (${host})]`).length - 1);
    expect(counts).toEqual([20, 20, 20, 20, 20]);
  });
});
