import { MAX_TITLE_CHARACTERS } from '../../render/blocks/task-lines.ts';
import { graphemeStart, toOneLine } from '../../render/text-format.ts';

const MIN_SENTENCE_CHARACTERS = 12;
/** After these, a full stop ends no sentence: abbreviations, letters as in S. cerevisiae, e.g. and i.p. */
const ABBREVIATION =
  /(?:^|[^\p{L}\p{N}°])(?:(?<!\p{N}\s)\p{L}|(?:\p{L}\.)+\p{L}|vs|al|figs?|tabs?|eqs?|refs?|approx|ca|cf|resp|dr|prof|mrs?|st|spp?|subsp|ssp|var|cv|suppl|ext|vol|pp|eds?|incl|excl|conc|temp)\.$/iu;
/** After these, a full stop before a number ends no sentence. */
const NUMBERED = /(?:^|[^\p{L}])(?:nos?|nr|chr|pos|p|sec|ver|v)\.$/iu;
const SENTENCE_END = /(?<=[^\s.!?])[.!?]+["'”’)\]]*(?=\s+[^\s\p{Ll}])(?!\s+Nos?\.)|[。！？]/gu;

/** A task's title: the first sentence of a plain text's first line with words, or else the files' names. */
export function taskTitle(text: string, files: readonly string[] = []): string {
  const line = firstLine(text) || toOneLine(files.join(', ').slice(0, 2_000));
  return line === '' ? 'New question' : cutToLength(firstSentence(line));
}

/** The first line that has words, without the marks of quotations and lists. */
function firstLine(text: string): string {
  for (const line of text.slice(0, 20_000).split('\n')) {
    const marked = line.slice(0, 2_000).replace(/\s+/g, ' ');
    // Not a `>` before a number or `=`: that compares, as in "> 5" or ">= 5".
    const words = toOneLine(marked.replace(/^ ?(?:(?:>(?! ?[\d=])|[-*•]|\d+[.)]) )+/, ''));
    if (/[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(words)) return words;
  }
  return '';
}

/** A line's first sentence. No full stop of an abbreviation, or before a number of its own, ends it. */
function firstSentence(line: string): string {
  for (const end of line.matchAll(SENTENCE_END)) {
    const sentence = line.slice(0, end.index + end[0].length);
    const isNumbered =
      /^\s+(?:\p{Lu}{1,4}-?)?\p{N}/u.test(line.slice(sentence.length)) && NUMBERED.test(sentence);
    if (sentence.length < MIN_SENTENCE_CHARACTERS || isNumbered || ABBREVIATION.test(sentence)) continue;
    return sentence.replace(/(?<!\.)[.。]$/u, '');
  }
  return ABBREVIATION.test(line) ? line : line.replace(/(?<![.\s])(?:[.。]|(?<!:[\w+-]+):)$/u, '');
}

function cutToLength(sentence: string): string {
  if (sentence.length <= MAX_TITLE_CHARACTERS) return sentence;
  const room = sentence.slice(0, graphemeStart(sentence, MAX_TITLE_CHARACTERS - 1));
  const border = sentence.charAt(room.length) === ' ' ? room.length : room.lastIndexOf(' ');
  // A word that takes up half of the title is cut rather than omitted.
  const kept = border < MAX_TITLE_CHARACTERS / 2 ? room : room.slice(0, border);
  return `${kept.replace(/[\s,;:(-]+$/, '')}…`;
}
