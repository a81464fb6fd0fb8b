import {
  CONTAINER_TYPES,
  isTableTooWide,
  lineEnd,
  lineStart,
  MAX_TABLE_ROWS,
  type MarkdownNode,
  nodesAround,
} from '../markdown/markdown-node.ts';
import { isParsedEnough, type ParseCounter, parseMarkdown } from '../markdown/parse-markdown.ts';
import { graphemeStart } from '../text-format.ts';
import { type Seam, seamAt } from './seam.ts';

/** Most blocks that Slack may make of a message's Markdown: 50 in all, less five for the app's own. */
const MAX_MARKDOWN_BLOCKS = 45;

/** Of more headings in a row (one of each level), none is taken for the heading of what follows. */
const MAX_HEADINGS_IN_A_ROW = 6;

/** A cut: the offset where the next part starts, and its seam. */
export interface CutPoint extends Seam {
  at: number;
}

/** How many blocks Slack makes of nodes so far, and whether the next one may belong to the last of them. */
export interface SlackBlockCount {
  count: number;
  isInRun: boolean;
}

export const NO_BLOCKS: SlackBlockCount = { count: 0, isInRun: false };

/** Counts one more: Slack makes a block of each heading, rule and table, and one of everything in between. */
export function countBlock({ count, isInRun }: SlackBlockCount, { type }: MarkdownNode): SlackBlockCount {
  const isAlone = /^(?:heading|thematicBreak|table)$/.test(type);
  return { count: isAlone || !isInRun ? count + 1 : count, isInRun: !isAlone };
}

/**
 * The first cut in a range that the limits on blocks and table rows require, if any; headings go with what follows them.
 * `blocks` holds those before the text.
 */
export function cutAtBlockLimit(
  text: string,
  root: MarkdownNode,
  { first, before }: { first: number; before: number },
  blocks = NO_BLOCKS,
): CutPoint | undefined {
  const isInRange = (at: number) => at >= first && at < before;
  let headings: number[] = [];
  let counted = blocks;
  for (const node of blocksInOrder(root.children)) {
    counted = countBlock(counted, node);
    const start = lineStart(text, node.start);
    if (counted.count > MAX_MARKDOWN_BLOCKS && isInRange(start)) {
      const above = headings.length <= MAX_HEADINGS_IN_A_ROW ? headings.find(isInRange) : undefined;
      return cutAt(text, root, above ?? start);
    }
    headings = node.type === 'heading' ? [...headings, start] : [];
    const row =
      node.type === 'table' && !isTableTooWide(text, node) ? node.children[MAX_TABLE_ROWS] : undefined;
    if (row && isInRange(row.start)) return cutAt(text, root, lineStart(text, row.start));
  }
  return undefined;
}

/** All blocks in order; those inside a list or quote follow the list or quote itself. */
export function* blocksInOrder(nodes: readonly MarkdownNode[]): Generator<MarkdownNode> {
  for (const node of nodes) {
    yield node;
    if (CONTAINER_TYPES.test(node.type)) yield* blocksInOrder(node.children);
  }
}

/**
 * The best cut of a full text after `first`: between blocks, else between list items or lines, else at a word, else
 * at a grapheme. The part should reach `least`; `safe` is where the last unfinished construct starts.
 */
export function cutAtLengthLimit(
  text: string,
  root: MarkdownNode,
  { first, least, safe }: { first: number; least: number; safe: number },
): CutPoint {
  for (const from of [least, Math.max(first, least >> 1), first]) {
    const cut = cutFrom(text, root, from, safe);
    if (cut !== undefined) return cut;
  }
  const at = graphemeStart(text, text.length - 1);
  return cutAt(text, root, text.charAt(at - 1) === '\\' ? at - 1 : at);
}

/** The same at `least` or after it; undefined if there is no such cut. */
export function cutFrom(text: string, root: MarkdownNode, least: number, safe: number): CutPoint | undefined {
  const at = lineCut(text, root, least, safe) ?? wordCut(text, root, least, safe);
  return at === undefined ? undefined : cutAt(text, root, at);
}

function cutAt(text: string, root: MarkdownNode, at: number): CutPoint {
  return { at, ...seamAt(text, root, at) };
}

function lineCut(text: string, root: MarkdownNode, least: number, safe: number): number | undefined {
  const best: (number | undefined)[] = [undefined, undefined, undefined];
  for (
    let at = lineStart(text, Math.min(safe, text.length));
    at >= least && at > 0;
    at = lineStart(text, at - 1)
  ) {
    const rank = lineCutRank(text, root, at);
    if (rank !== undefined && best[rank] === undefined) best[rank] = at;
    if (best[0] !== undefined) break;
  }
  return best.find((at) => at !== undefined);
}

/** 0: between blocks; 1: between the items or blocks of a container; 2: between lines; undefined: no cut here. */
function lineCutRank(text: string, root: MarkdownNode, at: number): number | undefined {
  const chain = nodesAround(root, at);
  const deepest = chain.at(-1);
  const before = (deepest ?? root).children.findLast((node) => node.end <= at);
  if (before?.type === 'heading') return undefined;
  if (!deepest) return 0;
  if (chain.some((node) => node.type === 'heading')) return undefined;
  const table = chain.find((node) => node.type === 'table');
  if (table) return table.children.slice(2).some((row) => lineStart(text, row.start) === at) ? 2 : undefined;
  const code = chain.find(({ type }) => /^(?:code|formula|verbatim)$/.test(type));
  if (code) return at > lineEnd(text, code.start) + 1 ? 2 : undefined;
  // The backslash of a hard break would show at the end of the message.
  if (text.startsWith('\\\n', at - 2)) return undefined;
  const paragraph = chain.findIndex((node) => node.type === 'paragraph');
  if (paragraph !== -1) return chain.length - paragraph <= 2 && isPlainText(chain.at(-1)) ? 2 : undefined;
  return CONTAINER_TYPES.test(deepest.type) ? 1 : undefined;
}

function isPlainText(node: MarkdownNode | undefined): boolean {
  return node?.type === 'text' || node?.type === 'paragraph' || node?.type === 'break';
}

/** The last offset between two words of plain text, preferably after the end of a sentence. */
function wordCut(text: string, root: MarkdownNode, least: number, safe: number): number | undefined {
  let word: number | undefined;
  for (let at = Math.min(safe, text.length - 1); at >= least; at -= 1) {
    const before = text.charAt(at - 1);
    const spaced = before === ' ' && /\S/.test(text.charAt(at));
    const ideograph = /[。！？；，、]/.test(before) && graphemeStart(text, at) === at;
    if (!spaced && !ideograph) continue;
    if (!isWordBreak(text, root, at)) continue;
    word ??= at;
    if (ideograph || /[.!?]["')\]]? $/.test(text.slice(at - 4, at))) return at;
    if (word - at > 200) return word;
  }
  return word;
}

function isWordBreak(text: string, root: MarkdownNode, at: number): boolean {
  if (/^[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)?$/.test(text.slice(lineStart(text, at), at))) return false;
  const chain = nodesAround(root, at);
  const deepest = chain.at(-1);
  // An offset between two inline nodes lies in the paragraph itself.
  if (deepest?.type === 'paragraph') return true;
  return chain.at(-2)?.type === 'paragraph' && isPlainText(deepest);
}

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
