import { restorePings } from '../../src/render/markdown/pings.ts';
import { type AnswerPart, AnswerSplitter } from '../../src/render/splitting/answer-splitter.ts';

/** Splits a whole text at once. */
export function splitAnswer(text: string, options: { final: boolean } = { final: true }): AnswerPart[] {
  return new AnswerSplitter().parts(text, options);
}

/** The characters of the answer that the parts show, without what the renderer added and with pings restored. */
export function displayedText(parts: readonly AnswerPart[]): string {
  return parts
    .flatMap((part) => part.segments)
    .map((segment) => (segment.isAdded ? '' : restorePings(segment.text)))
    .join('');
}
