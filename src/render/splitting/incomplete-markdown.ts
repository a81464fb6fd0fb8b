import { UNFINISHED_ADDRESS } from '../markdown/bare-address.ts';
import { UNREADABLE_OPENER, UNSPACED_LETTER } from '../markdown/cjk-emphasis.ts';
import { literalMarks } from '../markdown/literal-marks.ts';
import {
  isFenceClosed,
  lastNodes,
  lineEnd,
  linePrefix,
  lineStart,
  type MarkdownNode,
  openingFenceOf,
  tableHeadEnd,
} from '../markdown/markdown-node.ts';
import { formulaMarks } from '../markdown/math.ts';
import { type ParseCounter, parseMarkdown } from '../markdown/parse-markdown.ts';

export interface IncompleteEnd {
  /** Characters from here on are not shown yet. */
  shownTo: number;
  /** Closes what is open at `shownTo`. */
  closer: string;
  /** Where the first construct that `closer` closes starts; `shownTo` if there is none. */
  openFrom: number;
}

/** How far back (characters) an open mark still counts as one that will be closed. */
const MAX_MARK_DISTANCE = 600;
/** The same of a link, and of code in a line, such as a tool's result. */
const MAX_SPAN_DISTANCE = 4_000;
/** Most half-written marks in a row that are held back. */
const MAX_HALF_WRITTEN = 40;

/** How much of an unfinished text can be shown without half-written marks, links, fences or tables. */
export function incompleteEndOf(text: string, tree: MarkdownNode, count: ParseCounter): IncompleteEnd {
  let root = tree;
  let end = text.trimEnd().length;
  for (let round = 0; round < 4; round += 1) {
    const leaf = lastNodes(root).at(-1);
    let shownTo = end;
    if (leaf?.type === 'verbatim') return completeEnd(end);
    if (leaf?.type === 'code') {
      const code = codeEnd(text, leaf, end);
      if (code.shownTo === end || code.closer !== '') return code;
      shownTo = code.shownTo;
    } else if (leaf?.type === 'formula' && !/\n[ \t>]*\n/.test(text.slice(leaf.end))) {
      shownTo = formulaShownTo(text, leaf, end);
      if (shownTo === end) return completeEnd(end);
    } else {
      shownTo = leaf?.type === 'table' ? tableShownTo(text, leaf, end) : linesShownTo(text, leaf, end);
      if (shownTo === end) {
        if (!leaf || !isOpenText(text, leaf, end)) return completeEnd(end);
        const inline = inlineEnd(text, leaf, end);
        const line = lineStart(text, inline.shownTo);
        if (!UNDERLINE.test(text.slice(line, inline.shownTo))) return inline;
        shownTo = line;
      }
    }
    end = text.slice(0, shownTo).trimEnd().length;
    if (end === 0) return completeEnd(0);
    root = parseMarkdown(text.slice(0, end), count);
  }
  return completeEnd(end);
}

/** The closing fence that a finished text lacks, or ''. */
export function closerAtEnd(text: string, tree: MarkdownNode): string {
  const leaf = lastNodes(tree).at(-1);
  return leaf?.type === 'code' ? codeEnd(text, leaf, text.length, true).closer : '';
}

function completeEnd(shownTo: number): IncompleteEnd {
  return { shownTo, closer: '', openFrom: shownTo };
}

