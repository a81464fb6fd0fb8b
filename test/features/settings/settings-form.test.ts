import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ZodError } from 'zod';
import { checkBlocks } from '../../../sandbox/slack/block-validation.ts';
import { type Scope, SETTING_KEYS, SETTINGS } from '../../../src/features/settings/settings.ts';
import {
  auditedSettings,
  changesSince,
  encodeSnapshot,
  type FormInput,
  isChanged,
  parseSnapshot,
  settingInputs,
  workspaceSummary,
} from '../../../src/features/settings/settings-form.ts';
import type { ClosedBy } from '../../../src/relay/access/access-policy.ts';
import { createModal, noticeModal } from '../../../src/render/blocks/modal.ts';
import * as strings from '../../../src/render/strings/index.ts';
import {
  DEFAULT_SETTINGS,
  type Settings,
  WHOLE_WORKSPACE,
} from '../../../src/store/workspaces/settings-store.ts';
import { EVERYWHERE } from '../../support/answer-limits.ts';

const operator = {
  listenMode: 'conversation',
  allowedUsers: 'members',
  allowedBots: [],
  taskControl: 'admins',
  skill: undefined,
  keepsTexts: true,
  answers: EVERYWHERE,
} as const;
const settings = { ...DEFAULT_SETTINGS, sync_project_name: false };

/** A form's inputs as Slack sends them; a list of values is that of the switches. */
function filled(values: Record<string, string | string[]>): FormInput {
  return (id) => {
    const value = values[id];
    if (Array.isArray(value)) return { selected_options: value.map((one) => ({ value: one })) };
    return value === undefined ? undefined : { value };
  };
}

const untouched = {
  channel_model: 'usual',
  channel_listen_mode: 'usual',
  channel_allowed_users: 'usual',
  channel_allowed_bots: '',
  channel_task_control: 'usual',
  channel_instructions: '',
  channel_prompts: '',
  channel_switches: ['show_steps', 'show_sources', 'send_reminders'],
};

const channels = { channel: 'C1', direct: 'D1', workspace: WHOLE_WORKSPACE };

/** What a form changes that opened with these settings. */
function change(
  values: Record<string, string | string[]>,
  from: Settings = settings,
  scope: Scope = 'channel',
) {
  const snapshot = parseSnapshot(encodeSnapshot(channels[scope], from));
  return changesSince(snapshot, { person: 'U1', input: filled(values) });
}

describe('a submitted form with settings', () => {
  test('changes nothing if nothing was changed', () => {
    expect(change(untouched)).toEqual({ settings: {}, errors: {} });
    expect(change({})).toEqual({ settings: {}, errors: {} });
  });

  test('changes only the fields that were changed', () => {
    const values = { ...untouched, channel_model: 'max', channel_switches: ['show_sources'] };
    expect(change(values).settings).toEqual({ model: 'max', show_steps: false, send_reminders: false });
  });

  test('leaves out of instructions what people cannot see', () => {
    const tags = String.fromCodePoint(0xe0049, 0xe0067, 0xe0101, 0x202e, 0x2060, 0xad, 0);
    const typed = `Mouse,\tGRCm39.\r\nCite ${tags}PMIDs. \u0646\u200c\u0645 👩‍🔬\ud800`;
    const { instructions } = change({ ...untouched, channel_instructions: typed }).settings;
    expect(instructions?.text).toBe('Mouse,\tGRCm39.\nCite PMIDs. \u0646\u200c\u0645 👩‍🔬');
    expect(change({ ...untouched, channel_instructions: tags }).settings).toEqual({});
  });

  test('names bots, no bots, or the default', () => {
    const bots = (typed: string, from?: Settings) =>
      change({ ...untouched, channel_allowed_bots: typed }, from);
    expect(bots('B012, B034  B012').settings).toEqual({ allowed_bots: ['B012', 'B034'] });
    expect(bots(' None ').settings).toEqual({ allowed_bots: [] });
    const { invalid } = strings.settings.allowed_bots;
    expect(bots('U012')).toEqual({ settings: {}, errors: { channel_allowed_bots: invalid } });
    const named = { ...settings, allowed_bots: ['B012', 'B034'] };
    expect(bots('B012 B034', named).settings).toEqual({});
    expect(bots('', named).settings).toEqual({ allowed_bots: null });
  });

  test('takes the chosen channels for the same in whatever order Slack gives them back', () => {
    const chosen = { ...settings, answers_in_channels: ['C034', 'C012'] };
    const sent = (ids: string) =>
      change({ workspace_answers_in_channels: ids }, chosen, 'workspace').settings;
    expect(sent('C012,C034')).toEqual({});
    expect(sent('C012')).toEqual({ answers_in_channels: ['C012'] });
  });

  test('signs a text that was changed, and keeps the signature of any other', () => {
    const set = { ...settings, instructions: { text: 'mouse', set_by: 'U2', set_at: new Date(0) } };
    const typed = (text: string) => change({ ...untouched, channel_instructions: text }, set).settings;
    expect(typed(' mouse\n')).toEqual({});
    const signed = { text: 'mouse, GRCm39', set_by: 'U1', set_at: expect.any(Date) };
    expect(typed('mouse, GRCm39')).toEqual({ instructions: signed });
    expect(typed(' ')).toEqual({ instructions: null });
    expect(auditedSettings(typed('mouse, GRCm39'))).toEqual({ instructions: { characters: 13 } });
  });

  test('is rejected with a value that it did not offer', () => {
    const said = strings.command.unavailable;
    expect(change({ channel_listen_mode: 'nothing' }).errors).toEqual({ channel_listen_mode: said });
    expect(change({ channel_task_control: 'everybody' }).errors).toEqual({ channel_task_control: said });
    const all = { workspace_listen_mode: 'everything' };
    expect(change(all, settings, 'workspace').errors).toEqual({ workspace_listen_mode: said });
    expect(change({ channel_listen_mode: 'everything' }).settings).toEqual({ listen_mode: 'everything' });
  });

  test('is rejected with metadata that is not ours', () => {
    for (const metadata of ['', '{}', '[']) expect(() => parseSnapshot(metadata)).toThrow(ZodError);
  });

  test('can replace a text that was not shown, but not clear it', () => {
    const metadata = encodeSnapshot('C1', settings, { title: 'Lab' });
    const snapshot = parseSnapshot(metadata);
    expect(isChanged(snapshot, 'title', 'Lab')).toBe(false);
    expect(isChanged(snapshot, 'title', '')).toBe(true);
    expect(isChanged(snapshot, 'description', '')).toBe(false);
    expect(isChanged(snapshot, 'description', 'What for')).toBe(true);
  });
});

