import { fenceOf, headEnd, isClosed, isTooWide, ROWS_MOST } from './context.ts';
import { BLOCKS_MOST, BlockCount } from './cut.ts';
import { joinerCost } from './emphasis.ts';
import { lineEnd, lineStart, type MarkdownNode, type ParseCount, parseMarkdown } from './markdown.ts';
import { formulaCost } from './math.ts';
import { type Piece, piecesOf } from './pieces.ts';
import { pingCost } from './pings.ts';
import { finalCloser, tailOf } from './tail.ts';

/**
 * Characters of one part: what opens it, the answer's, and the word joiners. With what closes it and our own lines
 * below the answer it stays under 10,000 for all block text of a message.
 */
const PART_MOST = 9_450;
/** Characters of a long paragraph that are read again when it grows. */
const PARAGRAPH_REACH = 1_000;

/** From where the open part is parsed again when the answer grows: what stands before is settled. */
interface Base {
  /** In the answer. */
  at: number;
  /** What is parsed before it: the part's opener, or the construct that the base is in. */
  prefix: string;
  blocks: BlockCount;
  rows: number;
  /** What is shown of the part before the base. */
  pieces: Piece[];
}

/** The last part of an answer that grows. */
export class OpenPart {
  readonly start: number;
  readonly opener: string;
  /** Up to where of the answer it is measured. */
  filled: number;
  #cost: number;
  #base: Base;
  #tail: { source: string; tree: MarkdownNode } | undefined;

  constructor(start: number, opener: string) {
    this.start = start;
    this.opener = opener;
    this.filled = start;
    this.#cost = opener.length;
    this.#base = this.#wholePart();
  }

  #wholePart(): Base {
    return { at: this.start, prefix: this.opener, blocks: new BlockCount(), rows: 0, pieces: [] };
  }

  /** Measures what is new; true once there is more than fits, and `filled` is then where the part is full. */
  fill(text: string): boolean {
    while (this.filled < text.length) {
      const cost = this.#cost + 1 + (this.filled > this.start ? addedFor(text, this.filled) : 0);
      if (cost > PART_MOST) return true;
      this.#cost = cost;
      this.filled += 1;
    }
    return false;
  }

  /** Parses what is new; true when the limits on blocks or rows may be passed. */
  grow(text: string, count: ParseCount): boolean {
    const source = this.#base.prefix + text.slice(this.#base.at);
    const tree = parseMarkdown(source, count);
    const first = tree.children[0];
    if (this.#base.rows > 0 && first?.type === 'table' && isTooWide(source, first)) {
      // What was shown as a table becomes code, from its first row on.
      this.#base = this.#wholePart();
      return this.grow(text, count);
    }
    this.#tail = { source, tree };
    const blocks = this.#base.blocks.copy();
    for (const node of tree.children) blocks.add(node);
    return blocks.count > BLOCKS_MOST || rowsOf(tree) + this.#base.rows > ROWS_MOST;
  }

  /** What is shown of it, and up to where of the answer; undefined where there is nothing yet. */
  render(text: string, final: boolean, count: ParseCount): { pieces: Piece[]; end: number } | undefined {
    if (!this.#tail) return undefined;
    const { source, tree } = this.#tail;
    const base = this.#base;
    const tail = final
      ? { hold: source.trimEnd().length, closer: finalCloser(source, tree) }
      : tailOf(source, tree, count);
    const hold = Math.max(tail.hold, base.prefix.length);
    const atBase = base.at === this.start;
    const pieces = [
      ...base.pieces,
      ...piecesOf({
        text: source,
        tree,
        from: atBase ? 0 : base.prefix.length,
        sourceFrom: base.prefix.length,
        to: hold,
        closer: tail.closer,
      }),
    ];
    const end = base.at + hold - base.prefix.length;
    this.#advance(text);
    return { pieces, end };
  }

  /** Up to where a full part may be cut without cutting what is unfinished at its end. */
  safeEnd(source: string, tree: MarkdownNode, count: ParseCount): number {
    return tailOf(source, tree, count).open;
  }

  #advance(text: string): void {
    if (!this.#tail) return;
    const { source, tree } = this.#tail;
    const complete = lineStart(source, source.length);
    const old = this.#base;
    const last = tree.children.findLastIndex(
      (node) =>
        lineEnd(source, node.start) < complete ||
        // A line this long stays a paragraph, complete or not.
        (node.type === 'paragraph' && node.end - node.start > PARAGRAPH_REACH),
    );
    const node = tree.children[last];
    if (!node) return;
    const blocks = old.blocks.copy();
    for (const before of tree.children.slice(0, last)) blocks.add(before);
    const inner = innerBase(source, node, complete, blocks);
    const at = inner?.at ?? lineStart(source, node.start);
    if (at <= old.prefix.length) return;
    const upTo = { text: source, tree, from: old.at === this.start ? 0 : old.prefix.length };
    this.#base = {
      at: old.at + at - old.prefix.length,
      prefix: inner?.prefix ?? '',
      blocks,
      rows: inner && node.type === 'table' ? inner.rows + (last === 0 ? old.rows : 0) : 0,
      pieces: [...old.pieces, ...piecesOf({ ...upTo, sourceFrom: old.prefix.length, to: at, closer: '' })],
    };
    if (this.#base.at > text.length)
      throw new Error('the settled part of an answer is longer than the answer');
    this.#tail = undefined;
  }
}

