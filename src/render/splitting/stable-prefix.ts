import { isUnspacedLetter } from '../markdown/cjk-emphasis.ts';
import { CONTAINER_TYPES, lineEnd, lineStart, type MarkdownNode } from '../markdown/markdown-node.ts';
import {
  fenceAround,
  isFenceClosed,
  isTableTooWide,
  openingFenceOf,
  tableHeadEnd,
} from './fences-and-tables.ts';
import { seamAt } from './seam.ts';

/** Characters at the end of a long paragraph that are parsed again when it grows. */
export const REPARSED_PARAGRAPH_LENGTH = 1_000;

/** An offset inside a block before which nothing changes anymore, and the prefix that makes the rest parse alike. */
export interface StablePoint {
  at: number;
  prefix: string;
  /** Rows of the table that continues there, without its header; 0 if the table is shown as code. */
  rows: number;
  /** The fence of a table that is shown as code and continues there. */
  fence?: string;
}

/** The last stable point inside the last block of a text whose lines are complete up to `complete`. */
export function stablePointInside(
  source: string,
  tree: MarkdownNode,
  node: MarkdownNode,
  complete: number,
): StablePoint | undefined {
  if (node.type === 'table') return insideTable(source, node, complete);
  if (node.type === 'paragraph') return insideParagraph(source, node);
  const at =
    node.type === 'code' ? insideCode(source, node, complete) : insideContainer(source, node, complete);
  if (at === undefined) return undefined;
  const { opener } = seamAt(source, tree, at);
  // Without the items around it, the rest would parse differently.
  return opener === '' && node.type !== 'blockquote' && isInsideItem(node, at)
    ? undefined
    : { at, prefix: opener, rows: 0 };
}

/** The part of a block before an offset. */
export function nodeUpTo(node: MarkdownNode, at: number): MarkdownNode {
  const children = node.children.filter((child) => child.start < at);
  return { ...node, children: children.map((child) => (child.end <= at ? child : nodeUpTo(child, at))) };
}

/** Whether an offset is inside an item of a list, not between two. */
function isInsideItem(node: MarkdownNode, at: number): boolean {
  return node.type !== 'list' || node.children.some((item) => item.start < at && at < item.end);
}

/** The start of the innermost last block or item that starts on a complete line. */
function insideContainer(source: string, node: MarkdownNode, complete: number): number | undefined {
  if (!CONTAINER_TYPES.test(node.type))
    return node.type === 'code' ? insideCode(source, node, complete) : undefined;
  const index = node.children.findLastIndex((child) => lineEnd(source, child.start) < complete);
  const child = node.children[index];
  if (!child) return undefined;
  const deeper = insideContainer(source, child, complete);
  if (deeper !== undefined) return deeper;
  const at = lineStart(source, child.start);
  // A child on the line of the container's own marker needs that marker.
  return at > lineStart(source, node.start) && index > 0 ? at : undefined;
}

function insideCode(source: string, node: MarkdownNode, complete: number): number | undefined {
  const fence = openingFenceOf(source, node);
  if (fence === undefined || isFenceClosed(source, node, fence)) return undefined;
  const opening = lineEnd(source, node.start) + 1;
  // One line of content is parsed again, so that the code never looks empty.
  let content = complete;
  while (content > opening && /[\s`~>]/.test(source.charAt(content - 1))) content -= 1;
  const at = lineStart(source, content);
  return at <= opening ? undefined : at;
}

function insideTable(source: string, node: MarkdownNode, complete: number): StablePoint | undefined {
  const wide = isTableTooWide(source, node);
  // If the header alone is not too wide, the rest could parse as another table.
  if (wide && !isTableTooWide(source, { ...node, children: node.children.slice(0, 1) })) return undefined;
  const index = node.children.findLastIndex((row) => lineEnd(source, row.start) < complete);
  const row = node.children[index];
  if (!row || index < 2) return undefined;
  const point = {
    at: lineStart(source, row.start),
    prefix: source.slice(lineStart(source, node.start), tableHeadEnd(source, node) + 1),
  };
  return wide
    ? { ...point, rows: 0, fence: fenceAround(source.slice(node.start, node.end)) }
    : { ...point, rows: index - 1 };
}

function insideParagraph(source: string, node: MarkdownNode): StablePoint | undefined {
  for (const child of node.children.toReversed()) {
    if (child.type !== 'text' || child.end - node.start < REPARSED_PARAGRAPH_LENGTH) continue;
    const from = Math.min(child.end, node.end - REPARSED_PARAGRAPH_LENGTH);
    for (let at = from; at > child.start; at -= 1) {
      if (isBetweenWords(source, at)) return { at, prefix: '', rows: 0 };
    }
  }
  return undefined;
}

function isBetweenWords(source: string, at: number): boolean {
  const before = source.charAt(at - 1);
  if (before === ' ') return /\p{L}/u.test(source.charAt(at));
  return isUnspacedLetter(before) && isUnspacedLetter(source.charAt(at));
}
