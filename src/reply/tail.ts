import { fenceOf, headEnd, isClosed, linePrefix } from './context.ts';
import { HARD_OPENER, LETTER } from './emphasis.ts';
import { lineEnd, lineStart, type MarkdownNode, type ParseCount, parseMarkdown } from './markdown.ts';

/** The end of a text that is still being written: what of it can be shown. */
export interface Tail {
  /** Characters from here on are not shown yet. */
  hold: number;
  /** Closes what is open at `hold`. */
  closer: string;
  /** Where the first construct starts that `closer` closes; `hold` where there is none. */
  open: number;
}

/** How far back (characters) a mark may stand and still count as one that will be closed. */
const MARK_REACH = 600;
const LINK_REACH = 4_000;
/** Half-written marks in a row that are held back. */
const HALVES_MOST = 40;

/** What of an unfinished text can be shown without half marks, links, fences or tables. */
export function tailOf(text: string, tree: MarkdownNode, count: ParseCount): Tail {
  let root = tree;
  let end = text.trimEnd().length;
  for (let round = 0; round < 4; round += 1) {
    const shown = text.slice(0, end);
    const chain = lastChain(root);
    const leaf = chain.at(-1);
    if (leaf?.type === 'code') {
      const code = codeTail(text, leaf, end);
      if (code.hold === end || code.closer !== '') return code;
      end = trimmedEnd(text, code.hold);
    } else if (leaf?.type === 'formula' && text.indexOf('\n', leaf.end) === -1) {
      const hold = formulaHold(text, leaf, end);
      if (hold === end) return plain(end);
      end = trimmedEnd(shown, hold);
    } else {
      const hold = leaf?.type === 'table' ? tableHold(text, leaf, end) : linesHold(text, leaf, end);
      if (hold === end) return leaf && isOpenText(text, leaf, end) ? inlineTail(text, leaf, end) : plain(end);
      end = trimmedEnd(shown, hold);
    }
    if (end === 0) return plain(0);
    root = parseMarkdown(text.slice(0, end), count);
  }
  return plain(end);
}

/** What a finished text lacks: the closing fence of code that was left open. */
export function finalCloser(text: string, tree: MarkdownNode): string {
  const leaf = lastChain(tree).at(-1);
  return leaf?.type === 'code' ? codeTail(text, leaf, text.length, true).closer : '';
}

function plain(hold: number): Tail {
  return { hold, closer: '', open: hold };
}

function trimmedEnd(text: string, end: number): number {
  return text.slice(0, end).trimEnd().length;
}

/** The last block and the containers around it, outermost first. */
function lastChain(root: MarkdownNode): MarkdownNode[] {
  const chain: MarkdownNode[] = [];
  let node = root.children.at(-1);
  while (node) {
    chain.push(node);
    node = /^(?:list|listItem|blockquote)$/.test(node.type) ? node.children.at(-1) : undefined;
  }
  return chain;
}

