import { addressEndCost } from '../markdown/bare-address.ts';
import { wordJoinerCost } from '../markdown/cjk-emphasis.ts';
import { literalCost } from '../markdown/literal-marks.ts';
import { lineEnd, lineStart, type MarkdownNode } from '../markdown/markdown-node.ts';
import { formulaCost } from '../markdown/math.ts';
import { type ParseCounter, parseMarkdown } from '../markdown/parse-markdown.ts';
import { pingCost } from '../markdown/pings.ts';
import { MAX_SHOWN_SIZE, ShownAddition } from '../markdown/shown-size.ts';
import { hostNoteCost } from '../markdown/unsafe-links.ts';
import { blocksInOrder, countBlock, cutAtBlockLimit, NO_BLOCKS, type SlackBlockCount } from './cut-point.ts';
import { closerAtEnd, incompleteEndOf } from './incomplete-markdown.ts';
import { isVerbatim, mergeSegments, type Segment, segmentsOf } from './segments.ts';

/**
 * Most characters of one part: its opener, the answer's text and word joiners. With its closer and the lines below the
 * answer it stays under Slack's 10,000 characters for all blocks of a message.
 */
const MAX_PART_LENGTH = 9_450;
/** The same as Slack counts it, with room for the lines below the answer. */
const MAX_PART_SIZE = MAX_SHOWN_SIZE - 600;
/** Most marks of one part, because the parser's time is quadratic in them: a part crowded with them ends earlier. */
const MAX_MARKS = 2_700;
const LINE_MARKS = 4;
const INLINE_MARK = /[[\]()*_`~$\\<>!|@]/;

/** Fewest characters of the answer in a full part, if its constructs allow. */
export const MIN_PART_LENGTH = 9_000;
/** A part that is full earlier is cut among so many characters at its end, if its constructs allow. */
const CUT_RANGE = 300;
/** From this share of a limit on, a part may soon be full. */
const NEARLY_FULL = 0.85;

/** The start of a block at which parsing restarts when the answer grows; everything before it is stable. */
export interface ReparseBase {
  /** The offset in the answer. */
  at: number;
  /** What is parsed before it: the opener, while it is where the part starts. */
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
  readonly #addition = new ShownAddition();
  #base: ReparseBase;

  constructor(start: number, opener: string) {
    this.start = start;
    this.opener = opener;
    this.filledTo = start;
    this.#cost = opener.length;
    for (let at = 0; at < opener.length; at += 1) this.#addition.add(opener, at);
    this.#base = this.wholeBase;
  }

  /** From where it is parsed. */
  get base(): ReparseBase {
    return this.#base;
  }

  /** The base that its whole text is parsed from. */
  get wholeBase(): ReparseBase {
    return { at: this.start, prefix: this.opener, blocks: NO_BLOCKS, segments: [] };
  }

  /** Where it is cut at the earliest once it is full at `end`, if its constructs allow: an offset in the answer. */
  earliestCut(end: number): number {
    return Math.min(this.start + MIN_PART_LENGTH, Math.max(this.start + 1, end - CUT_RANGE));
  }

  /** Takes everything that is kept of the shorter answer from `text`, so that the shorter one can be freed. */
  rebaseOn(text: string): void {
    let at = this.start;
    const segments = mergeSegments(this.#base.segments).map((segment) => {
      const source = text.slice(at, at + segment.source.length);
      at += source.length;
      return isVerbatim(segment) ? { text: source, source } : { text: segment.text, source };
    });
    this.#base = { ...this.#base, segments };
  }

  /** Measures new text. Returns true once the part is full, which is then at `filledTo`. */
  fill(text: string): boolean {
    while (this.filledTo < text.length) {
      const cost = this.#cost + 1 + (this.filledTo > this.start ? addedCost(text, this.filledTo) : 0);
      const marks = this.#marks + marksAt(text, this.filledTo);
      this.#addition.add(text, this.filledTo);
      const size = cost + this.#addition.total;
      if (cost > MAX_PART_LENGTH || size > MAX_PART_SIZE || marks > MAX_MARKS) return true;
      this.#cost = cost;
      this.#marks = marks;
      this.filledTo += 1;
    }
    return false;
  }

  /** Whether the part exceeds the limits on blocks or table rows. */
  exceedsBlockLimits(text: string, final: boolean, count: ParseCounter): boolean {
    const { source, tree } = this.#parse(text, count);
    const first = this.#base.at === this.start ? this.opener.length + 1 : 0;
    const before = final ? source.length + 1 : lineStart(source, source.length);
    return cutAtBlockLimit(source, tree, { first, before }, this.#base.blocks) !== undefined;
  }

  /** Parses from the base on. */
  #parse(text: string, count: ParseCounter): { source: string; tree: MarkdownNode } {
    const source = this.#base.prefix + text.slice(this.#base.at);
    return { source, tree: parseMarkdown(source, count) };
  }

  /** The segments to show, and where in the answer they end. */
  render(text: string, final: boolean, count: ParseCounter): { segments: Segment[]; end: number } {
    const { source, tree } = this.#parse(text, count);
    const { at, prefix, segments: stable } = this.#base;
    const tail = final
      ? { shownTo: source.trimEnd().length, closer: closerAtEnd(source, tree) }
      : incompleteEndOf(source, tree, count);
    const hold = Math.max(tail.shownTo, prefix.length);
    const shown = { ...tail, text: source, tree, sourceFrom: prefix.length, to: hold, isOpen: !final };
    const segments = [...stable, ...segmentsOf(shown)];
    const end = at + hold - prefix.length;
    this.#advanceBase(source, tree);
    return { segments, end };
  }

  /** Moves the base to the last block that starts on a complete line, and before where it may soon be cut. */
  #advanceBase(source: string, tree: MarkdownNode): void {
    const complete = lineStart(source, source.length);
    const size = this.#cost + this.#addition.total;
    const fullness = Math.max(this.#cost / MAX_PART_LENGTH, size / MAX_PART_SIZE, this.#marks / MAX_MARKS);
    const { at: before, prefix, segments } = this.#base;
    const offset = before - prefix.length;
    const most = fullness < NEARLY_FULL ? source.length : this.earliestCut(offset + source.length) - offset;
    const last = tree.children.findLastIndex(
      (node) => node.start < most && lineEnd(source, node.start) < complete,
    );
    const node = tree.children[last];
    if (!node) return;
    const at = lineStart(source, node.start);
    if (at <= prefix.length) return;
    const done = [...blocksInOrder(tree.children.slice(0, last))];
    const blocks = done.reduce(countBlock, this.#base.blocks);
    const stable = segmentsOf({ text: source, tree, sourceFrom: prefix.length, to: at });
    this.#base = { at: offset + at, prefix: '', blocks, segments: [...segments, ...stable] };
  }
}

/** How many characters the renderer may add for the character at `index`. */
function addedCost(text: string, index: number): number {
  const marks = pingCost(text, index) + formulaCost(text, index) + wordJoinerCost(text, index);
  return marks + hostNoteCost(text, index) + literalCost(text, index) + addressEndCost(text, index);
}

/** How many marks the character at `index` counts for; a list marker counts with the space after it. */
function marksAt(text: string, index: number): number {
  const character = text.charAt(index);
  if (character === '\n') return LINE_MARKS;
  if (INLINE_MARK.test(character)) return 1;
  return character === ' ' && /[-+*.)]/.test(text.charAt(index - 1)) ? 4 : 0;
}
