import { lineStart } from '../markdown/markdown-node.ts';
import { parseMarkdown } from '../markdown/parse-markdown.ts';

/** How far behind `to` a block is read, to know what it is (characters). */
const LOOK_AHEAD = 2_000;

/**
 * The place in an answer, after `from` and not after `to`, at which it can go on in a new message as if written
 * apart: before a top-level block, or before a line of a plain paragraph. `from` where there is none. Both are
 * characters of `text`; `from` must not stand inside of a block.
 */
export function breakPoint(text: string, from: number, to: number): number {
  const rest = text.slice(from, to + LOOK_AHEAD);
  const shown = to - from;
  let best = 0;
  for (const node of parseMarkdown(rest, { characters: 0 }).children) {
    if (node.start > shown) break;
    best = lineStart(rest, node.start);
    if (node.end <= shown || node.type !== 'paragraph') continue;
    const line = lineStart(rest, shown);
    if (line > node.start && isWholeParagraph(rest.slice(line, node.end))) best = line;
  }
  return from + best;
}

/** Whether the rest of a paragraph is a paragraph by itself too. */
function isWholeParagraph(text: string): boolean {
  const [first, ...more] = parseMarkdown(text, { characters: 0 }).children;
  return first?.type === 'paragraph' && more.length === 0;
}
