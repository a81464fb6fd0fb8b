import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { describe, expect, test } from 'vitest';
import { AnswerSplitter } from '../../../src/render/splitting/answer-splitter.ts';
import { splitAnswer } from '../../support/answer-parts.ts';
import { markdownOf } from '../../support/markdown-shape.ts';

/** The items of the outermost numbered lists as another reader of Markdown shows them: number, and types of blocks. */
function itemsOf(markdown: string): string[] {
  const itemsIn = (node: Nodes): string[] => {
    if (node.type === 'list' && node.ordered === true) {
      const blocks = node.children.map((item) => item.children.map(({ type }) => type).join(' '));
      return blocks.map((types, at) => `${(node.start ?? 1) + at} ${types}`);
    }
    return 'children' in node ? node.children.flatMap(itemsIn) : [];
  };
  return itemsIn(fromMarkdown(markdown));
}

const ANSWERS: readonly (readonly [string, ...string[]])[] = [
  [
    '3. Ada\n   - x\n   - y\n7. Bo\n8. Cy\n12. Di',
    ...['3 paragraph list', '7 paragraph', '8 paragraph', '12 paragraph'],
  ],
  [
    '1. a\n\n   more\n4. b\n\n   ```r\n   y\n   ```\n9. c',
    ...['1 paragraph paragraph', '4 paragraph code', '9 paragraph'],
  ],
  ['2) a\n   > x\n5) b\n\nEnd', '2 paragraph blockquote', '5 paragraph'],
  ['> 3. a\n>    1. x\n> 7. b', '3 paragraph list', '7 paragraph'],
  ['- 3. a\n     - x\n  7. b\n- c', '3 paragraph list', '7 paragraph'],
  ['3. a\n2. b\n   - x\n1. c', '3 paragraph', '2 paragraph list', '1 paragraph'],
];

describe('a list that skips numbers and whose items hold blocks', () => {
  test.each(ANSWERS)('keeps its numbers and its blocks: %j', (answer, ...items) => {
    expect(itemsOf(splitAnswer(answer).map(markdownOf).join(''))).toEqual(items);
  });

  test('keeps the numbers of the list that follows', () => {
    const answer = '1. a\n   - x\n3. b\n   - y\n\n1) c\n2) d';
    expect(itemsOf(splitAnswer(answer).map(markdownOf).join('')).slice(-2)).toEqual([
      '1 paragraph',
      '2 paragraph',
    ]);
  });

  test.each(ANSWERS)('shows no other number while it grows: %j', (answer, ...items) => {
    const splitter = new AnswerSplitter();
    const numbers = Array.from(answer, (_, at) => {
      const parts = splitter.parts(answer.slice(0, at + 1), { final: false });
      return itemsOf(parts.map(markdownOf).join('')).map((item) => Number.parseInt(item, 10));
    });
    const written = items.map((item) => Number.parseInt(item, 10));
    for (const shown of numbers) expect(written.slice(0, shown.length)).toEqual(shown);
  });
});