/** Characters that what we add may take for the character at `index`. */
function addedFor(text: string, index: number): number {
  return pingCost(text, index) + formulaCost(text, index) + joinerCost(text, index);
}

function rowsOf(tree: MarkdownNode): number {
  return Math.max(
    0,
    ...tree.children.map((node) => (node.type === 'table' ? node.children.length : rowsOf(node))),
  );
}

/** A settled place inside a long block at the top of the text, and what has to stand before it. */
function innerBase(
  source: string,
  node: MarkdownNode,
  complete: number,
  blocks: BlockCount,
): { at: number; prefix: string; rows: number } | undefined {
  if (node.type === 'code') return codeBase(source, node, complete);
  if (node.type === 'table') return tableBase(source, node, complete);
  if (node.type === 'paragraph') return paragraphBase(source, node);
  if (node.type === 'list') {
    const index = node.children.findLastIndex((item) => lineEnd(source, item.start) < complete);
    const item = node.children[index];
    if (!item || index === 0) return undefined;
    blocks.add({ ...node, children: node.children.slice(0, index) });
    return { at: lineStart(source, item.start), prefix: '', rows: 0 };
  }
  return undefined;
}

function codeBase(source: string, node: MarkdownNode, complete: number) {
  const fence = fenceOf(source, node);
  if (fence === undefined || isClosed(source, node, fence)) return undefined;
  const opening = lineEnd(source, node.start) + 1;
  // A line of content stays in what is parsed again, so that the code never looks empty.
  let content = complete;
  while (content > opening && /[\s`~>]/.test(source.charAt(content - 1))) content -= 1;
  const at = lineStart(source, content);
  if (at <= opening) return undefined;
  return { at, prefix: source.slice(lineStart(source, node.start), opening), rows: 0 };
}

function tableBase(source: string, node: MarkdownNode, complete: number) {
  if (isTooWide(source, node)) return undefined;
  const index = node.children.findLastIndex((row) => lineEnd(source, row.start) < complete);
  const row = node.children[index];
  if (!row || index < 2) return undefined;
  const prefix = source.slice(lineStart(source, node.start), headEnd(source, node) + 1);
  return { at: lineStart(source, row.start), prefix, rows: index - 1 };
}

function paragraphBase(source: string, node: MarkdownNode) {
  for (const child of node.children.toReversed()) {
    if (child.type !== 'text' || child.end - node.start < PARAGRAPH_REACH) continue;
    const from = Math.min(child.end, node.end - PARAGRAPH_REACH);
    for (let at = from; at > child.start; at -= 1) {
      if (source.charAt(at - 1) === ' ' && /\p{L}/u.test(source.charAt(at)))
        return { at, prefix: '', rows: 0 };
    }
  }
  return undefined;
}
