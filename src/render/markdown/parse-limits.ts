import type { gfm } from 'micromark-extension-gfm';

export type MicromarkExtension = ReturnType<typeof gfm>;
type Found = NonNullable<NonNullable<MicromarkExtension['text']>[string]>;
type Construct = Exclude<Found, readonly unknown[]>;
export type Tokenize = NonNullable<Construct['tokenize']>;
export type State = ReturnType<Tokenize>;
export type Code = Parameters<State>[0];

/*
 * For some marks and words the parser walks through the whole paragraph, which takes quadratic time. Ordinary answers
 * are too short for that to matter, but an answer may be crafted to exploit it.
 */

/** Most runs of marks that are paired in one paragraph, cell or heading; further ones are letters. */
const MAX_RUNS = 400;
/** Most characters that are searched in vain for the ends of code and formulas; after that no code or formula starts. */
const MAX_FAILED_CHARACTERS = 50_000;

const BACKTICK = 96;

/** Runs so far, by tokenizer. */
const runCounts = new WeakMap<object, number>();
/** Characters searched in vain, by parser. */
const failedCharacters = new WeakMap<object, number>();

/** Whether a parser may still search for the end of code or a formula. */
export function maySearchForEnd(parser: object): boolean {
  return (failedCharacters.get(parser) ?? 0) <= MAX_FAILED_CHARACTERS;
}

/** Counts characters that were searched in vain. */
export function recordFailedSearch(parser: object, characters: number): void {
  failedCharacters.set(parser, (failedCharacters.get(parser) ?? 0) + characters);
}

/** Reads a run of marks as letters once there were too many; otherwise the next construct decides. */
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

/** Reads a bare address after an open bracket as text, from the parser's list of brackets instead of its walk. */
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

/** Reads inline code as the parser's own construct does, until too many searches for its end have failed. */
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
    if (code === null) return fail(code);
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

  function fail(code: Code): State | undefined {
    recordFailedSearch(parser, read);
    return nok(code);
  }
};

/** Where a bare address may start: with a scheme also after characters of an e-mail address. */
function startsWord(previous: Code): boolean {
  return previous === null || previous < 0 || !/[a-z]/i.test(String.fromCharCode(previous));
}

const startsCode: Construct['previous'] = function (previous) {
  return previous !== BACKTICK || this.events.at(-1)?.[1].type === 'characterEscape';
};

const runConstruct: Construct = { name: 'run', tokenize: tokenizeRun };
const wordConstruct: Construct = { name: 'word', tokenize: tokenizeWord, previous: startsWord };
const codeConstruct: Construct = { name: 'code', tokenize: tokenizeCode, previous: startsCode };
/** The codes of characters that may start a bare address. */
const WORD_START_CODES = Array.from({ length: 128 }, (_, code) => code).filter((code) =>
  /[-+.\da-z]/i.test(String.fromCharCode(code)),
);

/** Keeps the parser's time proportional to the length of the text. */
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
