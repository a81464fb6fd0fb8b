import { distance } from 'fastest-levenshtein';
import type { SupportedTaskOptions } from '../../agent/service-options.ts';
import { shorten } from '../../render/text/shorten.ts';
import type { MessageContent, TaskChoices } from '../../store/schema.ts';
import { NO_NAMES } from './display-names.ts';
import { parseMessage } from './message-parser.ts';
import { readableText, toSingleLine } from './message-to-markdown.ts';

/** Longer titles, and longer values of other flags, are cut (UTF-16 units). */
const MAX_TITLE_CHARACTERS = 300;
const MAX_VALUE_CHARACTERS = 200;

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
    const name = (flag[1] ?? '').toLowerCase();
    const afterFlag = rest.slice(flag[0].length);
    const choice = choiceWithoutValue(name, supported);
    if (choice !== undefined) {
      if (afterFlag.startsWith('=')) break;
      Object.assign(choices, choice);
      rest = afterFlag;
      continue;
    }
    const value = VALUE_PATTERN.exec(afterFlag);
    const typedValue = value === null ? '' : toSingleLine(value[1] ?? value[2] ?? value[3] ?? '');
    if (value === null || typedValue === '' || !assignChoice(choices, name, typedValue)) break;
    rest = afterFlag.slice(value[0].length);
  }
  return { choices, text: rest === text ? text : rest.trimStart() };
}

/**
 * The flag that the text after all flags begins with if it is nearly one of ours, and which that is. What is less like one
 * is text for the agent.
 */
export function misspeltFlag(
  text: string,
  supported: SupportedTaskOptions,
): { typed: string; meant: string } | undefined {
  const typed = FLAG_PATTERN.exec(text)?.[1]?.toLowerCase();
  if (typed === undefined) return undefined;
  const { noFallback, autoMode, planMode } = supported;
  const flags = [
    'model',
    'skill',
    'title',
    noFallback && 'no-fallback',
    autoMode && 'auto',
    planMode && 'plan',
  ];
  const meant = flags.find((flag) => flag !== false && flag !== typed && isNearly(typed, flag));
  return meant ? { typed, meant } : undefined;
}

/** Whether two words differ in one letter, or only in the order of two. */
function isNearly(one: string, other: string): boolean {
  const letters = (word: string) => word.split('').sort().join('');
  return distance(one, other) <= (letters(one) === letters(other) ? 2 : 1);
}

/** The choices of a message, made in a form or with flags. */
export function choicesIn(...message: Parameters<typeof typedFlags>): TaskChoices {
  const [{ choices }] = message;
  return choices ?? typedFlags(...message).choices;
}

/** The flag of a message that is nearly one of ours; undefined where its choices were made in a form. */
export function misspeltFlagIn(...message: Parameters<typeof typedFlags>): ReturnType<typeof misspeltFlag> {
  const [{ choices }, , supported] = message;
  return choices === undefined ? misspeltFlag(typedFlags(...message).text, supported) : undefined;
}

/** The flags of a message as it is typed, and the text after them. People's names are not looked up. */
function typedFlags(content: MessageContent, botUserId: string, supported: SupportedTaskOptions) {
  return parseFlags(readableText(parseMessage(content), NO_NAMES, botUserId), supported);
}

function choiceWithoutValue(name: string, supported: SupportedTaskOptions): TaskChoices | undefined {
  if (name === 'no-fallback' && supported.noFallback) return { noFallback: true };
  if (name === 'auto' && supported.autoMode) return { mode: 'auto' };
  if (name === 'plan' && supported.planMode) return { mode: 'plan' };
  return undefined;
}

function assignChoice(choices: TaskChoices, name: string, typedValue: string): boolean {
  if (name === 'model') choices.model = shorten(typedValue.toLowerCase(), MAX_VALUE_CHARACTERS);
  else if (name === 'skill') choices.skill = shorten(typedValue, MAX_VALUE_CHARACTERS);
  else if (name === 'title') choices.title = shorten(typedValue, MAX_TITLE_CHARACTERS);
  else return false;
  return true;
}