function codeEnd(text: string, code: MarkdownNode, end: number, final = false): IncompleteEnd {
  const fence = openingFenceOf(text, code);
  if (fence === undefined || isFenceClosed(text, code, fence)) return completeEnd(end);
  const contentFrom = lineEnd(text, code.start);
  const before = lineStart(text, code.start);
  if (!final && text.slice(contentFrom, end).trim() === '') {
    return completeEnd(/^[ \t>]*$/.test(text.slice(before, code.start)) ? before : code.start);
  }
  const last = lineStart(text, end);
  const half = !final && /^[ \t>]*[`~]+[ \t]*$/.test(text.slice(last, end));
  const shownTo = half ? text.slice(0, last).trimEnd().length : end;
  if (half && text.slice(contentFrom, shownTo).trim() === '') return completeEnd(before);
  return {
    shownTo,
    closer: `${text.charAt(shownTo - 1) === '\n' ? '' : '\n'}${linePrefix(text, code.start)}${fence}`,
    openFrom: shownTo,
  };
}

/** A formula is shown once it is complete, or too long to wait for. */
function formulaShownTo(text: string, formula: MarkdownNode, end: number): number {
  const source = text.slice(formula.start, end);
  const { open, close } = formulaMarks(source);
  const isClosed = source.includes(close, open.length + 1);
  return isClosed || source.length > MAX_MARK_DISTANCE ? end : lineStart(text, formula.start);
}

function tableShownTo(text: string, table: MarkdownNode, end: number): number {
  const head = tableHeadEnd(text, table);
  const first = lineStart(text, table.start);
  if (text.charAt(head) !== '\n')
    return mayBeTableHead(text.slice(first, head)) ? first : lineEnd(text, table.start);
  return text.indexOf('\n', Math.max(end, table.end)) === -1 && end > head ? lineStart(text, end) : end;
}

/** Holds back lines at the end that may become another block: a lone marker, a table's header. */
function linesShownTo(text: string, leaf: MarkdownNode | undefined, end: number): number {
  const last = lineStart(text, end);
  const line = text.slice(last, end);
  const complete = text.indexOf('\n', end) !== -1;
  if (!complete && MARKER_ALONE.test(line)) return last;
  if (leaf?.type !== 'paragraph' || /\n[ \t>]*\n/.test(text.slice(leaf.end))) return end;
  if (line.length <= 1_500 && mayBeTableHead(line)) return Math.max(last, 0);
  if (!complete && last > leaf.start && /^[ \t>|:-]+$/.test(line)) {
    const before = text.slice(lineStart(text, last - 1), last);
    if (before.includes('|')) return mayBeTableHead(before) ? last - before.length : last;
  }
  return end;
}

/** What makes a heading of the text before it. */
const UNDERLINE = /^[ \t>]*[-=][-= \t]*$/;
const MARKER_ALONE = /^[ \t>]*(?:[-+*=_~`#][-+*=_~`# \t]*|\d{1,9}[.)]?|[-+*] +\[[ xX]?\]?)[ \t]*$/;

function mayBeTableHead(line: string): boolean {
  return /^[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)?\|/.test(line);
}

function isOpenText(text: string, leaf: MarkdownNode, end: number): boolean {
  return (
    (leaf.type === 'paragraph' || leaf.type === 'heading') &&
    leaf.end >= end &&
    !/\n[ \t>]*\n/.test(text.slice(end))
  );
}

/** The text of a paragraph with every complete construct blanked, which leaves the unpaired marks. */
function maskComplete(text: string, leaf: MarkdownNode, end: number): string {
  let masked = text.slice(leaf.start, end);
  for (const child of leaf.children) {
    const from = child.start - leaf.start;
    const to = Math.min(child.end, end) - leaf.start;
    const literal = child.type === 'link' && !/^[[<]/.test(masked.slice(from, from + 1));
    // What follows the last mark decides what it is. A bracket ends its label all the same.
    const marks = child.type === 'text' ? literalMarks(text, child.start, Math.min(child.end, end - 1)) : [];
    for (const at of marks)
      if (text.charAt(at) !== ']')
        masked = `${masked.slice(0, at - leaf.start)}\uE001${masked.slice(at - leaf.start + 1)}`;
    // Whether it is a formula depends on the next character.
    if (child.type === 'inlineFormula' && child.end >= end && /^\$(?!\$)/.test(masked.slice(from))) {
      masked = masked.slice(0, from);
      break;
    }
    const unsure = child.end >= end && UNSURE_END.test(text.slice(child.start, end));
    if (unsure || child.type === 'text' || child.type === 'break' || literal || to <= from) continue;
    masked = masked.slice(0, from) + '\uE000'.repeat(to - from) + masked.slice(to);
  }
  return masked.replace(/\\[!-'*-/:-@\\^-`{-~]/g, '\uE000\uE000');
}

function inlineEnd(text: string, leaf: MarkdownNode, end: number): IncompleteEnd {
  const from = leaf.start;
  let masked = maskComplete(text, leaf, end);
  let code = openCode(masked);
  // Code inside the text of a link is not shown before the link.
  const label = code && OPEN_LABEL.exec(masked.slice(0, code.at));
  if (label) {
    masked = masked.slice(0, label.index);
    code = undefined;
  }
  let shownTo = code ? code.shownTo : inlineShownTo(masked);
  const limit = code ? code.at : shownTo;
  const openers = openMarks(masked.slice(0, limit));
  let closer = code && code.shownTo > code.at ? code.run : '';
  // After a backtick, the closing run would be longer than the opening one.
  while (closer !== '' && text.charAt(from + shownTo - 1) === '`') shownTo -= 1;
  for (const opener of openers.toReversed()) {
    if (closer === '' && opener.end >= shownTo) shownTo = opener.at;
    else closer += opener.run;
  }
  const kept = masked.slice(0, shownTo).trimEnd().length;
  const first = openers[0]?.at ?? limit;
  return { shownTo: from + kept, closer, openFrom: from + Math.min(first, kept) };
}

function openCode(masked: string): { at: number; run: string; shownTo: number } | undefined {
  const match = /`+/.exec(masked);
  if (!match || masked.length - match.index > MAX_SPAN_DISTANCE) return undefined;
  const content = match.index + match[0].length;
  const shownTo = masked.replace(/[`\s]+$/, '').length;
  return { at: match.index, run: match[0], shownTo: shownTo > content ? shownTo : match.index };
}

/** The text of a link; it may contain brackets, one level deep. */
const LABEL = '(?:[^[\\]]|\\[[^[\\]\\n]{0,200}\\])';
/** A link's target and title, or their beginning. */
const TARGET =
  '(?:<[^<>\\n]*>?|(?:[^()\\s<]|\\((?:[^()\\s]*\\))?)*)(?:\\s+(?:"[^"]*"?|\'[^\']*\'?|\\([^()]*\\)?)?)?\\s*';
const OPEN_LABEL = /!?\[(?:[^[\]\n]|\[[^[\]\n]{0,200}\]){0,300}$/;

/** Emphasis that starts with punctuation, and an address in brackets: whether they end here depends on the next character. */
const UNSURE_END = /(?<![\p{L}\p{N}*_~])\*{1,3}(?=[\p{P}\p{S}])[^*]{1,600}\**$|<https?:\S{1,300}>$/iu;

const HALF_WRITTEN = [
  // They are tried until none of them moves the end.
  /\\[([](?:[^\\]|\\[^)\]]){0,600}\\?$/,
  /\$\$[^$]{0,600}\$?$/,
  /(?<![$\\])\$(?=[_^\\\uE000]|(?<![\p{L}\p{N}]\$)(?:[\p{L}{(|]|[\d.,'\s+*/-]*(?:[\\^_{=<>\uE000]|$)))[^$\n]{0,80}$/u,
  /\$[<>=]?$/,
  /\^(?:(?<=[\p{L}\p{N})\]]\^)\{[^{}`\n]{0,40})?$/u,
  /(?<![\w\\:/.])\\(?:begin\{[A-Za-z]{0,20}\*?|[A-Za-z]{0,18}(?:[_^](?:[A-Za-z\d]|\{[^{}`\n]{0,20}\}?)?){0,2})$/,
  /<(?:br[ \t]{0,3}\/?|su[bp]>[^<`\n]{0,80}|(?:[bi]|em|strong)>[^<`\n]{0,200})$/i,
  UNREADABLE_OPENER,
  UNSURE_END,
  /&#?[a-z0-9]{0,31}$/i,
  /[*_~\\]+$|(?<=[Δ∆])[*\uE001][A-Za-z]{1,5}\d*$|(?<=[\dp])[*\uE001][RSEZHKrsa-f]$|(?<=[a-z])[*\uE001][pf]$/u,
  /<[^\s<>]{0,300}$/,
  UNFINISHED_ADDRESS,
  /(?<=[\w.+-])@[\w.-]{0,264}$/,
  OPEN_LABEL,
  new RegExp(`!?\\[${LABEL}{0,500}\\]$`),
  /!?\[[^[\]]{0,500}\]\[[^\]]{0,100}$/,
  new RegExp(`!?\\[${LABEL}{0,500}\\]\\(${TARGET}$`),
  new RegExp(`!\\[${LABEL}{0,500}\\]\\((?:[^()\\n]|\\([^()\\n]{0,100}(?:\\)|$)){0,300}$`),
  /!$/,
] as const;

function inlineShownTo(masked: string): number {
  let shownTo = masked.length;
  for (let halves = 0; halves < MAX_HALF_WRITTEN; halves += 1) {
    const from = Math.max(0, shownTo - MAX_SPAN_DISTANCE);
    const window = masked.slice(from, shownTo).trimEnd();
    // An address before a space is whole.
    const isWhole = halves > 0 && from + window.length < shownTo;
    const half = HALF_WRITTEN.find(
      (pattern) => !(isWhole && pattern === UNFINISHED_ADDRESS) && pattern.test(window),
    )?.exec(window);
    shownTo = from + (half?.index ?? window.length);
    if (!half) break;
  }
  return shownTo;
}

/** A mark that may open emphasis, not one star before a digit: also after a letter in scripts without spaces, or doubled before a letter. */
const MARK_OPENER = new RegExp(
  `(?<![\\p{L}\\p{N}*_~])(?:\\*{2,3}|\\*(?!\\d)|_{1,3}|~~)(?=[^\\s*_~])|(?<=${UNSPACED_LETTER})(?:\\*{1,3}|~~)(?=[^\\s*_~])|(?<=\\p{L})(?:\\*{2,3}|~~)(?=\\p{L})`,
  'gu',
);

function openMarks(masked: string): { at: number; end: number; run: string }[] {
  const from = Math.max(0, masked.length - MAX_MARK_DISTANCE);
  const open: { at: number; end: number; run: string }[] = [];
  for (const { index: at, 0: run } of masked.matchAll(MARK_OPENER)) {
    // `**(x)**y`: the second one was meant to close the first one, and does not.
    const isFailedEnd = /[^\s\uE000]/.test(masked.charAt(at - 1)) && open.at(-1)?.run === run;
    if (isFailedEnd) open.pop();
    else if (at >= from) open.push({ at, end: at + run.length, run });
  }
  return open;
}
