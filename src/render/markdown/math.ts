import { blankLine } from 'micromark-core-commonmark';
import { markdownLineEnding } from 'micromark-util-character';
import type { Construct, Extension, State, Tokenizer } from 'micromark-util-types';
import { FIGURE_COST, LOCAL_FIGURE } from './figures.ts';
import { spanConstruct } from './literal-marks.ts';
import { unicodeFormula } from './unicode-math.ts';

/**
 * What stands within text and is shown in another way: a formula, also `within` a word such as H$_2$O, up to the first closing mark that is not escaped; a
 * script, words with a style, a break and a figure; a power and a symbol that stand outside of a formula. Longer text is none of them.
 */
const INLINE_SPANS = {
  round: /\\\((?:\\[^)`]|[^\\`]){1,1000}?\\\)/y,
  // Text has escaped brackets, too, such as \[colour=red\]: a formula has a space, a command, a script or its own line.
  square:
    /\\\[(?:(?=\s)|(?<=^[ \t]*\\\[)(?=(?:(?!\\\]).){1,1000}\\\][ \t.,;]*$)|(?=(?:(?!\\\])[\s\S]){0,1000}?(?:\\[A-Za-z,;]|[\^_](?:[{\\]|\w(?!\w)))))(?:\\[^\]`]|[^\\`]){1,1000}?\\\]/my,
  dollars: /(?<![\p{L}\p{N}\\$./])\$\$(?:\\[^`]|\$(?!\$)|[^\\$`]){1,1000}?\$\$/uy,
  dollar:
    /(?<![\p{L}\p{N}\\$])\$(?![\s$]|(?<=[[!;,&]\$)\(|\{\w\w+(?:[:%#/]|\}(?!\^|_[\d{])))(?:\\[^\n`]|[^\\$\n`]){1,1000}?(?<!\s)\$(?![\p{L}\p{N}\\${])/uy,
  within:
    /(?<![\\$])\$(?=(?:\^|_(?![A-Za-z]{2}))[{\w\\]|(?:\^[+-]|[<>=])\$|\\[A-Za-z]|\d[\d.]*(?:\\[,;~])?(?:\^|\\(?:circ|mu|pm|times|AA|Omega))[^$\n`]{0,80}\$(?!\d))(?:\\[^\n`]|[^\\$\n` ]){1,80}?\$(?!\$)/y,
  script: /<(su[bp])>(?![^<\n]*\]\()[^<`\n]{1,80}<\/\1>/iy,
  styled: /<([bi]|em|strong)>[^<`\n]{1,200}<\/\1>(?![^\s<]{0,80}(?::\/|@))/iy,
  lineBreak: /<br[ \t]{0,3}\/?>(?:[ \t]{0,3}<br[ \t]{0,3}\/?>){0,20}/iy,
  figure: LOCAL_FIGURE,
  power: /(?<=[\p{L}\p{N})\]])\^\{[^{}`\n]{1,40}\}/uy,
  symbol: /(?<![\w\\:/.])\\[A-Za-z]{2,18}(?:[_^](?:[A-Za-z\d](?!\w)|\{[^{}`\n]{1,20}\})){0,2}(?![\w\\{}^/])/y,
};
/** Tells a formula from a price and from an escaped bracket. Before one, neither a variable of a shell nor SMARTS begins. */
const MATHEMATICAL = /[\\^_{}=<>*]|^\p{L}\p{N}?$/u;
/** The same between dollars: a number, or an expression of such and of single letters. */
const EXPRESSION = /^(?=[-−(|[\p{L}\d])(?:\p{L}(?!\p{L})|[\d\s.,'+/|()[\]−–-])+$/u;
/** A formula that starts on a line of its own; one in dollars or brackets that also ends on that line belongs to its paragraph. */
const BLOCK_OPENING = /\$\$(?!\$|.*\$\$)|\\\[(?=[ \t]|$)(?!.*\\\])|\\begin\{[A-Za-z]{1,20}\*?\}/my;

/** How long the span is that starts at an offset within text; 0 if there is none. */
function inlineSpanLength(text: string, start: number): number {
  for (const [kind, pattern] of Object.entries(INLINE_SPANS)) {
    pattern.lastIndex = start;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) return isSpan(kind, found) ? found.length : 0;
  }
  return 0;
}

function isSpan(kind: string, found: string): boolean {
  if (/^(?:power|symbol|styled)$/.test(kind)) return unicodeFormula(found) !== undefined;
  const content = kind === 'dollar' ? found.slice(1, -1) : found.slice(2, -2);
  if (kind === 'square') return MATHEMATICAL.test(content);
  if (kind === 'dollar') return MATHEMATICAL.test(content) || EXPRESSION.test(content);
  return (kind !== 'round' && kind !== 'dollars') || content.trim() !== '';
}

/** Reads a formula on lines of its own, up to its closing mark or an empty line. */
function tokenizeBlock(text: string): Tokenizer {
  return function (effects, ok, nok) {
    const offset = () => this.now().offset;
    const interrupts = this.interrupt === true;
    const start = offset();
    BLOCK_OPENING.lastIndex = start;
    const { open, close } = formulaMarks(BLOCK_OPENING.exec(text)?.[0] ?? '');
    let lineFrom = start + open.length;
    const line: State = (code) => {
      if (code === null || markdownLineEnding(code)) return lineEnd(code);
      effects.enter('codeFlowValue');
      return data(code);
    };
    const data: State = (code) => {
      if (code === null || markdownLineEnding(code)) {
        effects.exit('codeFlowValue');
        return lineEnd(code);
      }
      effects.consume(code);
      return data;
    };
    const lineEnd: State = (code) => {
      if (interrupts) return ok(code);
      const isClosed = text.slice(lineFrom, offset()).includes(close);
      return isClosed ? after(code) : effects.check(nextLine, next, after)(code);
    };
    const next: State = (code) => {
      effects.enter('lineEnding');
      effects.consume(code);
      effects.exit('lineEnding');
      lineFrom = offset();
      return line;
    };
    const after: State = (code) => {
      effects.exit('codeIndented');
      return ok(code);
    };
    return (code) => {
      if (open === '' || (interrupts && isWithinSpan(text, start))) return nok(code);
      // Unlike fenced code, it is shown from its first character on.
      effects.enter('codeIndented');
      return line(code);
    };
  };
}

/** What opens the formula on lines of its own that this text begins with, and what closes it. */
export function formulaMarks(source: string): { open: string; close: string } {
  const [open = ''] = /^(?:\$\$|\\\[|\\begin\{\w+\*?\})/.exec(source) ?? [];
  return { open, close: open.replace('begin', 'end').replace('[', ']') };
}

/** Whether a line belongs to a formula that its paragraph began within a line. */
function isWithinSpan(text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - 1_000), start).replace(/(?<!`)(`+)[^`]+\1/g, '');
  const paragraph = before.split(/\n[ \t>]*\n|\n(?=[ \t>]*(?:[-+*]|\d{1,9}[.)])[ \t])/).at(-1) ?? '';
  const isBracket = text.startsWith('\\', start) && /(?<!\\)\\[[(](?:[^\\]|\\[^[\]()])*$/.test(paragraph);
  return isBracket || paragraph.split('$$').length % 2 === 0;
}

/** The end of a line that a further, non-empty line of the same block follows. */
const nextLine: Construct = {
  partial: true,
  tokenize(effects, ok, nok) {
    const start: State = (code) => {
      const isLazy = this.parser.lazy[this.now().line] === true;
      return isLazy ? nok(code) : effects.check(blankLine, nok, ok)(code);
    };
    return (code) => {
      if (code === null) return nok(code);
      effects.enter('lineEnding');
      effects.consume(code);
      effects.exit('lineEnding');
      return start;
    };
  },
};

/** LaTeX formulas of this text, and the marks of HTML and the figures that it has: they parse as `code` and `inlineCode`. */
export function mathSyntax(text: string): Extension {
  // Like code, it contains no marks.
  const inline = spanConstruct('formula', (_, offset) => inlineSpanLength(text, offset), true);
  const block = { name: 'formulas', tokenize: tokenizeBlock(text), concrete: true };
  // By the codes of `!`, `$`, `<`, `\\` and `^`.
  const within = { 33: inline, 36: inline, 60: inline, 92: inline, 94: inline };
  return { text: within, flow: { 36: block, 92: block } };
}

/** What a source that parses as `inlineCode` is: code itself, or one of the spans of `mathSyntax`. */
export function spanType(source: string): 'inlineCode' | 'inlineFormula' | 'lineBreak' | 'figure' {
  if (source.startsWith('`')) return 'inlineCode';
  if (source.startsWith('!')) return 'figure';
  return /^<br/i.test(source) ? 'lineBreak' : 'inlineFormula';
}

/** How many characters showing a formula as code, or a figure in words, may add at `index`. */
export function formulaCost(text: string, index: number): number {
  const before = text.charAt(index - 1);
  const character = text.charAt(index);
  if (character === '$') return before === '$' ? 5 : 1;
  if (character === '{') return text.endsWith('\\begin', index) ? 10 : 0;
  if (character === '>') return /[bp]/i.test(before) ? 1 : 0;
  if (before === '!') return character === '[' ? FIGURE_COST : 0;
  if (before !== '\\') return 0;
  return /[[\]]/.test(character) ? 5 : /[()]/.test(character) ? 1 : 0;
}
