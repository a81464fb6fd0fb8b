import type { MarkdownBlock } from '@slack/types';
import { figureOf } from '../markdown/figures.ts';
import { hasDelimiterRow, lineStart } from '../markdown/markdown-node.ts';
import { fallbackText } from '../markdown/notification-text.ts';
import { isParsedEnough, type ParseCounter, parseMarkdown } from '../markdown/parse-markdown.ts';
import { neutralizePings } from '../markdown/pings.ts';
import * as strings from '../strings/index.ts';
import { cutAtBlockLimit, cutAtLengthLimit, cutFrom } from './cut-point.ts';
import { incompleteEndOf } from './incomplete-markdown.ts';
import { OpenPart, type ReparseBase } from './open-part.ts';
import { mergeSegments, openerOf, type Segment, segmentsOf } from './segments.ts';

/** The part of an answer that one message shows. */
export interface AnswerPart {
  blocks: MarkdownBlock[];
  /** For notifications; under 4,000 UTF-8 bytes. */
  text: string;
  /** The range of the answer that it shows, in characters: from, to. */
  source: [number, number];
  /** A closed part never changes as the answer grows. */
  isClosed: boolean;
  /** The Markdown, with pings neutralised. */
  segments: Segment[];
}

/** The rest of an answer that does not fit its messages; it becomes a file. */
export interface AnswerRest {
  name: string;
  title: string;
  /** Markdown: what reopens the construct that the last message ended in, and the rest as the agent wrote it. */
  content: string;
  /** Characters of `content` before the agent's own text. */
  openerLength: number;
  /** Length of the whole answer in characters. */
  answerLength: number;
}

/** The parts of an answer, and what they do not show. */
export interface SplitAnswer {
  parts: AnswerPart[];
  /** Undefined if the parts show all of it. */
  rest: AnswerRest | undefined;
}

/** How an answer is split; see `AnswerSplitter.parts`. */
export interface PartOptions {
  final: boolean;
  most?: number;
  breaks?: readonly number[] | undefined;
}

interface ClosedPart {
  part: AnswerPart;
  nextOpener: string;
  /** Characters of the answer that were read to close it. */
  readTo: number;
}

const VISIBLE = /[^\s\p{C}\p{Z}]/u;
/** Shown in a message that has only white space. */
const EMPTY_PART_MARK = '…';

/**
 * Splits a growing answer into parts of one message each. Its state is only a cache: the parts depend on the text
 * and the options alone, so every process gets the same ones.
 */
export class AnswerSplitter {
  readonly parsed: ParseCounter = { characters: 0 };
  #text = '';
  #final = false;
  #breaks: readonly number[] = [];
  #closed: ClosedPart[] = [];
  #open = new OpenPart(0, '');
  /** The open part, as it was rendered last. */
  #openPart: AnswerPart | undefined;

  /** Whether the answer is shown as code from its open part on. */
  get isVerbatim(): boolean {
    return this.parsed.isVerbatim === true;
  }

