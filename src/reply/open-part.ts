import { fenceFor, isTooWide, ROWS_MOST } from './context.ts';
import { BLOCKS_MOST, BlockCount, crowdedPieces } from './cut.ts';
import { joinerCost } from './emphasis.ts';
import { lineEnd, lineStart, type MarkdownNode, type ParseCount, parseMarkdown } from './markdown.ts';
import { formulaCost } from './math.ts';
import { joined, type Piece, piecesOf } from './pieces.ts';
import { pingCost } from './pings.ts';
import { before, CONTAINER, PARAGRAPH_REACH, settledInside } from './settled.ts';
import { finalCloser, tailOf } from './tail.ts';

/**
 * Characters of one part: what opens it, the answer's, and the word joiners. With what closes it and our own lines
 * below the answer it stays under 10,000 for all block text of a message.
 */
const PART_MOST = 9_450;
/** Lines of one part: the parser's work grows by the square of the blocks that it is given. */
const LINES_MOST = 800;

/** From where the open part is parsed again when the answer grows: what stands before is settled. */
interface Base {
  /** In the answer. */
  at: number;
  /** What is parsed before it: the part's opener, or the construct that the base is in. */
  prefix: string;
  blocks: BlockCount;
  rows: number;
  /** The fence around the table that the base is in, where it is shown as code. */
  fence: string | undefined;
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
  #lines = 0;
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
    return {
      at: this.start,
      prefix: this.opener,
      blocks: new BlockCount(),
      rows: 0,
      fence: undefined,
      pieces: [],
    };
  }

  /**
   * The answer has grown to `text`: what is kept of the shorter one is taken from this one, or else copied, so that the
   * shorter one need not stay in memory beside it.
   */
  moveTo(text: string): void {
    let at = this.start;
    const pieces = joined(this.#base.pieces).map((piece) => {
      if (piece.added) return piece;
      const from = at;
      at += piece.text.length;
      return { text: text.slice(from, at), added: false };
    });
    const prefix = Buffer.from(this.#base.prefix, 'utf16le').toString('utf16le');
    this.#base = { ...this.#base, pieces, prefix };
  }

  /** Measures what is new; true once there is more than fits, and `filled` is then where the part is full. */
  fill(text: string): boolean {
    while (this.filled < text.length) {
      const cost = this.#cost + 1 + (this.filled > this.start ? addedFor(text, this.filled) : 0);
      const lines = this.#lines + (text.charAt(this.filled) === '\n' ? 1 : 0);
      if (cost > PART_MOST || lines > LINES_MOST) return true;
      this.#cost = cost;
      this.#lines = lines;
      this.filled += 1;
    }
    return false;
  }

  /** Parses what is new, or as much of it as passes the limits; true when those on blocks or rows may be passed. */
  grow(text: string, count: ParseCount): boolean {
    for (const first of crowdedPieces(this.#base.prefix + text.slice(this.#base.at))) {
      if (this.#isOver(first, parseMarkdown(first, count))) return true;
    }
    const { source, tree } = this.parse(text, count);
    return this.#isOver(source, tree);
  }

  /** Parses all that is new. */
  parse(text: string, count: ParseCount): { source: string; tree: MarkdownNode } {
    const source = this.#base.prefix + text.slice(this.#base.at);
    if (this.#tail?.source === source) return this.#tail;
    const tree = parseMarkdown(source, count);
    if (!this.#goesOn(source, tree.children[0])) {
      this.#base = this.#wholePart();
      return this.parse(text, count);
    }
    this.#tail = { source, tree };
    return this.#tail;
  }

  #isOver(source: string, tree: MarkdownNode): boolean {
    const blocks = this.#base.blocks.copy();
    for (const node of tree.children) blocks.add(node);
    return blocks.count > BLOCKS_MOST || rowsOf(source, tree) + this.#base.rows > ROWS_MOST;
  }

  /** Whether the table that the base is in is shown as it was: one that gets a long row becomes code from its head on. */
  #goesOn(source: string, table: MarkdownNode | undefined): boolean {
    const { rows, fence } = this.#base;
    if (table?.type !== 'table') return true;
    if (fence !== undefined) return fenceFor(source.slice(table.start, table.end)) <= fence;
    return rows === 0 || !isTooWide(source, table);
  }

  /** What is shown of it, and up to where of the answer. */
  render(text: string, final: boolean, count: ParseCount): { pieces: Piece[]; end: number } {
    const { source, tree } = this.parse(text, count);
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
        fence: base.fence,
      }),
    ];
    const end = base.at + hold - base.prefix.length;
    this.#advance(text, source, tree);
    this.#tail = undefined;
    return { pieces, end };
  }

  /** Up to where a full part may be cut without cutting what is unfinished at its end. */
  safeEnd(source: string, tree: MarkdownNode, count: ParseCount): number {
    return tailOf(source, tree, count).open;
  }

  /** Moves the base behind what is settled now. */
  #advance(text: string, source: string, tree: MarkdownNode): void {
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
    for (const done of tree.children.slice(0, last)) blocks.add(done);
    const inner = settledInside(source, tree, node, complete);
    const at = inner?.at ?? lineStart(source, node.start);
    if (at <= old.prefix.length) return;
    if (inner && CONTAINER.test(node.type)) blocks.add(before(node, at));
    const settled = piecesOf({
      text: source,
      tree,
      from: old.at === this.start ? 0 : old.prefix.length,
      sourceFrom: old.prefix.length,
      to: at,
      closer: '',
      fence: old.fence,
      goesOn: inner?.fence !== undefined,
    });
    this.#base = {
      at: old.at + at - old.prefix.length,
      prefix: inner?.prefix ?? '',
      blocks,
      rows: inner && node.type === 'table' ? inner.rows + (last === 0 ? old.rows : 0) : 0,
      fence: last === 0 && inner?.fence !== undefined ? (old.fence ?? inner.fence) : inner?.fence,
      pieces: [...old.pieces, ...settled],
    };
    if (this.#base.at > text.length)
      throw new Error('the settled part of an answer is longer than the answer');
  }
}

/** Characters that what we add may take for the character at `index`. */
function addedFor(text: string, index: number): number {
  return pingCost(text, index) + formulaCost(text, index) + joinerCost(text, index);
}

/** Rows of the longest table that is shown as one. */
function rowsOf(text: string, tree: MarkdownNode): number {
  const counts = tree.children.map((node) => {
    if (node.type !== 'table') return rowsOf(text, node);
    return isTooWide(text, node) ? 0 : node.children.length;
  });
  return Math.max(0, ...counts);
}
