import { ESCAPE as ADDRESS_ESCAPE, goesOn, withDoiMarks } from '../markdown/bare-address.ts';
import { wordJoinerPositions } from '../markdown/cjk-emphasis.ts';
import { figureWords } from '../markdown/figures.ts';
import { emojiNames, literalMarks } from '../markdown/literal-marks.ts';
import {
  fenceAround,
  isTableTooWide,
  lineEnd,
  linePrefix,
  lineStart,
  type MarkdownNode,
} from '../markdown/markdown-node.ts';
import { formulaMarks } from '../markdown/math.ts';
import { WORD_JOINER } from '../markdown/pings.ts';
import { unicodeFormula } from '../markdown/unicode-math.ts';
import { hasDisguise, hostNote, labelStarts } from '../markdown/unsafe-links.ts';

/** A segment of a part's Markdown, and what of the answer it stands for: '' for what the renderer added. */
export interface Segment {
  text: string;
  source: string;
}

const ESCAPE = '\\';

/** What reopens, at the beginning of a part, the construct that the part before ended in; '' if nothing does. */
export function openerOf([first]: readonly Segment[]): string {
  return first?.source === '' && first.text !== ESCAPE ? first.text : '';
}

interface Insertion {
  at: number;
  text: string;
  /** `opens` belongs to the text after it, `closes` to the text before it; `between` belongs to neither. */
  kind: 'opens' | 'closes' | 'between' | 'replaces';
  /** The end of what it replaces. */
  to?: number;
}

const between = (at: number, text: string): Insertion => ({ at, text, kind: 'between' });
const replacing = (at: number, to: number, text: string): Insertion => ({ at, to, text, kind: 'replaces' });
const sorted = (all: Insertion[]) => all.sort((one, other) => one.at - other.at);

/**
 * What makes Slack show the answer as it was meant: plain characters for simple formulas, words for figures, fences around
 * other formulas and around tables that are too wide for Slack, word joiners beside marks that Slack would not read, backslashes before marks that are data, and the host of a
 * link whose label names another one, or a word joiner that makes it text.
 */
function insertionsFor(text: string, node: MarkdownNode, isOpen = false, isOnOneLine = false): Insertion[] {
  if (node.type === 'table' && isTableTooWide(text, node)) return fenceInsertions(text, node);
  const shown = shownSpan(text, node, isOnOneLine);
  if (shown !== undefined) return [replacing(node.start, node.end, shown)];
  if (node.type === 'formula' || node.type === 'verbatim') return fenceInsertions(text, node);
  if (node.type === 'inlineFormula') {
    return [
      { at: node.start, text: '`', kind: 'opens' },
      { at: node.end, text: '`', kind: 'closes' },
    ];
  }
  if (node.type === 'text') {
    const marks = literalMarks(text, node.start, node.end).map((at) => between(at, ESCAPE));
    const names = emojiNames(text, node.start, node.end).map((at) => between(at, WORD_JOINER));
    return sorted([...marks, ...names, ...encodings(text, node.start, node.end)]);
  }
  // A backslash would belong to the address.
  if (node.type === 'link' && text.charAt(node.start) !== '[') return addressInsertions(text, node);
  const isLine = isOnOneLine || /^(?:heading|tableCell)$/.test(node.type);
  const inner = node.children.flatMap((child) => insertionsFor(text, child, isOpen, isLine));
  const added = wordJoinerPositions(text, node).map((at) => between(at, WORD_JOINER));
  if (node.type === 'list') added.push(...numberInsertions(text, node, isOpen));
  const labelTo = node.type === 'link' ? node.children.at(-1)?.end : undefined;
  if (labelTo !== undefined) {
    const source = text.slice(node.start + 1, labelTo);
    const encoded = encodings(text, labelTo, node.end);
    const destination = withReplaced(text.slice(labelTo, node.end), labelTo, encoded);
    added.push(...bracketInsertions(source, node.start + 1, inner));
    // As one, so that no half of it is taken for another target than the label's.
    if (encoded.length > 0) added.push(replacing(labelTo + 2, node.end, destination.slice(2)));
    const label = withReplaced(source, node.start + 1, inner);
    const note = hostNote(label, destination);
    if (note !== '') added.push(between(labelTo, note));
    // Also where the label is split, or the destination is one that only the parser reads.
    else if (hasDisguise(label, destination)) added.push(between(labelTo + 1, WORD_JOINER));
  }
  return added.length === 0 ? inner : sorted([...inner, ...added]);
}

