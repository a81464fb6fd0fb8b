import { wordJoinerCost } from '../markdown/cjk-emphasis.ts';
import { CONTAINER_TYPES, lineEnd, lineStart, type MarkdownNode } from '../markdown/markdown-node.ts';
import { formulaCost } from '../markdown/math.ts';
import { type ParseCounter, parseMarkdown } from '../markdown/parse-markdown.ts';
import { pingCost } from '../markdown/pings.ts';
import { crowdedPrefixes, MAX_MARKDOWN_BLOCKS, SlackBlockCount } from './cut-point.ts';
import { fenceAround, isTableTooWide, MAX_TABLE_ROWS } from './fences-and-tables.ts';
import { closerAtEnd, incompleteEndOf } from './incomplete-markdown.ts';
import { mergeSegments, type Segment, segmentsOf } from './segments.ts';
import { nodeUpTo, REPARSED_PARAGRAPH_LENGTH, stablePointInside } from './stable-prefix.ts';

/**
 * Characters of one part: what opens it, the answer's, and the word joiners. With what closes it and our own lines
 * below the answer it stays under 10,000 for all block text of a message.
 */
const MAX_PART_LENGTH = 9_450;
/** Lines of one part: the parser's work grows by the square of the blocks that it is given. */
const MAX_LINES = 800;

/** From where the open part is parsed again when the answer grows: what stands before is settled. */
interface ReparseBase {
  /** In the answer. */
  at: number;
  /** What is parsed before it: the part's opener, or the construct that the base is in. */
  prefix: string;
  blocks: SlackBlockCount;
  rows: number;
  /** The fence around the table that the base is in, where it is shown as code. */
  fence: string | undefined;
  /** What is shown of the part before the base. */
  segments: Segment[];
}

/** The last part of an answer that grows. */
export class OpenPart {
  readonly start: number;
  readonly opener: string;
  /** Up to where of the answer it is measured. */
  filledTo: number;
  #cost: number;
  #lines = 0;
  #base: ReparseBase;
  #lastParse: { source: string; tree: MarkdownNode } | undefined;

  constructor(start: number, opener: string) {
    this.start = start;
    this.opener = opener;
    this.filledTo = start;
    this.#cost = opener.length;
    this.#base = this.#wholePart();
  }

