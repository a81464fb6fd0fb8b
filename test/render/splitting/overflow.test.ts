import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AnswerSplitter } from '../../../src/render/splitting/answer-splitter.ts';
import { displayedText, splitAnswer } from '../../support/answer-parts.ts';
import { markdownArbitrary } from '../../support/markdown-arbitrary.ts';
import { shapeOf } from '../../support/markdown-shape.ts';

const split = (text: string, most: number) => new AnswerSplitter().split(text, { final: true, most });
const answer = 'Some words of an answer.\n\n'.repeat(1_500).trimEnd();

describe('an answer that exceeds its messages', () => {
  test('leaves the rest for a file, so that each character is shown once', () => {
    const { parts, rest } = split(answer, 2);
    expect(parts).toHaveLength(2);
    expect(displayedText(parts) + rest?.content.slice(rest.openerLength)).toBe(answer);
    expect(rest).toMatchObject({ name: 'rest-of-the-answer.md', answerLength: answer.length });
  });

  test('leaves nothing if its messages show all of it', () => {
    const parts = splitAnswer(answer);
    expect(split(answer, parts.length)).toEqual({ parts, rest: undefined });
  });

  test('continues the same code or table in the file', () => {
    const code = `\`\`\`py\n${'value = compute(1)\n'.repeat(2_000)}\`\`\``;
    const { rest } = split(code, 1);
    expect(shapeOf(rest?.content ?? '').codes).toMatchObject([{ lang: 'py' }]);
    const table = `| a | b |\n|---|---|\n${'| 1 | 2 |\n'.repeat(300)}`;
    expect(split(table, 1).rest?.content.startsWith('| a | b |\n|---|---|\n| 1')).toBe(true);
  });

  test('keeps white space that fills messages', () => {
    const text = `a${'\n'.repeat(60_000)}b`;
    const { parts, rest } = split(text, 2);
    expect(displayedText(parts) + rest?.content.slice(rest.openerLength)).toBe(text);
  });

  test('of any kind is shown whole by its messages and the file', () => {
    fc.assert(
      fc.property(markdownArbitrary(), fc.integer({ min: 1, max: 2 }), (text, most) => {
        const long = `${text}\n\n`.repeat(Math.ceil(20_000 / (text.length + 2))).trimEnd();
        const { parts, rest } = split(long, most);
        expect(parts.length).toBeLessThanOrEqual(most);
        expect(displayedText(parts) + (rest?.content.slice(rest.openerLength) ?? '')).toBe(long);
      }),
      { numRuns: 10, endOnFailure: true },
    );
  });
});