function codeTail(text: string, code: MarkdownNode, end: number, final = false): Tail {
  const fence = fenceOf(text, code);
  if (fence === undefined || isClosed(text, code, fence)) return plain(end);
  const contentFrom = lineEnd(text, code.start);
  const before = lineStart(text, code.start);
  if (!final && text.slice(contentFrom, end).trim() === '') {
    return plain(/^[ \t>]*$/.test(text.slice(before, code.start)) ? before : code.start);
  }
  const last = lineStart(text, end);
  const half = !final && /^[ \t>]*[`~]+[ \t]*$/.test(text.slice(last, end));
  const hold = half ? trimmedEnd(text, last) : end;
  if (half && text.slice(contentFrom, hold).trim() === '') return plain(before);
  return {
    hold,
    closer: `${text.charAt(hold - 1) === '\n' ? '' : '\n'}${linePrefix(text, code.start)}${fence}`,
    open: hold,
  };
}

/** A formula is shown once its end is there, or when it is too long to wait for. */
function formulaHold(text: string, formula: MarkdownNode, end: number): number {
  const source = text.slice(formula.start, end);
  const closed = source.length > 4 && (source.endsWith('$$') || source.endsWith('\\]'));
  return closed || source.length > MARK_REACH ? end : lineStart(text, formula.start);
}

function tableHold(text: string, table: MarkdownNode, end: number): number {
  const head = headEnd(text, table);
  if (text.charAt(head) !== '\n') return lineStart(text, table.start);
  return text.indexOf('\n', Math.max(end, table.end)) === -1 && end > head ? lineStart(text, end) : end;
}

/** Lines at the end that may yet become something else: a marker alone, a table's head. */
function linesHold(text: string, leaf: MarkdownNode | undefined, end: number): number {
  const last = lineStart(text, end);
  const line = text.slice(last, end);
  const complete = text.indexOf('\n', end) !== -1;
  if (!complete && MARKER_ALONE.test(line)) return last;
  if (leaf?.type !== 'paragraph' || /\n[ \t>]*\n/.test(text.slice(leaf.end))) return end;
  if (line.length <= 1_500 && mayBeHead(line)) return Math.max(last, 0);
  if (!complete && last > leaf.start && /^[ \t>|:-]+$/.test(line)) {
    const previous = lineStart(text, last - 1);
    if (text.slice(previous, last).includes('|')) return previous;
  }
  return end;
}

const MARKER_ALONE = /^[ \t>]*(?:[-+*=_~`#][-+*=_~`# \t]*|\d{1,9}[.)]?|[-+*] +\[[ xX]?\]?)[ \t]*$/;

function mayBeHead(line: string): boolean {
  return /^[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)?\|/.test(line) || / \| /.test(line);
}

function isOpenText(text: string, leaf: MarkdownNode, end: number): boolean {
  return (
    (leaf.type === 'paragraph' || leaf.type === 'heading') &&
    leaf.end >= end &&
    !/\n[ \t>]*\n/.test(text.slice(end))
  );
}

/** The text of a paragraph with everything that is complete in it blanked: what is left are marks without a partner. */
function unpaired(text: string, leaf: MarkdownNode, end: number): string {
  let masked = text.slice(leaf.start, end);
  for (const child of leaf.children) {
    const from = child.start - leaf.start;
    const to = Math.min(child.end, end) - leaf.start;
    const literal = child.type === 'link' && !/^[[<]/.test(masked.slice(from, from + 1));
    if (child.type === 'text' || child.type === 'break' || literal || to <= from) continue;
    masked = masked.slice(0, from) + '\uE000'.repeat(to - from) + masked.slice(to);
  }
  return masked.replace(/\\[!-'*-/:-@\\^-`{-~]/g, '\uE000\uE000');
}

function inlineTail(text: string, leaf: MarkdownNode, end: number): Tail {
  const from = leaf.start;
  let masked = unpaired(text, leaf, end);
  let code = openCode(masked);
  // Code that begins within the text of a link is not shown before the link.
  const label = code && OPEN_LABEL.exec(masked.slice(0, code.at));
  if (label) {
    masked = masked.slice(0, label.index);
    code = undefined;
  }
  let hold = code ? code.hold : inlineHold(masked);
  const limit = code ? code.at : hold;
  const openers = openMarks(masked.slice(0, limit));
  let closer = code && code.hold > code.at ? code.run : '';
  // Behind a backtick the closing ones would be more than those that they close.
  while (closer !== '' && text.charAt(from + hold - 1) === '`') hold -= 1;
  for (const opener of openers.toReversed()) {
    if (closer === '' && opener.end >= hold) hold = opener.at;
    else closer += opener.run;
  }
  const kept = masked.slice(0, hold).trimEnd().length;
  const first = openers[0]?.at ?? limit;
  return { hold: from + kept, closer, open: from + Math.min(first, kept) };
}

function openCode(masked: string): { at: number; run: string; hold: number } | undefined {
  const match = /`+/.exec(masked);
  if (!match || masked.length - match.index > MARK_REACH) return undefined;
  const content = match.index + match[0].length;
  const hold = masked.slice(0, masked.length).replace(/[`\s]+$/, '').length;
  return { at: match.index, run: match[0], hold: hold > content ? hold : match.index };
}

/** What a link's text may hold: also brackets, one deep. */
const LABEL = '(?:[^[\\]]|\\[[^[\\]\\n]{0,200}\\])';
/** A link's target and title, or the beginning of them. */
const TARGET =
  '(?:<[^<>\\n]*>?|(?:[^()\\s<]|\\((?:[^()\\s]*\\))?)*)(?:\\s+(?:"[^"]*"?|\'[^\']*\'?|\\([^()]*\\)?)?)?\\s*';
const OPEN_LABEL = /!?\[(?:[^[\]\n]|\[[^[\]\n]{0,200}\]){0,300}$/;

const HALF_WRITTEN = [
  // The order matters little: they are tried until none moves the end.
  /\\[([](?:[^\\]|\\[^)\]]){0,600}\\?$/,
  /\$\$[^$]{0,600}\$?$/,
  /(?<![\p{L}\p{N}$\\])\$(?=[\p{L}\\{(|])[^$\n]{0,80}$/u,
  /\$$/,
  HARD_OPENER,
  /\\$/,
  /&#?[a-z0-9]{0,31}$/i,
  /[*_~]+$/,
  /<[^\s<>]{0,300}$/,
  /(?:https?:\/\/|www\.)\S*$/i,
  OPEN_LABEL,
  new RegExp(`!?\\[${LABEL}{0,500}\\]$`),
  /!?\[[^[\]]{0,500}\]\[[^\]]{0,100}$/,
  new RegExp(`!?\\[${LABEL}{0,500}\\]\\(${TARGET}$`),
  /!$/,
] as const;

function inlineHold(masked: string): number {
  let hold = masked.length;
  for (let moved = true, halves = 0; moved && hold > 0 && halves < HALVES_MOST; halves += 1) {
    moved = false;
    const from = Math.max(0, hold - LINK_REACH);
    const window = masked.slice(from, hold).trimEnd();
    hold = from + window.length;
    for (const pattern of HALF_WRITTEN) {
      const match = pattern.exec(window);
      if (!match) continue;
      hold = from + match.index;
      moved = true;
      break;
    }
  }
  return hold;
}

/** A mark that may open a stretch: behind a letter where words have no spaces, or two of them before another letter. */
const OPENER = new RegExp(
  `(?<![\\p{L}\\p{N}*_~])(?:\\*{1,3}|_{1,3}|~{1,2})(?=[^\\s*_~])|(?<=${LETTER})(?:\\*{1,3}|~~)(?=[^\\s*_~])|(?<=\\p{L})(?:\\*{2,3}|~~)(?=\\p{L})`,
  'gu',
);

function openMarks(masked: string): { at: number; end: number; run: string }[] {
  const from = Math.max(0, masked.length - MARK_REACH);
  return [...masked.matchAll(OPENER)]
    .map((match) => ({ at: match.index, end: match.index + match[0].length, run: match[0] }))
    .filter((mark) => mark.at >= from);
}
