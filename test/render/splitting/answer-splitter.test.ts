import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AnswerPart, AnswerSplitter } from '../../../src/render/splitting/answer-splitter.ts';
import { displayedText, splitAnswer } from '../../support/answer-parts.ts';
import { markdownArbitrary } from '../../support/markdown-arbitrary.ts';
import { expectWithinLimits, markdownOf, shapeOf } from '../../support/markdown-shape.ts';

/** Random Markdown over and over, up to about so many characters, with something in it that can be seen. */
function answers(length: number) {
  return markdownArbitrary()
    .filter((text) => /[^\s\p{C}\p{Z}]/u.test(text))
    .map((text) => `${text}\n\n`.repeat(Math.ceil(length / (text.length + 2))).trimEnd());
}

const growth = fc.array(fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 5_000 })), {
  minLength: 1,
  maxLength: 8,
});

/** The lengths that an answer has after each step, up to its whole length. */
function lengths(steps: readonly number[], most: number): number[] {
  let at = 0;
  return steps.map((step) => {
    at = Math.min(at + step, most);
    return at;
  });
}

/** Where a part's text comes from and whether it may still change: what another process must agree on. */
function extent({ source, isClosed: closed }: AnswerPart) {
  return { source, closed };
}

describe('the parts of any answer', () => {
  test('show every character once, each within the limits and with its fences closed', () => {
    fc.assert(
      fc.property(answers(10_000), (answer) => {
        const fencesClosed = shapeOf(answer).openFences === 0;
        const parts = splitAnswer(answer);
        expect(displayedText(parts)).toBe(answer);
        for (const part of parts) expectWithinLimits(part, { fencesClosed });
      }),
      { numRuns: 5, endOnFailure: true },
    );
  });

  test('stay within the limits while it grows, show only what was written, and never change once closed', () => {
    fc.assert(
      fc.property(answers(10_000), growth, (answer, steps) => {
        const fencesClosed = shapeOf(answer).openFences === 0;
        const splitter = new AnswerSplitter();
        let closed: AnswerPart[] = [];
        for (const length of lengths(steps, answer.length)) {
          const parts = splitter.parts(answer.slice(0, length), { final: false });
          expect(answer.startsWith(displayedText(parts))).toBe(true);
          for (const part of parts) expectWithinLimits(part, { fencesClosed });
          expect(parts.slice(0, closed.length)).toEqual(closed);
          closed = parts.filter((part) => part.isClosed);
        }
      }),
      { numRuns: 5, endOnFailure: true },
    );
  });

  test('are the same however it grew, and however seldom it was looked at', () => {
    const look = fc.constantFrom('kept', 'dropped', 'none');
    const looks = fc.array(look, { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(answers(10_000), growth, looks, fc.boolean(), (answer, steps, looked, final) => {
        const splitter = new AnswerSplitter();
        for (const [step, length] of lengths(steps, answer.length).entries()) {
          const text = answer.slice(0, length);
          if (looked[step] !== 'kept') splitter.recordGrowth(text);
          if (looked[step] !== 'none') splitter.parts(text, { final: false });
          if (looked[step] !== 'kept') splitter.dropCache();
        }
        expect(splitter.parts(answer, { final })).toEqual(splitAnswer(answer, { final }));
      }),
      { numRuns: 6, endOnFailure: true },
    );
  });

  test('follow the text when the service removes some of it', () => {
    fc.assert(
      fc.property(answers(10_000), answers(5_000), fc.nat(10_000), (before, after, common) => {
        const splitter = new AnswerSplitter();
        splitter.parts(before, { final: false });
        const answer = before.slice(0, common) + after;
        splitter.recordGrowth(answer);
        expect(splitter.parts(answer, { final: true }).map(extent)).toEqual(splitAnswer(answer).map(extent));
      }),
      { numRuns: 5, endOnFailure: true },
    );
  });
});

describe('an answer that is crowded with marks', () => {
  const units = [
    '[',
    '1)\n',
    '**重。**后',
    '- - - a\n',
    '[a](b',
    '- > 1. `a` **b** [c](d) | e |\n',
    '|a|b|\n|-|-|\n',
  ];

  test.each(units)('is split in small slices, also after each change at its start: %j', (unit) => {
    const crowded = unit.repeat(110_000 / unit.length);
    const splitter = new AnswerSplitter();
    const options = { final: false, most: 2 };
    for (const answer of [crowded, `x${crowded}`]) {
      for (let parsed = 0, isMore = true; isMore; ) {
        parsed = splitter.parsed.characters;
        isMore = splitter.closePart(answer, options);
        expect(splitter.parsed.characters - parsed).toBeLessThan(30_000);
      }
      const parts = splitter.parts(answer, options);
      expect(parts).toEqual(new AnswerSplitter().parts(answer, options));
      expect(answer.startsWith(displayedText(parts))).toBe(true);
      // The parser's time is quadratic in the marks of one part.
      for (const { source } of parts) {
        const marks = answer.slice(...source).match(/[[\]()*`>|\n]/g) ?? [];
        expect(marks.length).toBeLessThanOrEqual(2_700);
      }
    }
  });
});

test('an answer that was rendered is not parsed again to close its parts', () => {
  const splitter = new AnswerSplitter();
  const options = { final: false, most: 2 };
  splitter.parts('One **word**', options);
  const { characters } = splitter.parsed;
  expect(splitter.closePart('One **word**', options)).toBe(false);
  expect(splitter.parsed).toEqual({ characters });
});

test('what is parsed behind a break counts for the cost of an answer', () => {
  const before = `${'word '.repeat(20)}\n\n`;
  const text = before + 'word '.repeat(1_000);
  const splitter = new AnswerSplitter();
  expect(splitter.closePart(text, { final: true, breaks: [before.length] })).toBe(true);
  expect(splitter.parsed.characters).toBeGreaterThan(text.length);
});

test('a part that has filled up is cut in what was not stable yet, without being parsed again', () => {
  const answer = Array.from(
    { length: 400 },
    (_, index) => `Paragraph **${index}** with a few words.\n\n`,
  ).join('');
  const splitter = new AnswerSplitter();
  let most = 0;
  for (let length = 100; length < answer.length; length += 100) {
    const { characters } = splitter.parsed;
    splitter.parts(answer.slice(0, length), { final: false });
    most = Math.max(most, splitter.parsed.characters - characters);
  }
  expect(splitter.parts(answer, { final: true }).length).toBeGreaterThan(1);
  expect(most).toBeLessThan(3_000);
});

describe('white space that is longer than a message', () => {
  test.each([
    ['a word', `a\n${' '.repeat(30_000)}\nb`],
    ['the beginning', `${'\n'.repeat(20_000)}b`],
    ['code', `\`\`\`\n${'\n'.repeat(30_000)}b\n\`\`\``],
    ['characters without width', `a${'\u200B'.repeat(20_000)}b`],
  ])('after %s is kept, in messages that Slack accepts', (_, answer) => {
    const parts = splitAnswer(answer);
    expect(displayedText(parts)).toBe(answer);
    for (const part of parts) {
      expectWithinLimits(part, { fencesClosed: true });
      expect(markdownOf(part)).toMatch(/[^\s\p{C}\p{Z}]/u);
    }
  });
});

describe('an answer without a visible character', () => {
  test.each(['', ' \n\n ', '\u2060', '\uFEFF\u200B'])('%j has no part', (text) => {
    expect(splitAnswer(text)).toEqual([]);
    expect(new AnswerSplitter().parts(text, { final: false })).toEqual([]);
  });
});