/**
 * What keeps numbers that a list would count on from its first one: 3. and 7., as of references. Backslashes make lines of
 * plain items; else another mark begins a new list at each number that is skipped.
 */
function numberInsertions(text: string, list: MarkdownNode, isOpen: boolean): Insertion[] {
  // An unfinished item may still get a second block.
  const items = isOpen && text.slice(list.end).trim() === '' ? list.children.slice(0, -1) : list.children;
  const numbers = list.children.map(({ start }) => Number.parseInt(text.slice(start, start + 10), 10));
  const areCounted = (some: readonly number[]) =>
    [0, 1].some((step) => some.every((number, at) => Object.is(number, (some[0] ?? 0) + at * step)));
  // Another block in an item would take in the line that follows, and such a line would make a heading or table of the items.
  const isPlain =
    !areCounted(numbers.slice(0, items.length)) &&
    items.every((item) => item.children.length === 1 && item.children[0]?.type === 'paragraph') &&
    !/^[ \t>]*[-=|:][-=|: \t]*$/m.test(text.slice(list.start, lineEnd(text, lineEnd(text, list.end) + 1)));
  // Another mark would make one list of this one and the next.
  const isFollowed = !isPlain && /^\s*\d{1,9}[.)][ \t]/.test(text.slice(list.end, list.end + 40));
  if (areCounted(numbers) || isFollowed) return [];
  let isOther = false;
  return list.children.flatMap(({ start }, index) => {
    const at = start + text.slice(start, start + 10).search(/\D/);
    if (isPlain) return [between(at, ESCAPE)];
    if (index > 0 && numbers[index] !== (numbers[index - 1] ?? 0) + 1) isOther = !isOther;
    return isOther ? [replacing(at, at + 1, text.charAt(at) === '.' ? ')' : '.')] : [];
  });
}

/** The text of a label as it is shown: with what replaces its formulas. */
function withReplaced(label: string, start: number, inner: readonly Insertion[]): string {
  const replaced = inner.filter(({ kind }) => kind === 'replaces');
  return replaced.reduceRight(
    (shown, { at, to = at, text }) => shown.slice(0, at - start) + text + shown.slice(to - start),
    label,
  );
}

/** Backslashes before brackets of a label whose other one has a backslash: another reader would begin the link there. */
function bracketInsertions(label: string, start: number, marks: readonly Insertion[]): Insertion[] {
  const starts = labelStarts(label);
  return marks.flatMap(({ at }) => {
    const opening = label.charAt(at - start) === ']' ? starts.get(at - start + 1) : undefined;
    return opening === undefined ? [] : [between(start + opening - 1, ESCAPE)];
  });
}

/** What ends a bare address where Slack would read on, and leaves out the backslashes that it would read, too. */
function addressInsertions(text: string, node: MarkdownNode): Insertion[] {
  const { start, end } = node;
  const address = withDoiMarks(text.slice(start, end), () => 'x');
  const encoded = encodings(text, start, end);
  if (!/^https?:/i.test(address)) return encoded;
  const escapes = Array.from(address.matchAll(ADDRESS_ESCAPE), ({ index }) =>
    replacing(start + index, start + index + 1, ''),
  );
  const within = sorted([...escapes, ...encoded]);
  if (!goesOn(address, text.slice(end, end + 20))) return within;
  return [{ at: start, text: '<', kind: 'opens' }, ...within, { at: end, text: '>', kind: 'closes' }];
}

/** The marks of DOIs in a range, encoded as addresses need them. */
function encodings(text: string, from: number, to: number): Insertion[] {
  const marked = withDoiMarks(text.slice(from, to + 2), () => '\ufdd4').slice(0, to - from);
  return Array.from(marked.matchAll(/\ufdd4/g), ({ index }) =>
    replacing(from + index, from + index + 1, encodeURIComponent(text.charAt(from + index))),
  );
}

