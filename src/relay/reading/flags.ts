import { shorten } from '../../reply/graphemes.ts';
import type { Choices } from '../../store/tables.ts';

/** Which of the flags without a value mean something here; the others are text. */
export interface OfferedFlags {
  readonly noFallback: boolean;
  readonly autoMode: boolean;
  readonly planMode: boolean;
}

/** A title that is longer is cut (characters); so is anything else that is typed behind a flag. */
const mostTitle = 300;
const mostWord = 200;

/** Two hyphens, or what keyboards make of them. */
const FLAG = /^\s*(?:--|[\u2013\u2014]{1,2}|\u2212\u2212)([a-z][a-z-]*)(?=[\s=]|$)/i;
const VALUE =
  /^(?:[^\S\n]*=[^\S\n]*|[^\S\n]+)(?:["\u201c\u201d\u201e]([^\n]*?)["\u201c\u201d\u201e](?=\s|$)|['\u2018\u2019]([^\n]*?)['\u2018\u2019](?=\s|$)|(?!--|[\u2013\u2014]|\u2212\u2212|["\u201c\u201d\u201e'\u2018\u2019])(\S+))/;

/**
 * What is chosen at the beginning of a message (`--model max --skill name --title "..."`), and the text behind it.
 * Quotes and dashes may be the curly ones that keyboards make. Whatever is no flag, or lacks its value, is text.
 */
export function readFlags(text: string, offered: OfferedFlags): { choices: Choices; text: string } {
  const choices: Choices = {};
  let rest = text;
  for (;;) {
    const flag = FLAG.exec(rest);
    if (flag === null) break;
    const name = (flag[1] ?? '').toLowerCase();
    const behind = rest.slice(flag[0].length);
    const plain = withoutValue(name, offered);
    if (plain !== undefined) {
      if (behind.startsWith('=')) break;
      Object.assign(choices, plain);
      rest = behind;
      continue;
    }
    const value = VALUE.exec(behind);
    const said = value === null ? '' : titleLine(value[1] ?? value[2] ?? value[3] ?? '');
    if (value === null || said === '' || !take(choices, name, said)) break;
    rest = behind.slice(value[0].length);
  }
  return { choices, text: rest === text ? text : rest.trimStart() };
}

function withoutValue(name: string, offered: OfferedFlags): Choices | undefined {
  if (name === 'no-fallback' && offered.noFallback) return { noFallback: true };
  if (name === 'auto' && offered.autoMode) return { mode: 'auto' };
  if (name === 'plan' && offered.planMode) return { mode: 'plan' };
  return undefined;
}

function take(choices: Choices, name: string, said: string): boolean {
  if (name === 'model') choices.model = shorten(said.toLowerCase(), mostWord);
  else if (name === 'skill') choices.skill = shorten(said, mostWord);
  else if (name === 'title') choices.title = shorten(said, mostTitle);
  else return false;
  return true;
}

/** A title, or a value like it, as it may be typed anywhere: one line, without control characters. */
export function titleLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .toWellFormed()
    .trim();
}
