import { wordJoinerCost } from '../markdown/cjk-emphasis.ts';
import { lineEnd, lineStart, type MarkdownNode } from '../markdown/markdown-node.ts';
import { formulaCost } from '../markdown/math.ts';
import { type ParseCounter, parseMarkdown } from '../markdown/parse-markdown.ts';
import { pingCost } from '../markdown/pings.ts';
import { MAX_MARKDOWN_BLOCKS, SlackBlockCount } from './cut-point.ts';
import { isTableTooWide, MAX_TABLE_ROWS } from './fences-and-tables.ts';
import { closerAtEnd, incompleteEndOf } from './incomplete-markdown.ts';
import { mergeSegments, type Segment, segmentsOf } from './segments.ts';

/**
 * Most characters of one part: its opener, the answer's text and word joiners. With its closer and the lines below the
 * answer it stays under Slack's 10,000 characters for all blocks of a message.
 */
const MAX_PART_LENGTH = 9_450;
/** Most marks of one part, because the parser's time is quadratic in them: a part crowded with them ends earlier. */
const MAX_MARKS = 2_700;
const LINE_MARKS = 4;
const INLINE_MARK = /[[\]()*_`~$\\<>!|@]/;

/** The start of a block at which parsing restarts when the answer grows; everything before it is stable. */
interface ReparseBase {
  /** The offset in the answer. */
  at: number;
  /** The part's opener, if the base is where the part starts. */
  prefix: string;
  blocks: SlackBlockCount;
  segments: Segment[];
}

/** The last, unfinished part of a growing answer. */
export class OpenPart {
  readonly start: number;
  readonly opener: string;
  /** How far the answer has been measured. */
  filledTo: number;
  #cost: number;
  #marks = 0;
  #base: ReparseBase;
  #lastParse: { source: string; tree: MarkdownNode } | undefined;

  constructor(start: number, opener: string) {
    this.start = start;
    this.opener = opener;
    this.filledTo = start;
    this.#cost = opener.length;
    this.#base = { at: start, prefix: opener, blocks: new SlackBlockCount(), segments: [] };
  }

  /**
   * Takes everything that is kept of the shorter answer from `text` or copies it, so that the shorter one can be freed.
   */
  rebaseOn(text: string): void {
    let at = this.start;
    const segments = mergeSegments(this.#base.segments).map((segment) => {
      if (segment.isAdded) return segment;
      const from = at;
      at += segment.text.length;
      return { text: text.slice(from, at), isAdded: false };
    });
    const prefix = Buffer.from(this.#base.prefix, 'utf16le').toString('utf16le');
    this.#base = { ...this.#base, segments, prefix };
  }

  /** Measures new text. Returns true once the part is full, which is then at `filledTo`. */
  fill(text: string): boolean {
    while (this.filledTo < text.length) {
      const cost = this.#cost + 1 + (this.filledTo > this.start ? addedCost(text, this.filledTo) : 0);
      const marks = this.#marks + marksAt(text, this.filledTo);
      if (cost > MAX_PART_LENGTH || marks > MAX_MARKS) return true;
      this.#cost = cost;
      this.#marks = marks;
      this.filledTo += 1;
    }
    return false;
  }

  /** Whether the part exceeds the limits on blocks or rows. */
  exceedsBlockLimits(text: string, count: ParseCounter): boolean {
    const { source, tree } = this.parse(text, count);
    const blocks = this.#base.blocks.copy();
    for (const node of tree.children) blocks.add(node);
    return blocks.count > MAX_MARKDOWN_BLOCKS || longestTableRows(source, tree) > MAX_TABLE_ROWS;
  }

  /** Parses from the base on. */
  parse(text: string, count: ParseCounter): { source: string; tree: MarkdownNode } {
    const source = this.#base.prefix + text.slice(this.#base.at);
    if (this.#lastParse?.source === source) return this.#lastParse;
    const tree = parseMarkdown(source, count);
    this.#lastParse = { source, tree };
    return this.#lastParse;
  }

  /** The segments to show, and where in the answer they end. */
  render(text: string, final: boolean, count: ParseCounter): { segments: Segment[]; end: number } {
    const { source, tree } = this.parse(text, count);
    const base = this.#base;
    const tail = final
      ? { shownTo: source.trimEnd().length, closer: closerAtEnd(source, tree) }
      : incompleteEndOf(source, tree, count);
    const hold = Math.max(tail.shownTo, base.prefix.length);
    const shown = { text: source, tree, sourceFrom: base.prefix.length, to: hold, closer: tail.closer };
    const segments = [...base.segments, ...segmentsOf(shown)];
    const end = base.at + hold - base.prefix.length;
    this.#advanceBase(source, tree);
    this.#lastParse = undefined;
    return { segments, end };
  }

  /** How far a full part may be cut without splitting an unfinished construct at its end. */
  safeCutEnd(source: string, tree: MarkdownNode, count: ParseCounter): number {
    return incompleteEndOf(source, tree, count).openFrom;
  }

  /** Moves the base to the last block that starts on a complete line. */
  #advanceBase(source: string, tree: MarkdownNode): void {
    const complete = lineStart(source, source.length);
    const last = tree.children.findLastIndex((node) => lineEnd(source, node.start) < complete);
    const node = tree.children[last];
    if (!node) return;
    const { at: before, prefix, blocks, segments } = this.#base;
    const at = lineStart(source, node.start);
    if (at <= prefix.length) return;
    for (const done of tree.children.slice(0, last)) blocks.add(done);
    const stable = segmentsOf({ text: source, tree, sourceFrom: prefix.length, to: at });
    this.#base = { at: before + at - prefix.length, prefix: '', blocks, segments: [...segments, ...stable] };
  }
}

/** How many characters the renderer may add for the character at `index`. */
function addedCost(text: string, index: number): number {
  return pingCost(text, index) + formulaCost(text, index) + wordJoinerCost(text, index);
}

/** How many marks the character at `index` counts for; a list marker counts with the space after it. */
function marksAt(text: string, index: number): number {
  const character = text.charAt(index);
  if (character === '\n') return LINE_MARKS;
  if (INLINE_MARK.test(character)) return 1;
  return character === ' ' && /[-+*.)]/.test(text.charAt(index - 1)) ? 4 : 0;
}

/** Rows of the longest table that is shown as a table. */
function longestTableRows(text: string, tree: MarkdownNode): number {
  const counts = tree.children.map((node) => {
    if (node.type !== 'table') return longestTableRows(text, node);
    return isTableTooWide(text, node) ? 0 : node.children.length;
  });
  return Math.max(0, ...counts);
}
