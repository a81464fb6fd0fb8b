import type { MarkdownNode } from './markdown.ts';

/*
 * Markdown takes `**` for the end of a stretch only where the writing has spaces between words: in 这是**重点。**后面 it
 * is no mark, because punctuation stands before it and a letter behind it. Agents mean it as one. So the tree is made
 * as if that letter were punctuation, and Slack gets a WORD JOINER (no width) between the punctuation and the mark.
 */
const RUN = '(?:\\*{1,3}|~~)';
export const LETTER =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}ー]';
const MARK = '[\\p{P}\\p{S}]';
const HARD = new RegExp(`${LETTER}(?=${RUN}(?![*~])${MARK})|(?<=(?![*~])${MARK}${RUN})${LETTER}`, 'gu');
const IS_LETTER = new RegExp(`^${LETTER}$`, 'u');
const IS_MARK = new RegExp(`^${MARK}$`, 'u');
/** A mark that opens a stretch only with our help, and so cannot be closed before its end is written. */
export const HARD_OPENER = new RegExp(`(?<=${LETTER})${RUN}(?![*~])${MARK}[^*~]{0,600}$`, 'u');
export const JOINER = '\u2060';

/** The text as the tree is made of it: of the same length, and with the places of all marks. */
export function emphasised(text: string): string {
  // The stand-in is no mark of Markdown, and a letter beyond the first plane takes two of it.
  return text.replace(HARD, (letter, at: number) =>
    isEmphasised(text, at, letter) ? letter : '、'.repeat(letter.length),
  );
}

/** Whether a single letter between two marks is what they are about, as in **重**, and not what parts two stretches. */
function isEmphasised(text: string, at: number, letter: string): boolean {
  const mark = /[*~]/.exec(text.charAt(at - 1))?.[0];
  if (mark === undefined || !/[*~]/.test(text.charAt(at + letter.length))) return false;
  const paragraph = text.slice(text.lastIndexOf('\n\n', at) + 1, at);
  const runs = paragraph.match(mark === '*' ? /\*+/g : /~+/g) ?? [];
  return runs.length % 2 === 1;
}

/** Where a word joiner has to go so that Slack sees the marks of this node. */
export function joinersOf(text: string, node: MarkdownNode): number[] {
  if (!/^(?:emphasis|strong|delete)$/.test(node.type)) return [];
  const first = node.children[0];
  const last = node.children.at(-1);
  if (!first || !last) return [];
  const places: number[] = [];
  if (isUnspaced(before(text, node.start)) && isMark(after(text, first.start))) places.push(first.start);
  if (isUnspaced(after(text, node.end)) && isMark(before(text, last.end))) places.push(last.end);
  return places;
}

/** What word joiners may take for the character at `index`: at most one for each end of a run. */
export function joinerCost(text: string, index: number): number {
  const isRun = /[*~]/.test(text.charAt(index - 1));
  return isRun && isUnspaced(after(text, index)) ? 1 : isRun && isUnspaced(before(text, index - 1)) ? 1 : 0;
}

/** Whether it is a letter of a writing without spaces between words. */
export function isUnspaced(character: string): boolean {
  return IS_LETTER.test(character);
}

function isMark(character: string): boolean {
  return IS_MARK.test(character);
}

function before(text: string, at: number): string {
  const low = text.charCodeAt(at - 1);
  return low >= 0xdc00 && low <= 0xdfff ? text.slice(Math.max(0, at - 2), at) : text.charAt(at - 1);
}

function after(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0x20);
}