/** What is shown in place of a node; undefined if it is shown as it is, or as code. */
function shownSpan(text: string, node: MarkdownNode, isOnOneLine: boolean): string | undefined {
  const source = text.slice(node.start, node.end);
  if (node.type === 'lineBreak') return shownBreak(text, node, isOnOneLine);
  if (node.type === 'figure') return figureWords(source);
  // What looks like the beginning of a mention is none as long as code follows it.
  const before = text.slice(Math.max(0, node.start - 80), node.start);
  const isAfterMark = /(?:<[!@#][^\s>]*|(?<![\p{L}\p{N}_])@[a-z]*)$/iu.test(before);
  const isWhole = node.type === 'formula' && source.trimEnd().endsWith(formulaMarks(source).close);
  if (isAfterMark || !(isWhole || node.type === 'inlineFormula')) return undefined;
  // Without the marks of the quotations around it, which a formula would read as signs.
  const depth = linePrefix(text, node.start).replace(/[^>]/g, '').length;
  return unicodeFormula(source.replace(new RegExp(`\\n(?:[ \\t]*>){0,${depth}}`, 'g'), '\n'));
}

/** A break ends its line, unless that would end its block; at an end of its block it shows nothing. */
function shownBreak(text: string, { start, end }: MarkdownNode, isOnOneLine: boolean): string {
  const before = text.slice(lineStart(text, start), start);
  const after = text.slice(end, end + 80);
  const isAtEnd = /^\s*(?:$|\n\s*\n)/.test(after) || (isOnOneLine && /^[ \t]*(?:\||\n)/.test(after));
  if (isAtEnd || /(?:^|\|)[ \t>#]*$/.test(before)) return '';
  if (isOnOneLine) return `${/\s$/.test(before) ? '' : ' '}/${/^\s/.test(after) ? '' : ' '}`;
  if (/^[ \t]*\n/.test(after)) return '  ';
  // The next line could start with characters that read as another kind of block.
  return /^\s*(?:[*_]{0,2}\p{L}|`[^`])/u.test(after) ? '  \n' : `  \n${WORD_JOINER}`;
}

function fenceInsertions(text: string, node: MarkdownNode): Insertion[] {
  const prefix = linePrefix(text, node.start);
  const fence = fenceAround(text.slice(node.start, node.end));
  return [
    { at: node.start, text: `${fence}\n${prefix}`, kind: 'opens' },
    { at: node.end, text: `\n${prefix}${fence}`, kind: 'closes' },
  ];
}

/** A text up to `to` as segments; what precedes `sourceFrom` was added by the renderer. `isOpen`: its end still grows. */
export function segmentsOf(options: {
  text: string;
  tree: MarkdownNode;
  sourceFrom: number;
  to: number;
  closer?: string;
  isOpen?: boolean;
}): Segment[] {
  const { text, sourceFrom, to, closer = '' } = options;
  const segments: Segment[] = [];
  const push = (shown: string, source: string) => {
    if (shown !== '' || source !== '') segments.push({ text: shown, source });
  };
  let at = 0;
  const upTo = (end: number) => {
    const own = Math.max(at, Math.min(end, sourceFrom));
    push(text.slice(at, own), '');
    push(text.slice(own, end), text.slice(own, end));
    at = end;
  };
  let closing = closer;
  let isOpen = false;
  // Code whose end is still to come is text for the parser.
  const codeFrom = closer.startsWith('`') ? text.lastIndexOf('`', to - 1) : to;
  for (const insert of insertionsFor(text, options.tree, options.isOpen)) {
    if (insert.kind === 'closes' ? !isOpen : insert.at < at || insert.at >= to) continue;
    if (insert.kind === 'between' && insert.at > codeFrom) continue;
    const { to: end = insert.at } = insert;
    // Never half of what is shown in another way.
    if (insert.kind === 'replaces' && end > to) continue;
    if (insert.kind === 'opens' || insert.kind === 'closes') isOpen = insert.kind === 'opens';
    if (insert.at >= to) {
      closing ||= insert.text;
      continue;
    }
    upTo(insert.at);
    push(insert.text, text.slice(Math.max(insert.at, Math.min(end, sourceFrom)), end));
    at = end;
  }
  upTo(to);
  push(closing, '');
  return segments;
}

/** Whether a segment is a piece of the answer as the agent wrote it. */
export function isVerbatim({ text, source }: Segment): boolean {
  return source !== '' && text === source;
}

/** Merges neighbours of the same kind, so that a ping that spans two of them is seen whole. */
export function mergeSegments(segments: readonly Segment[]): Segment[] {
  const all: Segment[] = [];
  for (const segment of segments) {
    const last = all.at(-1);
    const isAlike = last && (isVerbatim(segment) ? isVerbatim(last) : segment.source + last.source === '');
    if (last !== undefined && isAlike === true)
      all[all.length - 1] = { text: last.text + segment.text, source: last.source + segment.source };
    else all.push(segment);
  }
  return all;
}
