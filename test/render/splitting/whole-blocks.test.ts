import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkBlocks } from '../../../sandbox/slack/block-validation.ts';
import { lastNodes } from '../../../src/render/markdown/markdown-node.ts';
import { parseMarkdown } from '../../../src/render/markdown/parse-markdown.ts';
import { type DisplayedReply, renderReply } from '../../../src/render/messages/reply-message.ts';
import { type AnswerPart, AnswerSplitter } from '../../../src/render/splitting/answer-splitter.ts';
import { breakPoint } from '../../../src/render/splitting/cut-point.ts';
import { displayedText, splitAnswer } from '../../support/answer-parts.ts';
import { cellsOf, expectWithinLimits, markdownOf, shapeOf } from '../../support/markdown-shape.ts';

/** What a well-formed block is made of; every line, row and item gets a number of its own. */
type Plan = {
  kind: 'code' | 'table' | 'list' | 'quote' | 'text';
  lines: number;
  width: number;
  deep: boolean;
};

const plan: fc.Arbitrary<Plan> = fc.record({
  kind: fc.constantFrom('code', 'table', 'list', 'quote', 'text'),
  lines: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 80, max: 130 })),
  width: fc.integer({ min: 1, max: 6 }),
  deep: fc.boolean(),
});
const plans = fc.array(plan, { minLength: 1, maxLength: 5 });

/** The Markdown of a plan, with its marks: `c1`, `c2`, … in code, `t1` in tables, `w1` anywhere else. */
function written(blocks: readonly Plan[]): string {
  const counts = { c: 0, t: 0, w: 0 };
  const mark = (kind: 'c' | 't' | 'w') => {
    counts[kind] += 1;
    return `${kind}${counts[kind]}.`;
  };
  const all = blocks.map(({ kind, lines, width, deep }) => {
    const rows = Array.from({ length: lines });
    const more = ' and words'.repeat(width);
    const within = deep ? '  ' : '';
    const item = deep ? `- ${mark('w')} item\n\n` : '';
    const text = {
      code: () => ['```py', ...rows.map(() => `${mark('c')}${more}`), '```'],
      table: () => ['| id | what |', '|---|---|', ...rows.map(() => `| ${mark('t')} | x${more} |`)],
      list: () => rows.map((_, index) => `${'  '.repeat(index % 3)}- ${mark('w')}${more}`),
      quote: () => rows.map(() => `> ${mark('w')}${more}\n>`),
      text: () => rows.map(() => `${mark('w')} **bold${more}**\n`),
    }[kind]();
    return `${item}${text.map((line) => within + line).join('\n')}`;
  });
  return all.join('\n\nBetween.\n\n').trimEnd();
}

/** The marks of one kind in a text, in their order. */
function marks(kind: string, text: string): string[] {
  return text.match(new RegExp(`${kind}\\d+\\.`, 'g')) ?? [];
}

