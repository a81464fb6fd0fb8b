import {
  type Code,
  type MicromarkExtension,
  maySearchForEnd,
  recordFailedSearch,
  type State,
  type Tokenize,
} from './parse-limits.ts';

const DOLLAR = 36;
const BACKSLASH = 92;
const BACKTICK = 96;
const ROUND = [40, 41] as const;
const SQUARE = [91, 93] as const;
/** Characters of a formula within a line of text; what is longer is none. */
const MAX_FORMULA_LENGTH = 1_000;
const FORMULA = /[\\^_{}=<>*]|^\p{L}\p{N}?$/u;

/** `\(…\)`, `\[…\]`, `$$…$$` and `$…$` within text, read like code: nothing in a formula is a mark. */
const tokenizeInlineFormula: Tokenize = function (effects, ok, nok) {
  const { parser, previous: before } = this;
  let close: readonly [number, number] | readonly [number] = [DOLLAR];
  let said = '';
  return open;

  function none(code: Code): State | undefined {
    recordFailedSearch(parser, said.length);
    return nok(code);
  }

  function open(code: Code): State | undefined {
    if (!maySearchForEnd(parser) || (code === DOLLAR && isWordCharacter(before))) return nok(code);
    effects.enter('codeText');
    effects.enter('codeTextSequence');
    effects.consume(code);
    return code === BACKSLASH ? second : dollars;
  }

  function second(code: Code): State | undefined {
    if (code !== ROUND[0] && code !== SQUARE[0]) return nok(code);
    close = [BACKSLASH, code === ROUND[0] ? ROUND[1] : SQUARE[1]];
    return began(code);
  }

  function dollars(code: Code): State | undefined {
    if (code !== DOLLAR) return isSpace(code) ? nok(code) : inside(code);
    close = [DOLLAR, DOLLAR];
    return began(code);
  }

  function began(code: Code): State | undefined {
    effects.consume(code);
    return inside;
  }

  function inside(code: Code): State | undefined {
    if (said === '') effects.exit('codeTextSequence');
    if (isLineEnd(code)) return lineBreak(code);
    effects.enter('codeTextData');
    return data(code);
  }

  function lineBreak(code: Code): State | undefined {
    if (close.length === 1) return none(code);
    effects.enter('lineEnding');
    effects.consume(code);
    effects.exit('lineEnding');
    said += '\n';
    return inside;
  }

  function data(code: Code): State | undefined {
    if (code === null || code === BACKTICK || said.length > MAX_FORMULA_LENGTH) return none(code);
    if (isLineEnd(code)) {
      effects.exit('codeTextData');
      return lineBreak(code);
    }
    said += code < 0 ? ' ' : String.fromCodePoint(code);
    effects.consume(code);
    return said.endsWith(String.fromCharCode(...close)) && !isEscaped(said) ? closed : data;
  }

  function closed(code: Code): State | undefined {
    const formula = said.slice(0, -close.length);
    if (formula.trim() === '') return none(code);
    if (close.length === 1 && (/\s$/.test(formula) || isWordCharacter(code))) return none(code);
    // A price, or a bracket that is escaped so that it is no link.
    if (close[1] !== DOLLAR && close[1] !== ROUND[1] && !FORMULA.test(formula)) return none(code);
    effects.exit('codeTextData');
    effects.exit('codeText');
    return ok(code);
  }
};

