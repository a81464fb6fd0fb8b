import type { ClosedBy } from '../../relay/access/access-policy.ts';
import type { RelaySettings } from '../../relay/runtime/deps.ts';
import * as strings from '../../render/strings/index.ts';
import type { Settings } from '../../store/workspaces/settings-store.ts';
import {
  botsSetting,
  channelsSetting,
  choiceSetting,
  promptsSetting,
  type Scope,
  type SettingKind,
  signedTextSetting,
  switchSetting,
} from './setting-inputs.ts';

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
  'listenMode' | 'allowedUsers' | 'allowedBots' | 'taskControl' | 'noInstructions' | 'keepsTexts' | 'answers'
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
    missing: ({ noInstructions: why }) => why && strings.noInstructions[why],
  },
  prompts: {
    ...promptsSetting(strings.settings.prompts, { maxLength: 3_000 }),
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
    ...channelsSetting(strings.settings.answers_in_channels),
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
    ...botsSetting(strings.settings.allowed_bots, { maxLength: 1_000 }),
    scopes: ['channel', 'workspace'],
    usual: ({ allowedBots }) => ({ value: [...allowedBots], from: 'operator' }),
  },
} satisfies { [Key in SettingKey]: Setting<Settings[Key]> };

export const SETTING_KEYS: readonly SettingKey[] = Object.keys(SETTINGS).filter(
  (key): key is SettingKey => key in SETTINGS,
);