const setting = fc.record<Settings>({
  model: fc.constantFrom(null, 'standard', 'fast', 'max', 'one of another time'),
  listen_mode: fc.constantFrom(null, 'mentions', 'conversation', 'replies', 'everything'),
  allowed_users: fc.constantFrom(null, 'members', 'guests', 'everyone'),
  allowed_bots: fc.constantFrom(null, [], ['B012', 'B034']),
  task_control: fc.constantFrom(null, 'starter', 'channel', 'admins'),
  instructions: fc.constantFrom(null, { text: 'x'.repeat(2_000), set_by: 'U2', set_at: new Date() }),
  prompts: fc.constantFrom(null, { text: 'x'.repeat(3_000), set_by: 'U2', set_at: new Date() }),
  welcomes: fc.constantFrom(null, 'on', 'off'),
  answers_in: fc.constantFrom(null, 'invited', 'listed', 'channels'),
  answers_in_channels: fc.constantFrom(null, ['C012', 'C034']),
  direct_messages: fc.constantFrom(null, 'on', 'off'),
  group_messages: fc.constantFrom(null, 'on', 'off'),
  answers_here: fc.constantFrom(null, 'on', 'off'),
  show_steps: fc.boolean(),
  show_sources: fc.boolean(),
  send_reminders: fc.boolean(),
  sync_project_name: fc.boolean(),
  allow_workflow_steps: fc.boolean(),
});

