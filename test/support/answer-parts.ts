import { restorePings } from '../../src/render/markdown/pings.ts';
import { type AnswerPart, AnswerSplitter } from '../../src/render/splitting/answer-splitter.ts';

/** Splits a whole text at once. */
export function splitAnswer(text: string, options: { final: boolean } = { final: true }): AnswerPart[] {
  return new AnswerSplitter().parts(text, options);
}

/** The characters of the answer that the parts show, also those that they show in another way. */
export function displayedText(parts: readonly AnswerPart[]): string {
  const segments = parts.flatMap((part) => part.segments);
  for (const { text, source } of segments)
    if (restorePings(text) !== source && source !== '' && !IN_OTHER_WAYS.test(source))
      throw new Error(`shown otherwise than written: ${source}`);
  return segments.map(({ source }) => source).join('');
}

/** What is shown otherwise than it is written: formulas, scripts, breaks, figures, marks in addresses and of numbered items. */
const IN_OTHER_WAYS =
  /^(?:\$|\\(?:[([A-Za-z]|$)|\^\{|<(?:br|su[bp]|[bi]>|em>|strong>)|!\[|[<>|#.)]$|<?https?:)/i;