/** A formula on lines of its own: from a line that opens it to the line that ends it, or to an empty line. */
const tokenizeFormulaBlock: Tokenize = function (effects, ok, nok) {
  const interrupts = this.interrupt === true;
  let close = '$$';
  let line = '';
  let first = true;
  return open;

  function open(code: Code): State | undefined {
    effects.enter('codeFenced');
    effects.enter('codeFencedFence');
    effects.enter('codeFencedFenceSequence');
    effects.consume(code);
    if (code === BACKSLASH) close = '\\]';
    return second;
  }

  function second(code: Code): State | undefined {
    if (code !== (close === '$$' ? DOLLAR : SQUARE[0])) return nok(code);
    effects.consume(code);
    effects.exit('codeFencedFenceSequence');
    effects.exit('codeFencedFence');
    return third;
  }

  function third(code: Code): State | undefined {
    if (code === DOLLAR || (close !== '$$' && !isSpace(code) && code !== null)) return nok(code);
    return content(code);
  }

  function content(code: Code): State | undefined {
    if (code === null || isLineEnd(code)) return atEnd(code);
    effects.enter('codeFlowValue');
    return data(code);
  }

  function data(code: Code): State | undefined {
    if (code === null || isLineEnd(code)) {
      effects.exit('codeFlowValue');
      return atEnd(code);
    }
    line += code < 0 ? ' ' : String.fromCodePoint(code);
    effects.consume(code);
    return data;
  }

  function atEnd(code: Code): State | undefined {
    // One that opens and ends on the same line is part of its paragraph.
    if (first && line.includes(close)) return nok(code);
    if (interrupts) return ok(code);
    if (!first && line.trimEnd().endsWith(close)) return after(code);
    return effects.check({ partial: true, tokenize: tokenizeNextLine }, next, after)(code);
  }

  function next(code: Code): State | undefined {
    effects.enter('lineEnding');
    effects.consume(code);
    effects.exit('lineEnding');
    first = false;
    line = '';
    return content;
  }

  function after(code: Code): State | undefined {
    effects.exit('codeFenced');
    return ok(code);
  }
};

/** Whether a further line of the same block follows, with something on it. */
const tokenizeNextLine: Tokenize = function (effects, ok, nok) {
  const isLazy = () => this.parser.lazy[this.now().line] === true;
  return (code) => {
    if (code === null) return nok(code);
    effects.enter('lineEnding');
    effects.consume(code);
    effects.exit('lineEnding');
    return start;
  };

  function start(code: Code): State | undefined {
    if (isLazy() || code === null || isLineEnd(code)) return nok(code);
    if (!isSpace(code)) return ok(code);
    effects.enter('whitespace');
    return space(code);
  }

  function space(code: Code): State | undefined {
    if (code !== null && !isLineEnd(code) && isSpace(code)) {
      effects.consume(code);
      return space;
    }
    effects.exit('whitespace');
    return code === null || isLineEnd(code) ? nok(code) : ok(code);
  }
};

/** Formulas in LaTeX, which Slack does not know: their nodes are of the kind `code` and `inlineCode`. */
export const mathSyntax: MicromarkExtension = {
  text: {
    [BACKSLASH]: { name: 'formula', tokenize: tokenizeInlineFormula },
    [DOLLAR]: { name: 'formula', tokenize: tokenizeInlineFormula },
  },
  flow: {
    [BACKSLASH]: { name: 'formulas', tokenize: tokenizeFormulaBlock, concrete: true },
    [DOLLAR]: { name: 'formulas', tokenize: tokenizeFormulaBlock, concrete: true },
  },
};

/** Whether the source of a code node is a formula's. */
export function isFormula(text: string, start: number): boolean {
  return /^(?:\$|\\[([])/.test(text.slice(start, start + 2));
}

/** What showing a formula as code may add for the character at `index`: backticks, or a fence for one on its own lines. */
export function formulaCost(text: string, index: number): number {
  const before = text.charAt(index - 1);
  if (text.charAt(index) === '$') return before === '$' ? 5 : 1;
  if (before !== '\\') return 0;
  return /[[\]]/.test(text.charAt(index)) ? 5 : /[()]/.test(text.charAt(index)) ? 1 : 0;
}

function isLineEnd(code: Code): code is number {
  return code !== null && code < -2;
}

function isSpace(code: Code): boolean {
  return code !== null && (code < 0 || code === 32);
}

function isWordCharacter(code: Code): boolean {
  return (
    code !== null &&
    code > 0 &&
    (code === DOLLAR || code === BACKSLASH || /[\p{L}\p{N}]/u.test(String.fromCodePoint(code)))
  );
}

/** Whether the end is itself escaped, as in `\$` or `\\)`. */
function isEscaped(said: string): boolean {
  const marks = /(\\*)(?:\$\$?|\\[)\]])$/.exec(said)?.[1]?.length ?? 0;
  return marks % 2 === 1;
}