describe('the form with settings', () => {
  test('fits Slack, whatever is set and wherever', () => {
    const scopes = fc.constantFrom<Scope>('channel', 'direct', 'workspace');
    fc.assert(
      fc.property(setting, setting, scopes, (channel, workspace, scope) => {
        const set = scope === 'workspace' ? { workspace } : { channel, workspace };
        const blocks = settingInputs(scope, set, operator);
        checkBlocks(createModal('Settings', blocks).blocks, 'modal');
        const signatures = [channel.instructions, channel.prompts].filter((text) => text !== null).length;
        expect(blocks).toHaveLength({ channel: 9 + signatures, direct: 2, workspace: 8 }[scope]);
        expect(encodeSnapshot(channels[scope], workspace).length).toBeLessThan(1_000);
      }),
      { numRuns: 60 },
    );
    for (const { title } of [strings.channelSettings, strings.workspaceSettings])
      expect(title.length).toBeLessThanOrEqual(24);
  });

  test('says of each value whether the channel, the workspace or the operator has set it', () => {
    const channel: Settings = { ...settings, model: 'max', listen_mode: 'everything' };
    const workspace: Settings = { ...settings, allowed_users: 'guests', allowed_bots: [] };
    const blocks = settingInputs('channel', { channel, workspace }, operator);
    const hints = blocks.flatMap((block) => (block.type === 'input' ? [block.hint?.text] : []));
    expect(hints).toEqual([
      'Now: Every message in the channel (set for this channel).',
      'Now: Members and guests (set for this workspace).',
      strings.settings.instructions.hint,
      strings.settings.prompts.hint,
      'Now: Max (set for this channel).',
      "Now: Workspace admins (set by the app's operator).",
      "Now: I answer here (set by the app's operator).",
      undefined,
      expect.stringContaining('Now: none (set for this workspace).'),
    ]);
    const here = (
      answers_here: Settings['answers_here'],
      answers_in: Settings['answers_in'],
      closing?: ClosedBy,
    ) => {
      const set = { channel: { ...settings, answers_here }, workspace: { ...settings, answers_in }, closing };
      const shown = JSON.stringify(settingInputs('channel', set, operator));
      return /Now: (I (?:don't )?answer here \([^)]*\))/.exec(shown)?.[1];
    };
    expect(here(null, null)).toBe("I answer here (set by the app's operator)");
    expect(here(null, 'channels', 'closed_by_channel')).toBe("I don't answer here (set for this workspace)");
    expect(here('off', null, 'closed_by_channel')).toBe("I don't answer here (set for this channel)");
    expect(here('on', 'listed', 'closed_by_admins')).toBe("I don't answer here (set for this workspace)");
    expect(here('on', null, 'closed_by_operator')).toBe("I don't answer here (set by the app's operator)");
    expect(workspaceSummary(workspace, operator)).toBe(
      [
        "• *Replies in people's threads*: Replies meant for me (set by the app's operator)",
        '• *People*: Members and guests (set for this workspace)',
        "• *Channels*: Every channel that I'm invited to (set by the app's operator)",
        "• *The chosen channels*: none (set by the app's operator)",
        "• *Direct messages*: I answer direct messages (set by the app's operator)",
        "• *Group messages*: I answer in group messages (set by the app's operator)",
        "• *Say how to begin where I'm invited*: I say it once in each channel (set by the app's operator)",
        '• *Bots and workflows*: none (set for this workspace)',
      ].join('\n'),
    );
  });

  test('sums up however many chosen channels in what a section holds', () => {
    const ids = Array.from({ length: 400 }, (_, index) => `C${String(index).padStart(10, '0')}`);
    const workspace: Settings = { ...settings, answers_in: 'listed', answers_in_channels: ids };
    const text = workspaceSummary(workspace, operator);
    expect(text.length).toBeLessThan(2_500);
    expect(text).toContain('<#C0000000049>, and 350 more');
    const few = workspaceSummary({ ...workspace, answers_in_channels: ids.slice(0, 50) }, operator);
    expect(few).toContain('<#C0000000049> (set');
  });

  test('fits Slack however many bots the operator lets in', () => {
    const allowedBots = Array.from({ length: 400 }, (_, index) => `B${String(index).padStart(10, '0')}`);
    const many = { ...operator, allowedBots };
    const blocks = settingInputs('channel', { channel: settings, workspace: settings }, many);
    expect(checkBlocks(createModal('Settings', blocks).blocks, 'modal')).toHaveLength(9);
    expect(JSON.stringify(blocks)).toContain("… (set by the app's operator)");
    const section = { type: 'section', text: { type: 'mrkdwn', text: workspaceSummary(settings, many) } };
    expect(checkBlocks([section], 'home')).toHaveLength(1);
  });

  test('says why a channel can have no standing instructions, and then changes none', () => {
    const set = { channel: settings, workspace: settings };
    const limits = { key: { keepsTexts: false }, skill: { skill: 'pathways' } };
    for (const why of ['key', 'skill'] as const) {
      const blocks = settingInputs('channel', set, { ...operator, ...limits[why] });
      expect(checkBlocks(createModal('Settings', blocks).blocks, 'modal')).toHaveLength(9);
      expect(JSON.stringify(blocks)).toContain(strings.noInstructions[why]);
      expect(JSON.stringify(blocks)).not.toContain('channel_instructions');
    }
    const from = { ...settings, instructions: { text: 'Cite PMIDs.', set_by: 'U2', set_at: new Date() } };
    const { channel_instructions: _, ...others } = untouched;
    expect(change(others, from).settings).toEqual({});
  });

  test('says that instructions have to be written again which no key decrypts', () => {
    const instructions = { text: '', set_by: 'U2', set_at: new Date('2026-11-23T12:00:00Z') };
    const set = { channel: { ...settings, instructions }, workspace: settings };
    const shown = JSON.stringify(settingInputs('channel', set, operator));
    const day = '<!date^1795435200^{date_num}|2026-11-23>';
    expect(shown).toContain(`What <@U2> wrote here on ${day} can't be decrypted`);
  });

  test('is replaced by a notice for every refusal', () => {
    for (const sentence of [strings.settingsForMembers, ...Object.values(strings.controlRefused)])
      expect(checkBlocks(noticeModal(strings.channelSettings.title, sentence).blocks, 'modal')).toHaveLength(
        1,
      );
  });
});

test('the audit trail gets settings in a form that can be read', () => {
  expect(auditedSettings({ allowed_bots: ['B1', 'B2'], model: 'max', show_steps: false })).toEqual({
    model: 'max',
    allowed_bots: 'B1, B2',
    show_steps: false,
  });
  expect(SETTING_KEYS.every((key) => SETTINGS[key].scopes.length > 0)).toBe(true);
});
