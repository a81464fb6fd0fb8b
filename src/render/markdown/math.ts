import { blankLine } from 'micromark-core-commonmark';
import { markdownLineEnding } from 'micromark-util-character';
import type { Construct, Extension, State, Tokenizer } from 'micromark-util-types';

const DOLLAR = 36;
const BACKSLASH = 92;

/** A formula within text, up to the first closing mark that is not escaped. Longer text is no formula. */
const INLINE_FORMULAS = {
  round: /\\\((?:\\[^)`]|[^\\`]){1,1000}?\\\)/y,
  square: /\\\[(?:\\[^\]`]|[^\\`]){1,1000}?\\\]/y,
  dollars: /(?<![\p{L}\p{N}\\$])\$\$(?:\\[^`]|\$(?!\$)|[^\\$`]){1,1000}?\$\$/uy,
  dollar: /(?<![\p{L}\p{N}\\$])\$(?![\s$])(?:\\[^\n`]|[^\\$\n`]){1,1000}?(?<!\s)\$(?![\p{L}\p{N}\\$])/uy,
};
/** Tells a formula from a price and from an escaped bracket. */
const MATHEMATICAL = /[\\^_{}=<>*]|^\p{L}\p{N}?$/u;
/** A formula that starts on a line of its own; one that also ends on that line belongs to its paragraph. */
const BLOCK_OPENING = /\$\$(?!\$|.*\$\$)|\\\[(?=[ \t]|$)(?!.*\\\])/my;

/** The end of the formula that starts at an offset within text; -1 if there is none. */
function inlineFormulaEnd(text: string, start: number): number {
  for (const [kind, pattern] of Object.entries(INLINE_FORMULAS)) {
    pattern.lastIndex = start;
    const found = pattern.exec(text)?.[0];
    if (found === undefined) continue;
    const content = kind === 'dollar' ? found.slice(1, -1) : found.slice(2, -2);
    const isCertain = kind === 'round' || kind === 'dollars';
    return content.trim() !== '' && (isCertain || MATHEMATICAL.test(content)) ? start + found.length : -1;
  }
  return -1;
}

/** Reads a formula within text like code: it contains no marks. */
function tokenizeInline(text: string): Tokenizer {
  return function (effects, ok, nok) {
    const offset = () => this.now().offset;
    const end = inlineFormulaEnd(text, offset());
    const between: State = (code) => {
      if (offset() >= end) {
        effects.exit('codeText');
        return ok(code);
      }
      if (code === null) return nok(code);
      effects.enter(markdownLineEnding(code) ? 'lineEnding' : 'codeTextData');
      effects.consume(code);
      if (!markdownLineEnding(code)) return data;
      effects.exit('lineEnding');
      return between;
    };
    const data: State = (code) => {
      if (code === null || markdownLineEnding(code) || offset() >= end) {
        effects.exit('codeTextData');
        return between(code);
      }
      effects.consume(code);
      return data;
    };
    return (code) => {
      if (end < 0) return nok(code);
      effects.enter('codeText');
      return between(code);
    };
  };
}

/** Reads a formula on lines of its own, up to its closing mark or an empty line. */
function tokenizeBlock(text: string): Tokenizer {
  return function (effects, ok, nok) {
    const offset = () => this.now().offset;
    const interrupts = this.interrupt === true;
    const start = offset();
    BLOCK_OPENING.lastIndex = start;
    const opening = BLOCK_OPENING.exec(text)?.[0];
    const close = opening === '$$' ? '$$' : '\\]';
    let lineFrom = start;
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
      const isClosed = lineFrom > start && text.slice(lineFrom, offset()).trimEnd().endsWith(close);
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
      if (opening === undefined) return nok(code);
      // Unlike fenced code, it is shown from its first character on.
      effects.enter('codeIndented');
      return line(code);
    };
  };
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

/** LaTeX formulas of this text, which Slack does not support; they parse as `code` and `inlineCode`. */
export function mathSyntax(text: string): Extension {
  const inline = { name: 'formula', tokenize: tokenizeInline(text) };
  const block = { name: 'formulas', tokenize: tokenizeBlock(text), concrete: true };
  return {
    text: { [BACKSLASH]: inline, [DOLLAR]: inline },
    flow: { [BACKSLASH]: block, [DOLLAR]: block },
  };
}

/** Whether the source of a code node at `start` is a formula. */
export function isFormula(text: string, start: number): boolean {
  return /^(?:\$|\\[([])/.test(text.slice(start, start + 2));
}

/** How many characters showing a formula as code may add at `index`: backticks, or a fence. */
export function formulaCost(text: string, index: number): number {
  const before = text.charAt(index - 1);
  if (text.charAt(index) === '$') return before === '$' ? 5 : 1;
  if (before !== '\\') return 0;
  return /[[\]]/.test(text.charAt(index)) ? 5 : /[()]/.test(text.charAt(index)) ? 1 : 0;
}
