import type { gfm } from 'micromark-extension-gfm';

export type MicromarkExtension = ReturnType<typeof gfm>;
type Found = NonNullable<NonNullable<MicromarkExtension['text']>[string]>;
type Construct = Exclude<Found, readonly unknown[]>;
export type Tokenize = NonNullable<Construct['tokenize']>;
export type State = ReturnType<Tokenize>;
export type Code = Parameters<State>[0];

/*
 * What the parser does for each mark or word of a paragraph by a walk through all that stands before or behind it takes
 * time by the square of the paragraph. Nobody writes so much of it that this can be felt, but an answer may be made for it.
 */

/** Runs of marks that are paired in one paragraph, cell or heading; others are letters. */
const MAX_RUNS = 400;
/** Characters of one text that are read in vain for the ends of code and formulas; behind them nothing begins one. */
const MAX_FAILED_CHARACTERS = 50_000;

const BACKTICK = 96;

/** How many runs were met so far in the text that a tokenizer reads. */
const runCounts = new WeakMap<object, number>();
/** How many characters were read in vain of the text that a parser has. */
const failedCharacters = new WeakMap<object, number>();

/** Whether the end of code or a formula may still be looked for in a parser's text. */
export function maySearchForEnd(parser: object): boolean {
  return (failedCharacters.get(parser) ?? 0) <= MAX_FAILED_CHARACTERS;
}

/** Notes that so many characters were searched for an end that is not there. */
export function recordFailedSearch(parser: object, characters: number): void {
  failedCharacters.set(parser, (failedCharacters.get(parser) ?? 0) + characters);
}

/** Takes a run for letters where there were too many before it; the others are left to the next construct. */
const tokenizeRun: Tokenize = function (effects, ok, nok) {
  const runs = (runCounts.get(this) ?? 0) + 1;
  runCounts.set(this, runs);
  return (code) => {
    if (runs <= MAX_RUNS) return nok(code);
    effects.enter('data');
    effects.consume(code);
    return rest;

    function rest(next: Code): State | undefined {
      if (next === code) {
        effects.consume(next);
        return rest;
      }
      effects.exit('data');
      return ok(next);
    }
  };
};

/** Behind an open bracket no bare address is a link, which would be found by the walk: the list of brackets says it too. */
const tokenizeWord: Tokenize = function (effects, ok, nok) {
  const inLabel = this._labelStarts?.some(({ _balanced }) => _balanced !== true) === true;
  return (code) => {
    if (!inLabel) return nok(code);
    effects.enter('data');
    effects.consume(code);
    effects.exit('data');
    return ok;
  };
};

/** Code within text, as the parser's own construct reads it; but where ends were missed too often, there is none. */
const tokenizeCode: Tokenize = function (effects, ok, nok) {
  const { parser } = this;
  let size = 0;
  let read = 0;
  let run = 0;
  return open;

  function open(code: Code): State | undefined {
    if (!maySearchForEnd(parser)) return nok(code);
    effects.enter('codeText');
    effects.enter('codeTextSequence');
    return opening(code);
  }

  function opening(code: Code): State | undefined {
    if (code === BACKTICK) {
      effects.consume(code);
      size += 1;
      return opening;
    }
    effects.exit('codeTextSequence');
    return between(code);
  }

  function between(code: Code): State | undefined {
    if (code === null) return none(code);
    if (code < -2) {
      effects.enter('lineEnding');
      effects.consume(code);
      effects.exit('lineEnding');
      return between;
    }
    effects.enter('codeTextData');
    return data(code);
  }

  function data(code: Code): State | undefined {
    if (code === BACKTICK) run += 1;
    else if (run === size) {
      effects.exit('codeTextData');
      effects.exit('codeText');
      return ok(code);
    } else run = 0;
    if (code === null || code < -2) {
      effects.exit('codeTextData');
      return between(code);
    }
    read += 1;
    effects.consume(code);
    return data;
  }

  function none(code: Code): State | undefined {
    recordFailedSearch(parser, read);
    return nok(code);
  }
};

/** Where a bare address may begin: an address with a scheme also behind what can be in one of mail. */
function startsWord(previous: Code): boolean {
  return previous === null || previous < 0 || !/[a-z]/i.test(String.fromCharCode(previous));
}

const startsCode: Construct['previous'] = function (previous) {
  return previous !== BACKTICK || this.events.at(-1)?.[1].type === 'characterEscape';
};

const runConstruct: Construct = { name: 'run', tokenize: tokenizeRun };
const wordConstruct: Construct = { name: 'word', tokenize: tokenizeWord, previous: startsWord };
const codeConstruct: Construct = { name: 'code', tokenize: tokenizeCode, previous: startsCode };
/** The codes of what a bare address may begin with. */
const WORD_START_CODES = Array.from({ length: 128 }, (_, code) => code).filter((code) =>
  /[-+.\da-z]/i.test(String.fromCharCode(code)),
);

/** What keeps the time that parsing takes in proportion to the length of the text. */
export const parseLimits: MicromarkExtension = {
  text: {
    ...Object.fromEntries(WORD_START_CODES.map((code) => [code, wordConstruct])),
    42: runConstruct,
    95: runConstruct,
    [BACKTICK]: codeConstruct,
    126: runConstruct,
  },
  disable: { null: ['codeText'] },
};
