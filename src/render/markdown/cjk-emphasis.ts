import type { MarkdownNode } from './markdown-node.ts';

/*
 * CommonMark does not close emphasis at `**` between punctuation and a letter, as in 这是**重点。**后面 and **结论：**TP53. Scripts
 * without spaces between words need it closed, and so does a label, as in **Note:**text and **Note: **text. So the parser
 * reads that letter as punctuation, or that punctuation as a letter if it is no mark of Markdown, and Slack gets a WORD JOINER
 * (no width) between the punctuation and the mark.
 */
const MARK_RUN = '(?:\\*{1,3}|~~)';
export const UNSPACED_LETTER =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}ー]';
const PUNCTUATION = '(?![*~])[\\p{P}\\p{S}]';
/** The end of bold words: a colon, also with a space, or a wide mark. Stars of significance have `<` behind them, and powers a word before. */
const LABEL = '\\*{2,3}[^\\s*][^*\\n<＜≤]{0,80}';
const LABEL_END = `[。！？：）】」』》](?<=(?<![\\w*)\\]）])${LABEL}.)|[: ](?<=(?<![^\\s|>])${LABEL}[:：] ?)`;
/** What separates meanings of stars: *P<0.05，**表示P<0.01. */
const BETWEEN_STARS = '(?<!\\*[^*\\n]{0,80}[<＜≤][^*\\n]{0,80}[，、；])';
const AFTER_LABEL = `\\*{2,3}(?!${UNSPACED_LETTER})[\\p{L}\\p{N}]`;
const UNREADABLE_MARK = new RegExp(
  [
    `${UNSPACED_LETTER}(?=${MARK_RUN}${PUNCTUATION})`,
    `(?<=${PUNCTUATION}${BETWEEN_STARS}${MARK_RUN})${UNSPACED_LETTER}`,
    `(?:${LABEL_END})(?=${AFTER_LABEL})`,
  ].join('|'),
  'gu',
);
const JOINT = [
  `(?<=${UNSPACED_LETTER}${MARK_RUN})(?=${PUNCTUATION})`,
  `(?<=${PUNCTUATION})${BETWEEN_STARS}(?=${MARK_RUN}${UNSPACED_LETTER})`,
  `(?=${AFTER_LABEL})(?<=${LABEL_END})`,
].join('|');
const JOINT_HERE = new RegExp(JOINT, 'uy');
/** Where such marks touch such punctuation: with any other character between them, each reader reads them. */
export const JOINTS = new RegExp(JOINT, 'gu');
/** An opening mark that Slack reads only beside a word joiner; it cannot be closed before its end is written. */
export const UNREADABLE_OPENER = new RegExp(
  `(?<=${UNSPACED_LETTER})${MARK_RUN}${PUNCTUATION}[^*~]{0,600}$`,
  'u',
);

/** The text for the parser: of the same length, with every mark at its offset. */
export function withReadableEmphasis(text: string): string {
  // Neither is a mark of Markdown; a letter outside the basic plane needs two of them.
  return text.replace(UNREADABLE_MARK, (one, at: number) => {
    if (!/\p{L}/u.test(one)) return '字';
    return isEmphasizedLetter(text, at, one) ? one : '、'.repeat(one.length);
  });
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
export function wordJoinerPositions(text: string, { type, children }: MarkdownNode): number[] {
  const [first, last] = [children[0], children.at(-1)];
  if (!/^(?:emphasis|strong|delete)$/.test(type) || !first || !last) return [];
  return [first.start, last.end].filter((at) => {
    JOINT_HERE.lastIndex = at;
    return JOINT_HERE.test(text);
  });
}

/** How many characters word joiners may add at `index`: at most one for each end of a run of marks. */
export function wordJoinerCost(text: string, index: number): number {
  if (!/[*~]/.test(text.charAt(index - 1))) return 0;
  const around = text.charAt(index - 2) + text.charAt(index);
  return /[^\0-~]/.test(around) || /[:：] ?\*\*$/.test(text.slice(Math.max(0, index - 4), index)) ? 1 : 0;
}
