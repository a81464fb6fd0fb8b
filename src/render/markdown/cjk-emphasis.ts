import type { MarkdownNode } from './markdown-node.ts';

/*
 * Markdown takes `**` for the end of a stretch only where the writing has spaces between words: in 这是**重点。**后面 it
 * is no mark, because punctuation stands before it and a letter behind it. Agents mean it as one. So the tree is made
 * as if that letter were punctuation, and Slack gets a WORD JOINER (no width) between the punctuation and the mark.
 */
const MARK_RUN = '(?:\\*{1,3}|~~)';
export const UNSPACED_LETTER =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}ー]';
const PUNCTUATION = '[\\p{P}\\p{S}]';
const UNREADABLE_MARK = new RegExp(
  `${UNSPACED_LETTER}(?=${MARK_RUN}(?![*~])${PUNCTUATION})|(?<=(?![*~])${PUNCTUATION}${MARK_RUN})${UNSPACED_LETTER}`,
  'gu',
);
const IS_UNSPACED_LETTER = new RegExp(`^${UNSPACED_LETTER}$`, 'u');
const IS_PUNCTUATION = new RegExp(`^${PUNCTUATION}$`, 'u');
/** A mark that opens a stretch only with our help, and so cannot be closed before its end is written. */
export const UNREADABLE_OPENER = new RegExp(
  `(?<=${UNSPACED_LETTER})${MARK_RUN}(?![*~])${PUNCTUATION}[^*~]{0,600}$`,
  'u',
);

/** The text as the tree is made of it: of the same length, and with the places of all marks. */
export function withReadableEmphasis(text: string): string {
  // The stand-in is no mark of Markdown, and a letter beyond the first plane takes two of it.
  return text.replace(UNREADABLE_MARK, (letter, at: number) =>
    isEmphasizedLetter(text, at, letter) ? letter : '、'.repeat(letter.length),
  );
}

/** Whether a single letter between two marks is what they are about, as in **重**, and not what parts two stretches. */
function isEmphasizedLetter(text: string, at: number, letter: string): boolean {
  const mark = /[*~]/.exec(text.charAt(at - 1))?.[0];
  if (mark === undefined || !/[*~]/.test(text.charAt(at + letter.length))) return false;
  const paragraph = text.slice(text.lastIndexOf('\n\n', at) + 1, at);
  const runs = paragraph.match(mark === '*' ? /\*+/g : /~+/g) ?? [];
  return runs.length % 2 === 1;
}

/** Where a word joiner has to go so that Slack sees the marks of this node. */
export function wordJoinerPositions(text: string, node: MarkdownNode): number[] {
  if (!/^(?:emphasis|strong|delete)$/.test(node.type)) return [];
  const first = node.children[0];
  const last = node.children.at(-1);
  if (!first || !last) return [];
  const places: number[] = [];
  if (isUnspacedLetter(characterBefore(text, node.start)) && isPunctuation(characterAt(text, first.start)))
    places.push(first.start);
  if (isUnspacedLetter(characterAt(text, node.end)) && isPunctuation(characterBefore(text, last.end)))
    places.push(last.end);
  return places;
}

/** What word joiners may take for the character at `index`: at most one for each end of a run. */
export function wordJoinerCost(text: string, index: number): number {
  const isRun = /[*~]/.test(text.charAt(index - 1));
  return isRun && isUnspacedLetter(characterAt(text, index))
    ? 1
    : isRun && isUnspacedLetter(characterBefore(text, index - 1))
      ? 1
      : 0;
}

/** Whether it is a letter of a writing without spaces between words. */
export function isUnspacedLetter(character: string): boolean {
  return IS_UNSPACED_LETTER.test(character);
}

function isPunctuation(character: string): boolean {
  return IS_PUNCTUATION.test(character);
}

function characterBefore(text: string, at: number): string {
  const low = text.charCodeAt(at - 1);
  return low >= 0xdc00 && low <= 0xdfff ? text.slice(Math.max(0, at - 2), at) : text.charAt(at - 1);
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0x20);
}
