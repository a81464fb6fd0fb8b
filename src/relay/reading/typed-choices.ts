import { distance } from 'fastest-levenshtein';
import type { SupportedTaskOptions } from '../../agent/service-options.ts';
import { shorten, toSpacedLine } from '../../render/text-format.ts';
import type { MessageContent, TaskChoices } from '../../store/schema.ts';
import { NO_NAMES } from './display-names.ts';
import { parseMessage } from './message-parser.ts';
import { readableText } from './message-to-markdown.ts';

/** Longer titles, and longer values of other flags, are cut (UTF-16 units). */
const MAX_TITLE_CHARACTERS = 300;
const MAX_VALUE_CHARACTERS = 200;

/** A flag: what it chooses, from what is typed after it or by itself, and the service's option that it needs then. */
type Flag =
  | { choiceOf: (typed: string) => TaskChoices; choice?: undefined }
  | { choice: TaskChoices; needs: keyof SupportedTaskOptions };

const FLAGS: ReadonlyMap<string, Flag> = new Map<string, Flag>([
  ['model', { choiceOf: (typed) => ({ model: shorten(typed.toLowerCase(), MAX_VALUE_CHARACTERS) }) }],
  ['skill', { choiceOf: (typed) => ({ skill: shorten(typed, MAX_VALUE_CHARACTERS) }) }],
  ['title', { choiceOf: (typed) => ({ title: shorten(typed, MAX_TITLE_CHARACTERS) }) }],
  ['no-fallback', { choice: { noFallback: true }, needs: 'noFallback' }],
  ['auto', { choice: { mode: 'auto' }, needs: 'autoMode' }],
  ['plan', { choice: { mode: 'plan' }, needs: 'planMode' }],
]);

/** Two hyphens, or the dashes that keyboards turn them into. */
const FLAG_PATTERN = /^\s*(?:--|[\u2013\u2014]{1,2}|\u2212\u2212)([a-z][a-z-]*)(?=[\s=]|$)/i;
const VALUE_PATTERN =
  /^(?:[^\S\n]*=[^\S\n]*|[^\S\n]+)(?:["\u201c\u201d\u201e]([^\n]*?)["\u201c\u201d\u201e](?=\s|$)|['\u2018\u2019]([^\n]*?)['\u2018\u2019](?=\s|$)|(?!--|[\u2013\u2014]|\u2212\u2212|["\u201c\u201d\u201e'\u2018\u2019])(\S+))/;

/**
 * The choices at the beginning of a message (`--model max --skill name --title "..."`), and the text after them. Quotes
 * and dashes may be curly. Anything that is not a flag, or a flag without its value, is text.
 */
export function parseFlags(
  text: string,
  supported: SupportedTaskOptions,
): { choices: TaskChoices; text: string } {
  const choices: TaskChoices = {};
  let rest = text;
  for (;;) {
    const flag = FLAG_PATTERN.exec(rest);
    if (flag === null) break;
    const known = supportedFlags(supported).get((flag[1] ?? '').toLowerCase());
    const afterFlag = rest.slice(flag[0].length);
    if (known === undefined) break;
    if (known.choice !== undefined) {
      if (afterFlag.startsWith('=')) break;
      Object.assign(choices, known.choice);
      rest = afterFlag;
      continue;
    }
    const value = VALUE_PATTERN.exec(afterFlag);
    const typed = toSpacedLine(value?.[1] ?? value?.[2] ?? value?.[3] ?? '');
    if (value === null || typed === '') break;
    Object.assign(choices, known.choiceOf(typed));
    rest = afterFlag.slice(value[0].length);
  }
  return { choices, text: rest === text ? text : rest.trimStart() };
}

/**
 * The flag with which the text after all flags begins, if it is nearly one of ours, and the one that was meant. Anything
 * less like a flag is text for the agent.
 */
export function misspeltFlag(
  text: string,
  supported: SupportedTaskOptions,
): { typed: string; meant: string } | undefined {
  const typed = FLAG_PATTERN.exec(text)?.[1]?.toLowerCase();
  if (typed === undefined) return undefined;
  const meant = [...supportedFlags(supported).keys()].find((flag) => flag !== typed && isNearly(typed, flag));
  return meant ? { typed, meant } : undefined;
}

/** Whether two words differ in one letter, or only in the order of two. */
function isNearly(one: string, other: string): boolean {
  const letters = (word: string) => word.split('').sort().join('');
  return distance(one, other) <= (letters(one) === letters(other) ? 2 : 1);
}

/**
 * The choices of a message, made in a form or with flags as they are typed, and the flag that is nearly one of ours where
 * none was made in a form. People's names are not looked up.
 */
export function flagsOf(content: MessageContent, botUserId: string, supported: SupportedTaskOptions) {
  if (content.choices !== undefined) return { choices: content.choices, misspelt: undefined };
  const typed = parseFlags(readableText(parseMessage(content), NO_NAMES, botUserId), supported);
  return { choices: typed.choices, misspelt: misspeltFlag(typed.text, supported) };
}

function supportedFlags(supported: SupportedTaskOptions): ReadonlyMap<string, Flag> {
  return new Map([...FLAGS].filter(([, flag]) => flag.choice === undefined || supported[flag.needs]));
}