  /**
   * The parts of the answer so far. While it grows (`final` is false), half-written Markdown at its end is closed or held
   * back. White space at the end is not shown. A part ends at each of `breaks` (character offsets), even if it has room.
   * At most one part more than `most` is made, which shows that there are more.
   */
  parts(text: string, options: PartOptions): AnswerPart[] {
    while (this.closePart(text, options)) {
      // Each round closes one part.
    }
    const { final, most = Number.POSITIVE_INFINITY } = options;
    const closed = this.#closed.slice(0, most + 1).map(({ part }) => part);
    if (closed.length > most) {
      const begun = closed.at(-1)?.source[0] ?? 0;
      return VISIBLE.test(text.slice(begun)) ? closed : withoutBlankEnd(closed);
    }
    this.#openPart ??= this.#renderOpen(text, final);
    return withoutBlankEnd([...closed, this.#openPart]);
  }

  /** The first `most` parts, and the rest of the answer if there are more. */
  split(text: string, options: PartOptions & { most: number }): SplitAnswer {
    const all = this.parts(text, options);
    const parts = all.slice(0, options.most);
    const next = all[options.most];
    if (next === undefined) return { parts, rest: undefined };
    const opener = openerOf(next.segments);
    const rest = {
      name: 'rest-of-the-answer.md',
      title: strings.restOfAnswer,
      content: opener + text.slice(next.source[0]),
      openerLength: opener.length,
      answerLength: text.length,
    };
    return { parts, rest };
  }

  /**
   * Closes one more part, for callers that must not render a whole answer at once. Returns false once only the open part
   * is left, or one part more than `most` is closed.
   */
  closePart(text: string, { final, most = Number.POSITIVE_INFINITY, breaks = [] }: PartOptions): boolean {
    this.#setBreaks(breaks);
    this.#rewind(text, final);
    return this.#openPart === undefined && this.#closed.length <= most && this.#closeNext(text, final);
  }

  /** Shows what is not closed yet as code, verbatim: its Markdown cannot be rendered, or costs too much. */
  showVerbatim(): void {
    if (this.isVerbatim) return;
    this.parsed.isVerbatim = true;
    this.#openNext();
  }

  /** Takes in a longer answer without rendering it, so that the shorter text can be freed. */
  recordGrowth(text: string): void {
    if (text === this.#text) return;
    this.#rewind(text, false);
    this.#open.rebaseOn(text);
  }

  /** Frees the rendered open part: of thousands of replies at a time, few are rendered again. */
  dropCache(): void {
    this.#openPart = undefined;
  }

  #renderOpen(text: string, final: boolean): AnswerPart {
    const shown = this.#open.render(text, final, this.parsed);
    return makePart(shown.segments, [this.#open.start, shown.end], false);
  }

  /** Keeps the parts that are still valid after the service changed earlier text. */
  #rewind(text: string, final: boolean): void {
    if (text === this.#text && final === this.#final) return;
    this.dropCache();
    const kept = text.startsWith(this.#text) ? this.#text.length : commonPrefixLength(text, this.#text);
    const dropAll = this.#final && kept < Math.max(text.length, this.#text.length);
    if (kept < this.#text.length || dropAll) {
      while (this.#closed.length > 0 && (dropAll || (this.#closed.at(-1)?.readTo ?? 0) > kept))
        this.#closed.pop();
      this.#openNext();
    }
    this.#text = text;
    this.#final = final;
  }

  /** Keeps the parts before the first new break. */
  #setBreaks(breaks: readonly number[]): void {
    const added = breaks.filter((at) => !this.#breaks.includes(at));
    this.#breaks = breaks;
    if (added.length === 0) return;
    const first = Math.min(...added);
    while ((this.#closed.at(-1)?.part.source[1] ?? 0) > first) this.#closed.pop();
    this.#openNext();
  }

  /** Begins the part after the closed ones. */
  #openNext(): void {
    const last = this.#closed.at(-1);
    this.#open = new OpenPart(last?.part.source[1] ?? 0, this.isVerbatim ? '' : (last?.nextOpener ?? ''));
    this.dropCache();
  }

  #closeNext(text: string, final: boolean): boolean {
    if (isParsedEnough(this.parsed)) this.showVerbatim();
    const { start } = this.#open;
    const at = this.#breaks.find((offset) => offset > start && offset < text.length);
    // What is parsed here counts when it is rendered or cut, except where a break ends the part.
    const natural = this.#closeAtLimit(text, final, at === undefined ? { ...this.parsed } : this.parsed);
    const next =
      at !== undefined && (natural?.part.source[1] ?? text.length) > at
        ? this.#closeAtBreak(text, at)
        : natural;
    if (next === undefined) return false;
    this.#closed.push(next);
    this.#openNext();
    return true;
  }

  #closeAtBreak(text: string, at: number): ClosedPart {
    const { start, opener } = this.#open;
    const body = opener + text.slice(start, at);
    const tree = parseMarkdown(body, this.parsed);
    const segments = segmentsOf({ text: body, tree, sourceFrom: opener.length, to: body.length });
    return { part: makePart(segments, [start, at], true), nextOpener: '', readTo: at };
  }

  /** The part that a limit ends; undefined while there is room, which `count` counts the search for. */
  #closeAtLimit(text: string, final: boolean, count: ParseCounter): ClosedPart | undefined {
    const open = this.#open;
    const full = open.fill(text);
    if (!full && !open.exceedsBlockLimits(text, final, count)) return undefined;
    const lines = final ? text.length : lineStart(text, text.length);
    const end = full ? open.filledTo : lines;
    const cut = full ? this.#closeFrom(open.base, text, end, full) : undefined;
    return cut ?? this.#closeFrom(open.wholeBase, text, end, full);
  }

  /** The part that is cut after the base; undefined if there is room, or if it must be cut before the base. */
  #closeFrom(base: ReparseBase, text: string, end: number, full: boolean): ClosedPart | undefined {
    const { start } = this.#open;
    const { prefix } = base;
    const isWhole = base.at === start;
    const body = prefix + text.slice(base.at, end);
    const before = full ? lineStart(body, body.length) : body.length + 1;
    const least = prefix.length + this.#open.earliestCut(end) - base.at;
    if (body.length <= prefix.length || least <= 0) return undefined;
    const tree = parseMarkdown(body, this.parsed);
    const first = isWhole ? prefix.length + 1 : 0;
    const early = cutAtBlockLimit(body, tree, { first, before }, base.blocks);
    if (early === undefined ? !full : !isWhole) return undefined;
    const safe = early === undefined ? incompleteEndOf(body, tree, this.parsed).openFrom : 0;
    const atLimit = () => cutAtLengthLimit(body, tree, { first, least, safe });
    const cut = early ?? (isWhole ? atLimit() : cutFrom(body, tree, least, safe));
    if (cut === undefined) return undefined;
    const next = base.at + cut.at - prefix.length;
    const shown = { text: body, tree, sourceFrom: prefix.length, to: cut.at, closer: cut.closer };
    const part = makePart([...base.segments, ...segmentsOf(shown)], [start, next], true);
    return { part, nextOpener: cut.opener, readTo: end };
  }
}

/** Slack rejects a message without a visible character, so a part without one gets a mark. */
function makePart(made: Segment[], source: [number, number], closed: boolean): AnswerPart {
  const mark = made.some(isVisible) ? [] : [{ text: `${EMPTY_PART_MARK}\n`, source: '' }];
  const segments = mergeSegments([...mark, ...made]);
  const safe = segments.map(({ text, source }) => ({ text: neutralizePings(text), source }));
  // Read aloud are figures by their label and, of what only reopens a construct, the names of a table's columns.
  const read = segments.map(({ text, source }) => {
    if (source === '') return hasDelimiterRow(text) ? text : '';
    return figureOf(source)?.label || text;
  });
  const text = safe.map((segment) => segment.text).join('');
  return {
    blocks: [{ type: 'markdown', text }],
    text: fallbackText(read.join('')),
    source,
    isClosed: closed,
    segments: safe,
  };
}

function withoutBlankEnd(parts: readonly AnswerPart[]): AnswerPart[] {
  return parts.slice(0, parts.findLastIndex(({ segments }) => segments.some(isVisible)) + 1);
}

function isVisible({ text, source }: Segment): boolean {
  return source !== '' && VISIBLE.test(text);
}

function commonPrefixLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a.charAt(length) === b.charAt(length)) length += 1;
  return length;
}
