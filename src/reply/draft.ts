import { fenceFor } from './context.ts';
import { type Cut, crowdedPieces, fullCut, structuralCut } from './cut.ts';
import { fallbackText } from './fallback.ts';
import { graphemeStart } from './graphemes.ts';
import { lineStart, type MarkdownNode, type ParseCount, parseMarkdown } from './markdown.ts';
import { OpenPart } from './open-part.ts';
import { joined, type Piece, piecesOf } from './pieces.ts';
import { neutralise, restorePings } from './pings.ts';
import type { MarkdownBlock } from './slack-blocks.ts';

/** What one message shows of an answer. */
export interface Part {
  blocks: MarkdownBlock[];
  /** For notifications; under 4,000 UTF-8 bytes. */
  text: string;
  /** The characters of the answer that it shows: from, to. */
  source: [number, number];
  /** A closed part never changes again, however the answer grows. */
  closed: boolean;
  /** The Markdown as pieces: those of the answer (pings neutralised), and those that the split added. */
  pieces: Piece[];
}

interface ClosedPart {
  part: Part;
  end: number;
  /** Opens the next part. */
  opener: string;
  /** Characters of the answer that were looked at to close it. */
  seen: number;
}

/** Characters of the answer that a part holds at least, where its constructs allow. */
const PART_LEAST = 9_000;
/** Characters of a part that is shown letter by letter: with a word joiner in every second place it still fits. */
const VERBATIM_MOST = 6_000;
const VISIBLE = /[^\s\p{C}\p{Z}]/u;
/** Stands where a whole message holds only white space. */
const NOTHING = '…';

/**
 * An answer that grows, as parts of one message each. What it knows is only a saving: the parts follow from the text
 * alone, and another process gets the same ones.
 */
export class Draft {
  /** Characters parsed so far: the cost. */
  readonly parsed: ParseCount = { characters: 0 };
  #text = '';
  #final = false;
  #breaks: readonly number[] = [];
  #closed: ClosedPart[] = [];
  #open = new OpenPart(0, '');
  #last: { final: boolean; most: number; parts: Part[] } | undefined;

