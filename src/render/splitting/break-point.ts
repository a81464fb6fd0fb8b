import { lineStart } from '../markdown/markdown-node.ts';
import { isParsedEnough, type ParseCounter, parseMarkdown } from '../markdown/parse-markdown.ts';

/** Characters after `to` that are read to recognise a block. */
const LOOK_AHEAD = 2_000;

/**
 * The last offset after `from` and at most `to` at which an answer can continue in a new message without a seam: before
 * a top-level block that is not below a heading, or before a line of a plain paragraph. Returns `from` if there is none. Both are offsets in `text`;
 * `from` must not be inside a block.
 */
export function breakPoint(text: string, from: number, to: number, count: ParseCounter): number {
  if (isParsedEnough(count)) return from;
  const rest = text.slice(from, to + LOOK_AHEAD);
  const shown = to - from;
  let best = 0;
  let isBelowHeading = false;
  for (const node of parseMarkdown(rest, count).children) {
    if (node.start > shown) break;
    if (!isBelowHeading) best = lineStart(rest, node.start);
    isBelowHeading = node.type === 'heading';
    if (node.end <= shown || node.type !== 'paragraph') continue;
    const line = lineStart(rest, shown);
    if (line > node.start && isWholeParagraph(rest.slice(line, node.end), count)) best = line;
  }
  return from + best;
}

/** Whether the rest of a paragraph is a paragraph by itself. */
function isWholeParagraph(text: string, count: ParseCounter): boolean {
  const [first, ...more] = parseMarkdown(text, count).children;
  return first?.type === 'paragraph' && more.length === 0;
}
