import type { Code, Construct, Extension, State, Tokenizer } from 'micromark-util-types';

/*
 * For some marks and words the parser walks through the whole paragraph, which takes quadratic time. Ordinary answers
 * are too short for that to matter, but an answer may be crafted to exploit it. What is parsed is never longer than some
 * thousand characters.
 */

/** Most runs of marks that are paired in one paragraph, cell or heading; further ones are letters. */
const MAX_RUNS = 400;

/** Runs so far, by tokenizer. */
const runCounts = new WeakMap<object, number>();

/** Reads a run of marks as letters once there were too many; otherwise the next construct decides. */
const tokenizeRun: Tokenizer = function (effects, ok, nok) {
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
const tokenizeWord: Tokenizer = function (effects, ok, nok) {
  const inLabel = this._labelStarts?.some(({ _balanced }) => _balanced !== true) === true;
  return (code) => {
    if (!inLabel) return nok(code);
    effects.enter('data');
    effects.consume(code);
    effects.exit('data');
    return ok;
  };
};

/** Where a bare address may start: with a scheme also after characters of an e-mail address. */
function startsWord(previous: Code): boolean {
  return previous === null || previous < 0 || !/[a-z]/i.test(String.fromCharCode(previous));
}

const runConstruct: Construct = { name: 'run', tokenize: tokenizeRun };
const wordConstruct: Construct = { name: 'word', tokenize: tokenizeWord, previous: startsWord };
/** The codes of characters that may start a bare address. */
const WORD_START_CODES = Array.from({ length: 128 }, (_, code) => code).filter((code) =>
  /[-+.\da-z]/i.test(String.fromCharCode(code)),
);

/** Keeps the parser's time proportional to the length of the text. */
export const parseLimits: Extension = {
  text: {
    ...Object.fromEntries(WORD_START_CODES.map((code) => [code, wordConstruct])),
    42: runConstruct,
    95: runConstruct,
    126: runConstruct,
  },
};