  #wholePart(): ReparseBase {
    return {
      at: this.start,
      prefix: this.opener,
      blocks: new SlackBlockCount(),
      rows: 0,
      fence: undefined,
      segments: [],
    };
  }

  /**
   * The answer has grown to `text`: what is kept of the shorter one is taken from this one, or else copied, so that the
   * shorter one need not stay in memory beside it.
   */
  rebaseOn(text: string): void {
    let at = this.start;
    const pieces = mergeSegments(this.#base.segments).map((piece) => {
      if (piece.isAdded) return piece;
      const from = at;
      at += piece.text.length;
      return { text: text.slice(from, at), isAdded: false };
    });
    const prefix = Buffer.from(this.#base.prefix, 'utf16le').toString('utf16le');
    this.#base = { ...this.#base, segments: pieces, prefix };
  }

  /** Measures what is new; true once there is more than fits, and `filled` is then where the part is full. */
  fill(text: string): boolean {
    while (this.filledTo < text.length) {
      const cost = this.#cost + 1 + (this.filledTo > this.start ? addedCost(text, this.filledTo) : 0);
      const lines = this.#lines + (text.charAt(this.filledTo) === '\n' ? 1 : 0);
      if (cost > MAX_PART_LENGTH || lines > MAX_LINES) return true;
      this.#cost = cost;
      this.#lines = lines;
      this.filledTo += 1;
    }
    return false;
  }

  /** Parses what is new, or as much of it as passes the limits; true when those on blocks or rows may be passed. */
  mayExceedBlockLimits(text: string, count: ParseCounter): boolean {
    for (const first of crowdedPrefixes(this.#base.prefix + text.slice(this.#base.at))) {
      if (this.#exceedsBlockLimits(first, parseMarkdown(first, count))) return true;
    }
    const { source, tree } = this.parse(text, count);
    return this.#exceedsBlockLimits(source, tree);
  }

  /** Parses all that is new. */
  parse(text: string, count: ParseCounter): { source: string; tree: MarkdownNode } {
    const source = this.#base.prefix + text.slice(this.#base.at);
    if (this.#lastParse?.source === source) return this.#lastParse;
    const tree = parseMarkdown(source, count);
    if (!this.#isTableStillShownAlike(source, tree.children[0])) {
      this.#base = this.#wholePart();
      return this.parse(text, count);
    }
    this.#lastParse = { source, tree };
    return this.#lastParse;
  }

  #exceedsBlockLimits(source: string, tree: MarkdownNode): boolean {
    const blocks = this.#base.blocks.copy();
    for (const node of tree.children) blocks.add(node);
    return (
      blocks.count > MAX_MARKDOWN_BLOCKS || longestTableRows(source, tree) + this.#base.rows > MAX_TABLE_ROWS
    );
  }

  /** Whether the table that the base is in is shown as it was: one that gets a long row becomes code from its head on. */
  #isTableStillShownAlike(source: string, table: MarkdownNode | undefined): boolean {
    const { rows, fence } = this.#base;
    if (table?.type !== 'table') return true;
    if (fence !== undefined) return fenceAround(source.slice(table.start, table.end)) <= fence;
    return rows === 0 || !isTableTooWide(source, table);
  }

  /** What is shown of it, and up to where of the answer. */
  render(text: string, final: boolean, count: ParseCounter): { pieces: Segment[]; end: number } {
    const { source, tree } = this.parse(text, count);
    const base = this.#base;
    const tail = final
      ? { shownTo: source.trimEnd().length, closer: closerAtEnd(source, tree) }
      : incompleteEndOf(source, tree, count);
    const hold = Math.max(tail.shownTo, base.prefix.length);
    const atBase = base.at === this.start;
    const pieces = [
      ...base.segments,
      ...segmentsOf({
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
    this.#advanceBase(text, source, tree);
    this.#lastParse = undefined;
    return { pieces, end };
  }

  /** Up to where a full part may be cut without cutting what is unfinished at its end. */
  safeCutEnd(source: string, tree: MarkdownNode, count: ParseCounter): number {
    return incompleteEndOf(source, tree, count).openFrom;
  }

  /** Moves the base behind what is settled now. */
  #advanceBase(text: string, source: string, tree: MarkdownNode): void {
    const complete = lineStart(source, source.length);
    const old = this.#base;
    const last = tree.children.findLastIndex(
      (node) =>
        lineEnd(source, node.start) < complete ||
        // A line this long stays a paragraph, complete or not.
        (node.type === 'paragraph' && node.end - node.start > REPARSED_PARAGRAPH_LENGTH),
    );
    const node = tree.children[last];
    if (!node) return;
    const blocks = old.blocks.copy();
    for (const done of tree.children.slice(0, last)) blocks.add(done);
    const inner = stablePointInside(source, tree, node, complete);
    const at = inner?.at ?? lineStart(source, node.start);
    if (at <= old.prefix.length) return;
    if (inner && CONTAINER_TYPES.test(node.type)) blocks.add(nodeUpTo(node, at));
    const settled = segmentsOf({
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
      segments: [...old.segments, ...settled],
    };
    if (this.#base.at > text.length)
      throw new Error('the settled part of an answer is longer than the answer');
  }
}

/** Characters that what we add may take for the character at `index`. */
function addedCost(text: string, index: number): number {
  return pingCost(text, index) + formulaCost(text, index) + wordJoinerCost(text, index);
}

/** Rows of the longest table that is shown as one. */
function longestTableRows(text: string, tree: MarkdownNode): number {
  const counts = tree.children.map((node) => {
    if (node.type !== 'table') return longestTableRows(text, node);
    return isTableTooWide(text, node) ? 0 : node.children.length;
  });
  return Math.max(0, ...counts);
}
