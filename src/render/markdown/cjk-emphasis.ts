import type { MarkdownNode } from './markdown-node.ts';

/*
 * CommonMark does not close emphasis at `**` between punctuation and a letter, as in 这是**重点。**后面. Scripts without
 * spaces between words need it closed. So the parser reads that letter as punctuation, and Slack gets a WORD JOINER (no
 * width) between the punctuation and the mark.
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
/** An opening mark that Slack reads only beside a word joiner; it cannot be closed before its end is written. */
export const UNREADABLE_OPENER = new RegExp(
  `(?<=${UNSPACED_LETTER})${MARK_RUN}(?![*~])${PUNCTUATION}[^*~]{0,600}$`,
  'u',
);

/** The text for the parser: of the same length, with every mark at its offset. */
export function withReadableEmphasis(text: string): string {
  // The replacement is no Markdown mark; a letter outside the basic plane needs two of them.
  return text.replace(UNREADABLE_MARK, (letter, at: number) =>
    isEmphasizedLetter(text, at, letter) ? letter : '、'.repeat(letter.length),
  );
}

/** Whether a single letter between two marks is emphasized itself, as in **重**, and does not separate two emphasized texts. */
function isEmphasizedLetter(text: string, at: number, letter: string): boolean {
  const mark = /[*~]/.exec(text.charAt(at - 1))?.[0];
  if (mark === undefined || !/[*~]/.test(text.charAt(at + letter.length))) return false;
  const paragraph = text.slice(text.lastIndexOf('\n\n', at) + 1, at);
  const runs = paragraph.match(mark === '*' ? /\*+/g : /~+/g) ?? [];
  return runs.length % 2 === 1;
}

/** The offsets that need a word joiner so that Slack reads the marks of this node. */
export function wordJoinerPositions(text: string, node: MarkdownNode): number[] {
  if (!/^(?:emphasis|strong|delete)$/.test(node.type)) return [];
  const first = node.children[0];
  const last = node.children.at(-1);
  if (!first || !last) return [];
  const ends = [
    { at: first.start, outside: characterBefore(text, node.start), inside: characterAt(text, first.start) },
    { at: last.end, outside: characterAt(text, node.end), inside: characterBefore(text, last.end) },
  ];
  return ends.flatMap(({ at, outside, inside }) =>
    IS_UNSPACED_LETTER.test(outside) && IS_PUNCTUATION.test(inside) ? [at] : [],
  );
}

/** How many characters word joiners may add at `index`: at most one for each end of a run of marks. */
export function wordJoinerCost(text: string, index: number): number {
  if (!/[*~]/.test(text.charAt(index - 1))) return 0;
  const around = [characterAt(text, index), characterBefore(text, index - 1)];
  return around.some((character) => IS_UNSPACED_LETTER.test(character)) ? 1 : 0;
}

function characterBefore(text: string, at: number): string {
  const low = text.charCodeAt(at - 1);
  return low >= 0xdc00 && low <= 0xdfff ? text.slice(Math.max(0, at - 2), at) : text.charAt(at - 1);
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0x20);
}
