import { describe, expect, test } from 'vitest';
import { limitNesting } from '../../../src/render/markdown/parse-markdown.ts';
import { displayedText, splitAnswer } from '../../support/answer-parts.ts';

const deep: Record<string, string> = {
  lists: '+ '.repeat(4_500),
  'numbered lists': '1. '.repeat(3_000),
  quotes: '>'.repeat(9_000),
  'lists in quotes': '> - '.repeat(2_000),
  emphasis: `${'*a _b '.repeat(1_000)}x${'_*'.repeat(1_000)}`,
  'bold text': `${'*'.repeat(4_000)}a${'*'.repeat(4_000)}`,
  pictures: `${'!['.repeat(1_500)}a${'](u)'.repeat(1_500)}`,
};

describe('an answer with deeply nested constructs', () => {
  test.each(Object.entries(deep))('is shown whole, and soon: %s', (_, line) => {
    const answer = `Here is the file:\n\n${line}x\n\nThe answer is 42.`;
    const begun = process.cpuUsage();
    expect(displayedText(splitAnswer(answer))).toBe(answer);
    expect(displayedText(splitAnswer(answer, { final: false }))).toBe(answer);
    const { user, system } = process.cpuUsage(begun);
    expect((user + system) / 1_000).toBeLessThan(1_000);
  });

  test('is read as deep as people write', () => {
    const list = Array.from({ length: 30 }, (_, depth) => `${'  '.repeat(depth)}- *a* **b** _c_`).join('\n');
    for (const text of [
      list,
      '> '.repeat(30),
      '*'.repeat(60),
      '-'.repeat(60),
      '- '.repeat(60),
      '![a](b) '.repeat(99),
    ])
      expect(limitNesting(text)).toBe(text);
  });

  test('is of the same length as its tree', () => {
    for (const text of Object.values(deep)) expect(limitNesting(text)).toHaveLength(text.length);
  });

  test('keeps the marks of a long list, of a table and of code without an empty line', () => {
    const rows = '- an *item* with a lone *mark\n| **a** | *b |\n*p = *q;\n'.repeat(100);
    expect(limitNesting(rows)).toBe(rows);
  });
});
