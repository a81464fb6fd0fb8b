import { createHash } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../../calls/json.ts';
import type { FormSubmission } from '../../relay/runtime/control-request.ts';
import { isDirectChannel } from '../../relay/runtime/incoming-message.ts';
import { checkboxesInput, formOption, type ViewBlock } from '../../render/blocks/modal.ts';
import { contextLineBlock, mrkdwnContextBlock } from '../../render/blocks/slack-blocks.ts';
import * as strings from '../../render/strings/index.ts';
import { type Settings, WHOLE_WORKSPACE } from '../../store/workspaces/settings-store.ts';
import type { FormErrors } from '../modals.ts';
import {
  type OperatorSettings,
  type Scope,
  SETTING_KEYS,
  SETTINGS,
  type SettingKey,
  type SettingsInPlace,
} from './settings.ts';

/** What a form holds in the input of an id; undefined if it had none, null if it is empty. */
export type FormInput = FormSubmission['input'];

const snapshotSchema = z.object({
  /** WHOLE_WORKSPACE for a workspace. */
  channel: z.string(),
  /** Digests of the texts that the form showed, by field. */
  shown: z.record(z.string(), z.string()),
});

/** What a form showed when it opened, to tell what was changed in it. Travels in its metadata (3,000 characters). */
export type Snapshot = z.output<typeof snapshotSchema>;

/** Where the settings of a channel, or of WHOLE_WORKSPACE, are set. */
export function scopeOf(channel: string): Scope {
  if (channel === WHOLE_WORKSPACE) return 'workspace';
  return isDirectChannel(channel) ? 'direct' : 'channel';
}

/** The metadata of a form with these settings; `texts` are those of its other fields, if they are known. */
export function encodeSnapshot(
  channel: string,
  settings: Settings,
  texts: Readonly<Record<string, string>> = {},
): string {
  const ofSettings = keysIn(scopeOf(channel)).map(
    (key) => [key, SETTINGS[key].format(settings[key])] as const,
  );
  const shown = [...ofSettings, ...Object.entries(texts)].map(([field, text]) => [field, digest(text)]);
  return JSON.stringify({ channel, shown: Object.fromEntries(shown) } satisfies Snapshot);
}

/** Reads a form's metadata. Throws a ZodError for anything else. */
export function parseSnapshot(metadata: string): Snapshot {
  return snapshotSchema.parse(parseJson(metadata));
}

/** Whether a field holds another text than it showed. One that was not shown can be replaced, but not cleared. */
export function isChanged({ shown }: Snapshot, field: string, text: string): boolean {
  const before = shown[field];
  return before === undefined ? text !== '' : digest(text) !== before;
}

/** The settings that were changed in a form, and what it says below values that it did not offer. */
export function changesSince(
  snapshot: Snapshot,
  { person, input }: { person: string; input: FormInput },
): { settings: Partial<Settings>; errors: FormErrors } {
  const settings: Partial<Settings> = {};
  const errors: Record<string, string> = {};
  const scope = scopeOf(snapshot.channel);
  for (const key of keysIn(scope)) {
    const typed = typedText(scope, key, input);
    if (typed === undefined) continue;
    const value = SETTINGS[key].parse(typed, scope, person);
    if (value === undefined)
      errors[inputId(scope, key)] = SETTINGS[key].invalid ?? strings.command.unavailable;
    else if (isChanged(snapshot, key, SETTINGS[key].format(value))) Object.assign(settings, { [key]: value });
  }
  return { settings, errors };
}

/** Changed settings as the audit trail keeps them. */
export function auditedSettings(change: Partial<Settings>): Record<string, unknown> {
  const changed = SETTING_KEYS.filter((key) => key in change);
  const audited = (key: SettingKey) => SETTINGS[key].audited?.(change[key]) ?? change[key];
  return Object.fromEntries(changed.map((key) => [key, audited(key)]));
}

function inputId(scope: Scope, field: string): string {
  return `${scope === 'workspace' ? 'workspace' : 'channel'}_${field}`;
}

/** The inputs of a form with all settings of its scope. */
export function settingInputs(scope: Scope, set: SettingsInPlace, operator: OperatorSettings): ViewBlock[] {
  const keys = keysIn(scope);
  const settings = set.channel ?? set.workspace;
  const isSwitch = (key: SettingKey) => SETTINGS[key].input === undefined;
  const switches = keys.filter(isSwitch);
  return keys.flatMap((key): ViewBlock | ViewBlock[] => {
    if (key === switches[0]) return switchesInput(scope, switches, settings);
    const setting = SETTINGS[key];
    const { words, scopes } = setting;
    const missing = setting.missing?.(operator);
    if (missing !== undefined) return contextLineBlock(missing);
    const now = inForce(key, set, operator);
    const isWorkspaces = scope !== 'workspace' && scopes.includes('workspace');
    const shown = {
      id: inputId(scope, key),
      label: (scope === 'workspace' ? words.short : undefined) ?? words.label,
      text: SETTINGS[key].format(settings[key]),
      scope,
      inForce: now && strings.settingInForce(now),
      usualFrom: isWorkspaces ? ('workspace' as const) : setting.usual?.(operator, set).from,
    };
    const signature = setting.signature?.(settings[key]);
    return [
      setting.input?.(shown) ?? [],
      signature === undefined ? [] : mrkdwnContextBlock(signature),
    ].flat();
  });
}

function switchesInput(scope: Scope, switches: readonly SettingKey[], settings: Settings): ViewBlock {
  const options = switches.map((key) => {
    const { label, description } = SETTINGS[key].words;
    return formOption(key, label, description);
  });
  const ticked = switches.filter((key) => SETTINGS[key].format(settings[key]) !== '');
  return checkboxesInput(inputId(scope, SWITCHES), strings.channelSettings.switches, options, ticked);
}

/** What the settings of a workspace are, a line each, in mrkdwn. */
export function workspaceSummary(workspace: Settings, operator: OperatorSettings): string {
  const lines = keysIn('workspace').flatMap((key) => {
    const now = inForce(key, { workspace }, operator);
    const { short, label } = SETTINGS[key].words;
    return now === undefined ? [] : [strings.workspaceSetting(short ?? label, now)];
  });
  return lines.join('\n');
}

const SWITCHES = 'switches';

function keysIn(scope: Scope): SettingKey[] {
  return SETTING_KEYS.filter((key) => SETTINGS[key].scopes.includes(scope));
}

/** The text that a form held for a setting; undefined if it had no such field. */
function typedText(scope: Scope, key: SettingKey, input: FormInput): string | undefined {
  if (SETTINGS[key].input === undefined) {
    const ticked = input(inputId(scope, SWITCHES))?.selected_options ?? undefined;
    return ticked && (ticked.some(({ value }) => value === key) ? 'on' : '');
  }
  const field = input(inputId(scope, key));
  const ids = field?.selected_conversations?.join(',');
  return field && (ids ?? field.selected_option?.value ?? field.value ?? '');
}

/** What holds, and who has set it; undefined for a setting without a default elsewhere. */
function inForce(key: SettingKey, set: SettingsInPlace, operator: OperatorSettings) {
  const setting = SETTINGS[key];
  const usual = setting.usual?.(operator, set);
  if (usual === undefined) return undefined;
  const { value, from } =
    [
      { value: set.channel?.[key] ?? null, from: 'channel' as const },
      { value: set.workspace[key], from: 'workspace' as const },
    ].find((one) => one.value !== null && usual.isFixed !== true) ?? usual;
  return { text: setting.nameOf?.(value) ?? '', from };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