function numbered(kind: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${kind}${index + 1}.`);
}

/** Expects every line in code that is code, every row in a table with its head, and all else once and in order. */
function expectWhole(answer: string, parts: readonly AnswerPart[]): void {
  const shapes = parts.map((part) => shapeOf(markdownOf(part)));
  const codes = shapes.flatMap(({ codes }) => codes);
  const tables = shapes.flatMap(({ tables }) => tables).map(cellsOf);
  const count = (kind: string) => marks(kind, answer).length;
  expect(marks('c', codes.map(({ value }) => value).join('\n'))).toEqual(numbered('c', count('c')));
  expect(codes.every(({ lang }) => lang === 'py')).toBe(true);
  expect(marks('t', tables.flat(2).join('\n'))).toEqual(numbered('t', count('t')));
  for (const [head] of tables) expect(head).toEqual(['id', 'what']);
  const own = displayedText(parts);
  for (const kind of ['c', 't', 'w'])
    expect(marks(kind, own)).toEqual(numbered(kind, marks(kind, own).length));
}

/** Sections with one or two headings each, some of them in a quote. */
const sections = fc
  .array(
    fc.record({
      headings: fc.integer({ min: 1, max: 2 }),
      words: fc.oneof(
        { weight: 9, arbitrary: fc.integer({ min: 1, max: 30 }) },
        { weight: 1, arbitrary: fc.integer({ min: 100, max: 900 }) },
      ),
      isQuoted: fc.boolean(),
      isList: fc.boolean(),
    }),
    { minLength: 30, maxLength: 60 },
  )
  .map((all) =>
    all
      .map(({ headings, words, isQuoted, isList }) => {
        const heads = Array.from(
          { length: headings },
          (_, level) => `${'#'.repeat(level + 2)} Some heading\n\n`,
        );
        const text = `${heads.join('')}${isList ? '- ' : ''}${'word '.repeat(words).trimEnd()}.`;
        return isQuoted ? text.replaceAll(/^/gm, '> ') : text;
      })
      .join('\n\n'),
  );

/** The type of the last block, also within a quote or list. */
function lastBlock(markdown: string): string | undefined {
  return lastNodes(parseMarkdown(markdown, { characters: 0 })).at(-1)?.type;
}

describe('a heading', () => {
  test('never ends a message whose text begins in the next one', () => {
    fc.assert(
      fc.property(sections, (answer) => {
        const parts = splitAnswer(answer);
        expect(displayedText(parts)).toBe(answer);
        for (const part of parts) expect(lastBlock(markdownOf(part))).not.toBe('heading');
      }),
      { numRuns: 8, endOnFailure: true },
    );
  });

  test('never ends a message that is continued below because no edit was to be had', () => {
    fc.assert(
      fc.property(sections, fc.double({ min: 0.05, max: 0.95, noNaN: true }), (answer, share) => {
        const at = breakPoint(answer, 0, Math.floor(answer.length * share), { characters: 0 });
        expect(lastBlock(answer.slice(0, at))).not.toBe('heading');
      }),
      { numRuns: 20, endOnFailure: true },
    );
  });

  test('does not fill messages with itself where there are only headings', () => {
    expect(splitAnswer('## Some heading\n\n'.repeat(200).trimEnd())).toHaveLength(5);
  });
});

describe('an answer of well-formed blocks', () => {
  test('keeps its code and tables intact wherever it is cut', () => {
    fc.assert(
      fc.property(plans, (blocks) => {
        const answer = written(blocks);
        const parts = splitAnswer(answer);
        expect(displayedText(parts)).toBe(answer);
        expectWhole(answer, parts);
        for (const part of parts) expectWithinLimits(part, { fencesClosed: true });
      }),
      { numRuns: 7, endOnFailure: true },
    );
  });

  test('goes on with the indented code of an item as code', () => {
    const lines = Array.from({ length: 700 }, (_, at) => `        c${at}. = run(${at})`);
    const parts = splitAnswer(`10. Then\n\n${lines.join('\n')}`);
    const codes = parts.flatMap((part) => shapeOf(markdownOf(part)).codes.map(({ value }) => value));
    expect(parts.length).toBeGreaterThan(1);
    expect(marks('c', codes.join('\n'))).toHaveLength(700);
  });

  test('keeps them intact at every step while it grows', () => {
    fc.assert(
      fc.property(
        plans,
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 }),
        (blocks, at) => {
          const answer = written(blocks);
          const splitter = new AnswerSplitter();
          for (const share of at.toSorted((a, b) => a - b)) {
            const parts = splitter.parts(answer.slice(0, Math.floor(answer.length * share)), {
              final: false,
            });
            const codes = parts.flatMap((part) => shapeOf(markdownOf(part)).codes);
            expect(codes.every(({ lang }) => lang === 'py')).toBe(true);
            expectWhole(displayedText(parts), parts);
          }
        },
      ),
      { numRuns: 6, endOnFailure: true },
    );
  });

  test('makes messages that Slack accepts, with everything below them', () => {
    const phase = fc.constantFrom<DisplayedReply['phase']>('working', 'done', 'failed', 'length', 'delayed');
    const notes = fc.array(fc.string({ maxLength: 300 }), { maxLength: 5 });
    fc.assert(
      fc.property(plans, phase, notes, fc.integer({ min: 1, max: 4 }), (blocks, where, lines, most) => {
        const messages = renderReply({
          ...{ turnId: 't', phase: where, elapsedMs: 90_000, notes: lines, maxMessages: most },
          blocks: [
            { kind: 'tool_use', id: '1', name: 'look', input: {} },
            { kind: 'text', text: written(blocks) },
          ],
        });
        expect(messages.length).toBeLessThanOrEqual(most + 1);
        for (const { text, blocks: shown } of messages) {
          expect(checkBlocks(shown, 'message').length).toBeGreaterThan(0);
          expect(Buffer.byteLength(text)).toBeLessThan(4_000);
        }
      }),
      { numRuns: 6, endOnFailure: true },
    );
  });
});