  /**
   * The parts of the answer so far. While it grows (`final` false) half-written Markdown at its end is closed or held
   * back. White space at the end is not shown. A part ends at each of `breaks` (characters), whatever room it has.
   * Of an answer of more than `most` parts one part more than `most` is enough to know, and is all that is made.
   */
  parts(
    text: string,
    options: { final: boolean; most?: number; breaks?: readonly number[] | undefined },
  ): Part[] {
    this.#breakAt(options.breaks ?? []);
    const { final, most = Number.POSITIVE_INFINITY } = options;
    const last = this.#last;
    if (last && last.final === final && last.most === most && text === this.#text) return last.parts;
    this.#rewind(text, final);
    const parts = this.#make(text, final, most);
    this.#last = { final, most, parts };
    return parts;
  }

  /** The answer is longer now, but nobody looks at it yet: the text before it is let go of. */
  grown(text: string): void {
    if (text === this.#text) return;
    this.forget();
    this.#rewind(text, false);
    this.#open.moveTo(text);
  }

  /** Lets go of what the open part looks like: of thousands of replies at one time, few are looked at. */
  forget(): void {
    this.#last = undefined;
  }

  #make(text: string, final: boolean, most: number): Part[] {
    while (this.#closed.length <= most && this.#closeNext(text, final)) {
      // Each round closes one part.
    }
    const closed = this.#closed.slice(0, most + 1).map(({ part }) => part);
    if (closed.length > most) {
      const begun = closed.at(-1)?.source[0] ?? 0;
      return VISIBLE.test(text.slice(begun)) ? closed.map(visible) : upToVisible(closed);
    }
    const shown = this.#open.render(text, final, this.parsed);
    return upToVisible([...closed, makePart(shown.pieces, [this.#open.start, shown.end], false)]);
  }

  /** Keeps what still holds after the service changed earlier text. */
  #rewind(text: string, final: boolean): void {
    const kept = text.startsWith(this.#text) ? this.#text.length : commonLength(text, this.#text);
    const dropAll = this.#final && kept < Math.max(text.length, this.#text.length);
    if (kept < this.#text.length || dropAll) {
      while (this.#closed.length > 0 && (dropAll || (this.#closed.at(-1)?.seen ?? 0) > kept))
        this.#closed.pop();
      const last = this.#closed.at(-1);
      this.#open = new OpenPart(last?.end ?? 0, last?.opener ?? '');
    }
    this.#text = text;
    this.#final = final;
  }

  /** Keeps what comes before the first break that is new. */
  #breakAt(breaks: readonly number[]): void {
    const added = breaks.filter((at) => !this.#breaks.includes(at));
    this.#breaks = breaks;
    if (added.length === 0) return;
    this.#last = undefined;
    const first = Math.min(...added);
    while ((this.#closed.at(-1)?.end ?? 0) > first) this.#closed.pop();
    const last = this.#closed.at(-1);
    this.#open = new OpenPart(last?.end ?? 0, last?.opener ?? '');
  }

  #closeNext(text: string, final: boolean): boolean {
    const { start } = this.#open;
    const at = this.#breaks.find((place) => place > start && place < text.length);
    const natural = this.#naturalEnd(text, final);
    const next = at !== undefined && (natural?.end ?? text.length) > at ? this.#endAt(text, at) : natural;
    if (next === undefined) return false;
    this.#closed.push(next);
    this.#open = new OpenPart(next.end, next.opener);
    return true;
  }

  /** The part that ends at a break. */
  #endAt(text: string, at: number): ClosedPart {
    const { start, opener } = this.#open;
    const body = opener + text.slice(start, at);
    const tree = parseMarkdown(body, this.parsed);
    const pieces = piecesOf({
      text: body,
      tree,
      from: 0,
      sourceFrom: opener.length,
      to: body.length,
      closer: '',
    });
    return { part: makePart(pieces, [start, at], true), end: at, opener: '', seen: at };
  }

  /** The part that the limits end; undefined while there is room. */
  #naturalEnd(text: string, final: boolean): ClosedPart | undefined {
    const open = this.#open;
    const full = open.fill(text);
    if (!full && !open.grow(text, this.parsed)) return undefined;
    const end = full ? open.filled : text.length;
    const { start, opener } = open;
    const source = opener + text.slice(start, end);
    const complete = !full && final ? source.length + 1 : lineStart(source, source.length);
    const body = full ? source : source.slice(0, complete);
    if (body.length <= opener.length) return undefined;
    const early = this.#structuralCut(body, opener.length, complete);
    if (!early.cut && !full) return undefined;
    const { tree } = early;
    const cut =
      early.cut ??
      fullCut(body, tree, {
        first: opener.length + 1,
        least: Math.min(opener.length + PART_LEAST, Math.max(opener.length + 1, body.length - 300)),
        safe: open.safeEnd(body, tree, this.parsed),
      });
    const next = start + cut.at - opener.length;
    const pieces = piecesOf({
      text: early.text,
      tree,
      from: 0,
      sourceFrom: opener.length,
      to: cut.at,
      closer: cut.closer,
    });
    return { part: makePart(pieces, [start, next], true), end: next, opener: cut.opener, seen: end };
  }

  /** Looks at a piece first: where small blocks fill a message early, the rest of the text need not be parsed for it. */
  #structuralCut(
    body: string,
    opener: number,
    complete: number,
  ): { text: string; tree: MarkdownNode; cut?: Cut } {
    for (const first of crowdedPieces(body)) {
      const tree = parseMarkdown(first, this.parsed);
      const cut = structuralCut(first, tree, lineStart(first, first.length));
      if (cut && cut.at > opener) return { text: first, tree, cut };
    }
    const tree = parseMarkdown(body, this.parsed);
    const cut = structuralCut(body, tree, complete);
    return cut && cut.at > opener ? { text: body, tree, cut } : { text: body, tree };
  }
}

/** The parts of a text as `Draft` gives them, made at once. */
export function splitAnswer(text: string, options: { final: boolean } = { final: true }): Part[] {
  return new Draft().parts(text, options);
}

/** The parts of a text letter by letter, as code, for where its Markdown cannot be read. */
export function verbatimParts(text: string): Part[] {
  const fence = fenceFor(text);
  const parts: Part[] = [];
  for (let at = 0; at < text.length; ) {
    const end = Math.max(graphemeStart(text, at + VERBATIM_MOST), at + 1);
    const pieces = [
      { text: `${fence}\n`, added: true },
      { text: text.slice(at, end), added: false },
      { text: `\n${fence}`, added: true },
    ];
    parts.push(makePart(pieces, [at, end], true));
    at = end;
  }
  return upToVisible(parts);
}

/** The answer's characters as the parts show them: without what the split added, pings restored. */
export function shownText(parts: readonly Part[]): string {
  return parts
    .flatMap((part) => part.pieces)
    .map((piece) => (piece.added ? '' : restorePings(piece.text)))
    .join('');
}

function makePart(made: Piece[], source: [number, number], closed: boolean): Part {
  const pieces = joined(made);
  const safe = pieces.map(({ text, added }) => ({ text: neutralise(text), added }));
  const own = pieces.filter((piece) => !piece.added).map((piece) => piece.text);
  const text = safe.map((piece) => piece.text).join('');
  return {
    blocks: [{ type: 'markdown', text }],
    text: fallbackText(own.join('')),
    source,
    closed,
    pieces: safe,
  };
}

/**
 * The parts up to the last one with something to see. Slack refuses a message without a visible character, so one
 * before it that has none gets a sign that there is nothing.
 */
function upToVisible(parts: readonly Part[]): Part[] {
  return parts.slice(0, parts.findLastIndex(isVisible) + 1).map(visible);
}

function visible(part: Part): Part {
  return isVisible(part) ? part : signed(part);
}

function isVisible(part: Part): boolean {
  return part.pieces.some((piece) => !piece.added && VISIBLE.test(piece.text));
}

function signed(part: Part): Part {
  const pieces = joined([{ text: `${NOTHING}\n`, added: true }, ...part.pieces]);
  return { ...part, blocks: [{ type: 'markdown', text: pieces.map(({ text }) => text).join('') }], pieces };
}

function commonLength(a: string, b: string): number {
  let low = 0;
  let high = Math.min(a.length, b.length);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (a.startsWith(b.slice(low, middle), low)) low = middle;
    else high = middle - 1;
  }
  return low;
}
