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
/** Most characters of an inline formula; longer text is no formula. */
const MAX_FORMULA_LENGTH = 1_000;
const FORMULA = /[\\^_{}=<>*]|^\p{L}\p{N}?$/u;

/** Reads `\(…\)`, `\[…\]`, `$$…$$` and `$…$` within text like code: a formula contains no marks. */
const tokenizeInlineFormula: Tokenize = function (effects, ok, nok) {
  const { parser, previous: before } = this;
  let close: readonly [number, number] | readonly [number] = [DOLLAR];
  let content = '';
  return open;

  function fail(code: Code): State | undefined {
    recordFailedSearch(parser, content.length);
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
    return consumeOpening(code);
  }

  function dollars(code: Code): State | undefined {
    if (code !== DOLLAR) return isSpace(code) ? nok(code) : inside(code);
    close = [DOLLAR, DOLLAR];
    return consumeOpening(code);
  }

  function consumeOpening(code: Code): State | undefined {
    effects.consume(code);
    return inside;
  }

  function inside(code: Code): State | undefined {
    if (content === '') effects.exit('codeTextSequence');
    if (isLineEnd(code)) return lineBreak(code);
    effects.enter('codeTextData');
    return data(code);
  }

  function lineBreak(code: Code): State | undefined {
    if (close.length === 1) return fail(code);
    effects.enter('lineEnding');
    effects.consume(code);
    effects.exit('lineEnding');
    content += '\n';
    return inside;
  }

  function data(code: Code): State | undefined {
    if (code === null || code === BACKTICK || content.length > MAX_FORMULA_LENGTH) return fail(code);
    if (isLineEnd(code)) {
      effects.exit('codeTextData');
      return lineBreak(code);
    }
    content += code < 0 ? ' ' : String.fromCodePoint(code);
    effects.consume(code);
    return content.endsWith(String.fromCharCode(...close)) && !isEscaped(content) ? closed : data;
  }

  function closed(code: Code): State | undefined {
    const formula = content.slice(0, -close.length);
    if (formula.trim() === '') return fail(code);
    if (close.length === 1 && (/\s$/.test(formula) || isWordCharacter(code))) return fail(code);
    // A price, or an escaped bracket.
    if (close[1] !== DOLLAR && close[1] !== ROUND[1] && !FORMULA.test(formula)) return fail(code);
    effects.exit('codeTextData');
    effects.exit('codeText');
    return ok(code);
  }
};

/** Reads a formula on lines of its own, up to its closing mark or an empty line. */
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
    // A formula that opens and closes on one line belongs to its paragraph.
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

/** Whether another non-empty line of the same block follows. */
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

/** LaTeX formulas, which Slack does not support; they parse as `code` and `inlineCode`. */
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

/** Whether the closing mark is itself escaped, as in `\$` or `\\)`. */
function isEscaped(content: string): boolean {
  const marks = /(\\*)(?:\$\$?|\\[)\]])$/.exec(content)?.[1]?.length ?? 0;
  return marks % 2 === 1;
}
