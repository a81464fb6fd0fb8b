import type { ClosedBy } from '../../relay/access/access-policy.ts';
import { parsePromptList } from '../../relay/reading/prompt-list.ts';
import type { RelaySettings } from '../../relay/runtime/deps.ts';
import {
  channelsInput,
  choiceInput,
  formOption,
  textInput,
  type ViewBlock,
} from '../../render/blocks/modal.ts';
import * as strings from '../../render/strings/index.ts';
import { shorten } from '../../render/text-format.ts';
import type { Settings, SignedText } from '../../store/workspaces/settings-store.ts';

/** Where a setting can be set: in a channel, in a direct conversation, for a whole workspace. */
export type Scope = 'channel' | 'direct' | 'workspace';

/** How values of one kind are shown, read and kept. */
interface SettingKind<Value> {
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
interface ShownSetting {
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
const DEFAULT_CHOICE = 'usual';

/** One of a few options, or null for the default. */
function choiceSetting<Value extends string>(
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

function parseSignedText(typed: string, _scope: Scope, person: string): SignedText | null {
  const text = typed.replace(HIDDEN, '').trim();
  return text === '' ? null : { text, set_by: person, set_at: new Date() };
}

/** A text of several lines, trimmed, with who has set it and when; null for none. */
function signedTextSetting(words: { label: string; hint: string }, { maxLength }: { maxLength: number }) {
  return {
    words,
    format: (value: SignedText | null) => value?.text ?? '',
    parse: parseSignedText,
    audited: (value: SignedText | null) => value && { characters: value.text.length },
    signature: (value: SignedText | null) => (value === null ? undefined : strings.signature(value)),
    input: textField(words, { maxLength, multiline: true }),
  };
}

/** Most channels that are named in a summary: a section holds 3,000 characters. */
const MAX_NAMED_CHANNELS = 50;

/** One of the form's checkboxes. */
function switchSetting(words: { label: string; description?: string }) {
  return {
    words,
    format: (value: boolean | null) => (value === true ? 'on' : ''),
    parse: (text: string) => text === 'on',
  };
}

/** The most ids in one setting. */
const MAX_BOTS = 50;

const NO_BOTS = 'none';

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

/** What is set; `channel` is left out in a workspace's form. */
export interface SettingsInPlace {
  channel?: Settings;
  workspace: Settings;
  /** Who keeps the bot from answering in the channel. */
  closing?: ClosedBy | undefined;
}

/** What the operator has set, for where neither the channel nor the workspace has. */
export type OperatorSettings = Pick<
  RelaySettings,
  'listenMode' | 'allowedUsers' | 'allowedBots' | 'taskControl' | 'skill' | 'keepsTexts' | 'answers'
>;

/**
 * All that is known of one setting of channels and workspaces. A new one is an entry of `SETTINGS`, its words in
 * `strings.settings` and its column.
 */
interface Setting<Value> extends SettingKind<Value> {
  readonly words: { readonly label: string; readonly short?: string; readonly description?: string };
  readonly scopes: readonly Scope[];
  /**
   * What holds where neither the channel nor the workspace has set anything, and with `isFixed` also where they have; left
   * out if the column has a default.
   */
  usual?(operator: OperatorSettings, set: SettingsInPlace): UsualValue<Value>;
  /** What the form says in place of its input, where the operator has what rules it out. */
  missing?(operator: OperatorSettings): string | undefined;
  /** For a setting of which the channel is told when it is turned on or off. */
  readonly notice?: { isOn(value: Value): boolean; text(who: string, isOn: boolean): string };
}

interface UsualValue<Value> {
  value: Value;
  from: 'workspace' | 'operator' | 'service';
  isFixed?: boolean;
}

export type SettingKey = keyof Settings;

/** Every setting, in the order of the forms: first what people change most, ids last. */
export const SETTINGS: Readonly<Record<SettingKey, Setting<unknown>>> = {
  listen_mode: {
    ...choiceSetting(strings.settings.listen_mode, { channelOnly: 'everything', type: 'radio_buttons' }),
    scopes: ['channel', 'workspace'],
    usual: ({ listenMode: value }) => ({ value, from: 'operator' }),
    notice: { isOn: (mode) => mode === 'everything', text: strings.settingNotices.listen_mode },
  },
  allowed_users: {
    ...choiceSetting(strings.settings.allowed_users),
    scopes: ['channel', 'workspace'],
    usual: ({ allowedUsers: value }) => ({ value, from: 'operator' }),
  },
  instructions: {
    ...signedTextSetting(strings.settings.instructions, { maxLength: 2_000 }),
    scopes: ['channel'],
    missing: ({ skill, keepsTexts }) => {
      if (skill !== undefined) return strings.noInstructions.skill;
      return keepsTexts ? undefined : strings.noInstructions.key;
    },
  },
  prompts: {
    ...signedTextSetting(strings.settings.prompts, { maxLength: 3_000 }),
    invalid: strings.settings.prompts.invalid,
    parse: (text, scope, person) =>
      parsePromptList(text) === undefined ? undefined : parseSignedText(text, scope, person),
    scopes: ['channel'],
    missing: ({ keepsTexts }) => (keepsTexts ? undefined : strings.noPrompts),
  },
  model: {
    ...choiceSetting(strings.settings.model),
    scopes: ['channel', 'direct'],
    usual: () => ({ value: null, from: 'service' }),
  },
  task_control: {
    ...choiceSetting(strings.settings.task_control),
    scopes: ['channel'],
    usual: ({ taskControl: value }) => ({ value, from: 'operator' }),
  },
  answers_in: {
    ...choiceSetting(strings.settings.answers_in),
    scopes: ['workspace'],
    usual: () => ({ value: 'invited', from: 'operator' }),
  },
  answers_in_channels: {
    words: strings.settings.answers_in_channels,
    // Slack may give them back in another order.
    format: (ids) => (ids ?? []).toSorted().join(','),
    parse: (text) => (text === '' ? null : text.split(',')),
    nameOf: (ids) => strings.channelNames(ids ?? [], MAX_NAMED_CHANNELS),
    audited: (ids) => ids?.join(',') ?? null,
    input: ({ id, label, text }) => {
      const { hint } = strings.settings.answers_in_channels;
      return channelsInput(id, { label, hint, optional: true }, text === '' ? [] : text.split(','));
    },
    scopes: ['workspace'],
    usual: () => ({ value: null, from: 'operator' }),
  },
  direct_messages: {
    ...choiceSetting(strings.settings.direct_messages),
    scopes: ['workspace'],
    usual: ({ answers }) => ({ value: answers.directMessages ? 'on' : 'off', from: 'operator' }),
  },
  group_messages: {
    ...choiceSetting(strings.settings.group_messages),
    scopes: ['workspace'],
    usual: ({ answers }) => ({ value: answers.groupMessages ? 'on' : 'off', from: 'operator' }),
  },
  answers_here: {
    ...choiceSetting(strings.settings.answers_here),
    scopes: ['channel'],
    usual: (_operator, { workspace, closing }) => ({
      value: closing === undefined ? 'on' : 'off',
      from: workspace.answers_in === null && closing !== 'closed_by_admins' ? 'operator' : 'workspace',
      isFixed: closing === 'closed_by_operator' || closing === 'closed_by_admins',
    }),
  },
  welcomes: {
    ...choiceSetting(strings.settings.welcomes),
    scopes: ['workspace'],
    usual: () => ({ value: 'on', from: 'operator' }),
  },
  show_steps: { ...switchSetting(strings.settings.show_steps), scopes: ['channel', 'direct'] },
  show_sources: { ...switchSetting(strings.settings.show_sources), scopes: ['channel', 'direct'] },
  send_reminders: { ...switchSetting(strings.settings.send_reminders), scopes: ['channel', 'direct'] },
  sync_project_name: { ...switchSetting(strings.settings.sync_project_name), scopes: ['channel'] },
  allow_workflow_steps: {
    ...switchSetting(strings.settings.allow_workflow_steps),
    scopes: ['channel'],
    notice: { isOn: (value) => value, text: strings.settingNotices.allow_workflow_steps },
  },
  allowed_bots: {
    words: strings.settings.allowed_bots,
    invalid: strings.settings.allowed_bots.invalid,
    format: formatBotList,
    parse: parseBotList,
    // An operator may name more than hints and sections hold.
    nameOf: (bots) => shorten(formatBotList(bots), 1_000),
    audited: (bots) => bots && formatBotList(bots),
    input: textField(strings.settings.allowed_bots, { maxLength: 1_000 }),
    scopes: ['channel', 'workspace'],
    usual: ({ allowedBots }) => ({ value: [...allowedBots], from: 'operator' }),
  },
} satisfies { [Key in SettingKey]: Setting<Settings[Key]> };

export const SETTING_KEYS: readonly SettingKey[] = Object.keys(SETTINGS).filter(
  (key): key is SettingKey => key in SETTINGS,
);
