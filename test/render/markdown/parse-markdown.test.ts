import { expect, test } from 'vitest';
import { parseMarkdown } from '../../../src/render/markdown/parse-markdown.ts';

test('a text that was parsed a moment ago is not parsed again, and counts as before', () => {
  const count = { characters: 0 };
  const text = 'The answer is **42**.';
  const tree = parseMarkdown(text, count);
  expect(parseMarkdown(text, count)).toBe(tree);
  expect(count.characters).toBe(2 * text.length);
});
