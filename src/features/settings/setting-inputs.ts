import { parsePromptList } from '../../relay/reading/prompt-list.ts';
import {
  channelsInput,
  choiceInput,
  formOption,
  textInput,
  type ViewBlock,
} from '../../render/blocks/modal.ts';
import * as strings from '../../render/strings/index.ts';
import type { SignedText } from '../../store/workspaces/settings-store.ts';

/** Where a setting can be set: in a channel, in a direct conversation, for a whole workspace. */
export type Scope = 'channel' | 'direct' | 'workspace';

/** How values of one kind are shown, read and kept. */
export interface SettingKind<Value> {
  /** A value as a form holds it: '' or `DEFAULT_CHOICE` if it is not set. */
  format(value: Value): string;
  /** Reads what a form of a person holds; undefined for what it did not offer. */
  parse(text: string, scope: Scope, person: string): Value | undefined;
  /** What the form says below the input then. */
  readonly invalid?: string;
  /** A value as people read it, for a setting that may hold elsewhere. */
  nameOf?(value: Value): string;
  /** A value as the audit trail keeps it; left out if it keeps the value itself. */
  audited?(value: Value): unknown;
  /** What stands below its input about a value, in mrkdwn; left out for nothing. */
  signature?(value: Value): string | undefined;
  /** Its input; a switch has none: it is one of the form's checkboxes. */
  input?(shown: ShownSetting): ViewBlock;
}

/** What an input shows. */
export interface ShownSetting {
  id: string;
  label: string;
  /** As `format` gives it. */
  text: string;
  scope: Scope;
  /** What holds now, and who has set it. */
  inForce: string | undefined;
  /** Who decides where nothing is set here. */
  usualFrom: keyof typeof strings.settingOrigins | undefined;
}

/** What a list holds where nothing is chosen. */
export const DEFAULT_CHOICE = 'usual';

/** One of a few options, or null for the default. */
export function choiceSetting<Value extends string>(
  words: { label: string; options: Readonly<Record<Value, readonly [string, string?]>> },
  { channelOnly, type }: { channelOnly?: Value; type?: 'radio_buttons' } = {},
) {
  const names = new Map(Object.entries<readonly [string, string?]>(words.options));
  const isOption = (text: string): text is Value => names.has(text);
  return {
    words,
    format: (value: string | null) => value ?? DEFAULT_CHOICE,
    parse: (text: string, scope: Scope) => {
      if (text === DEFAULT_CHOICE) return null;
      return isOption(text) && (scope !== 'workspace' || text !== channelOnly) ? text : undefined;
    },
    nameOf: (value: string | null) =>
      value === null ? strings.settingDefault : (names.get(value)?.[0] ?? value),
    input: ({ id, label, text, scope, inForce: hint, usualFrom }: ShownSetting) => {
      const usual = formOption(
        DEFAULT_CHOICE,
        strings.settingDefault,
        usualFrom && strings.settingDefaultFrom(usualFrom),
      );
      const options = [...names]
        .filter(([value]) => scope !== 'workspace' || value !== channelOnly)
        .map(([value, [name, description]]) => formOption(value, name, description));
      return choiceInput(id, { label, hint }, [usual, ...options], text, type);
    },
  };
}

/** The input of a text of at most `maxLength` (up to 3,000) characters. */
function textField(words: { hint: string }, limits: { maxLength: number; multiline?: boolean }) {
  return ({ id, label, text: initial, inForce = '' }: ShownSetting) => {
    const hint = `${words.hint} ${inForce}`.trim();
    return textInput(id, { label, hint, optional: true }, { initial, ...limits });
  };
}

/** What people do not see, but for tabs, ends of lines, and what joins letters: it could hide words in what others' tasks get. */
const HIDDEN = /(?![\t\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}]|[\u{e0100}-\u{e01ef}]/gu;

/** A text of several lines, trimmed, with who has set it and when; null for none. */
export function signedTextSetting(
  words: { label: string; hint: string },
  { maxLength }: { maxLength: number },
) {
  return {
    words,
    format: (value: SignedText | null) => value?.text ?? '',
    parse: (typed: string, _scope: Scope, person: string) => {
      const text = typed.replace(HIDDEN, '').trim();
      return text === '' ? null : { text, set_by: person, set_at: new Date() };
    },
    audited: (value: SignedText | null) => value && { characters: value.text.length },
    signature: (value: SignedText | null) => (value === null ? undefined : strings.signature(value)),
    input: textField(words, { maxLength, multiline: true }),
  };
}

/** A list of prompts, one in each line, with who has set it and when. */
export function promptsSetting(
  words: { label: string; hint: string; invalid: string },
  { maxLength }: { maxLength: number },
) {
  const { parse, ...setting } = signedTextSetting(words, { maxLength });
  return {
    ...setting,
    invalid: words.invalid,
    parse: (text: string, scope: Scope, person: string) =>
      parsePromptList(text) === undefined ? undefined : parse(text, scope, person),
  };
}

/** Most channels that are named in a summary: a section holds 3,000 characters. */
const MAX_NAMED_CHANNELS = 50;

/** Any number of channels; null for none. */
export function channelsSetting(words: { label: string; hint: string }) {
  const format = (ids: readonly string[] | null) => (ids ?? []).join(',');
  return {
    words,
    format,
    parse: (text: string) => (text === '' ? null : text.split(',')),
    nameOf: (ids: readonly string[] | null) => strings.channelNames(ids ?? [], MAX_NAMED_CHANNELS),
    audited: (ids: readonly string[] | null) => ids && format(ids),
    input: ({ id, label, text }: ShownSetting) =>
      channelsInput(id, { label, hint: words.hint, optional: true }, text === '' ? [] : text.split(',')),
  };
}

/** One of the form's checkboxes. */
export function switchSetting(words: { label: string; description?: string }) {
  return {
    words,
    format: (value: boolean | null) => (value === true ? 'on' : ''),
    parse: (text: string) => text === 'on',
  };
}

/** The most ids in one setting. */
const MAX_BOTS = 50;

const NO_BOTS = 'none';

/** Ids of bots and workflows; null for the default. */
export function botsSetting(
  words: { label: string; hint: string; invalid: string },
  { maxLength }: { maxLength: number },
) {
  return {
    words,
    invalid: words.invalid,
    format: formatBotList,
    parse: parseBotList,
    nameOf: formatBotList,
    audited: (bots: readonly string[] | null) => bots && formatBotList(bots),
    input: textField(words, { maxLength }),
  };
}

/** Bots and workflows as a form shows them: empty for the default, "none" for an empty list. */
export function formatBotList(bots: readonly string[] | null): string {
  if (bots === null) return '';
  return bots.length === 0 ? NO_BOTS : bots.join(', ');
}

/** Reads a list as `formatBotList` writes it: null for the default, undefined for text that is not a list of ids. */
export function parseBotList(typed: string): string[] | null | undefined {
  const entries = typed.split(/[,\s]+/).filter((entry) => entry !== '');
  if (entries.length === 0) return null;
  if (entries.length === 1 && entries[0]?.toLowerCase() === NO_BOTS) return [];
  const ids = [...new Set(entries)];
  return ids.length <= MAX_BOTS && ids.every((id) => /^B[A-Z0-9]{1,30}$/.test(id)) ? ids : undefined;
}
