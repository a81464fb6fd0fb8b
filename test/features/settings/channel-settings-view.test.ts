import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkBlocks } from '../../../sandbox/slack/block-validation.ts';
import {
  type ChannelSettingsFormContent,
  channelSettingsView,
} from '../../../src/features/settings/channel-settings-view.ts';
import {
  workspaceAccessFormView,
  workspaceAccessSection,
} from '../../../src/features/settings/workspace-settings.ts';
import { noticeModal } from '../../../src/render/blocks/modal.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { DEFAULT_SETTINGS } from '../../../src/store/workspaces/settings-store.ts';

const usualSetting = (...values: string[]) =>
  fc.record({
    text: fc.constantFrom(...values),
    from: fc.constantFrom('workspace' as const, 'operator' as const),
  });

const form = fc.record<ChannelSettingsFormContent>({
  metadata: fc.constant('{}'),
  settings: fc.record({
    model: fc.constantFrom(null, 'standard', 'fast', 'max', 'one of another time'),
    listen_mode: fc.constantFrom(null, 'mentions', 'conversation', 'replies', 'everything'),
    allowed_users: fc.constantFrom(null, 'members', 'guests', 'everyone'),
    allowed_bots: fc.constantFrom('', 'none', 'B012, B034'),
    task_control: fc.constantFrom(null, 'starter', 'channel', 'admins'),
    show_steps: fc.boolean(),
    sync_project_name: fc.boolean(),
    allow_workflow_steps: fc.boolean(),
  }),
  usual: fc.record({
    listens: usualSetting('mentions', 'conversation', 'replies'),
    admits: usualSetting('members', 'guests', 'everyone'),
    bots: usualSetting('none', 'B012, B034'),
    controls: usualSetting('starter', 'channel', 'admins'),
  }),
  isDirect: fc.boolean(),
  project: fc.option(
    fc.record({
      id: fc.string({ minLength: 1, maxLength: 200 }),
      title: fc.option(fc.string({ maxLength: 700, unit: 'grapheme' }), { nil: undefined }),
      description: fc.option(fc.string({ maxLength: 12_000 }), { nil: undefined }),
    }),
    { nil: undefined },
  ),
});

const people = ['members', 'guests', 'everyone'] as const;

test('the form with the settings of a workspace fits Slack', () => {
  for (const admits of [null, ...people]) {
    for (const usual of people) {
      const own = { admits, bots: admits === null ? '' : 'B012', listens: admits && 'mentions' } as const;
      const shown = { ...own, usual: { admits: usual, bots: 'none', listens: 'conversation' } } as const;
      expect(checkBlocks(workspaceAccessSection(shown), 'home')).toHaveLength(3);
      const form = workspaceAccessFormView(shown);
      expect(checkBlocks(form.blocks, 'modal')).toHaveLength(4);
      expect(JSON.stringify(form.blocks)).toContain(`"initial_option":{"text":{"type":"plain_text","text":"`);
    }
  }
  expect(strings.workspaceAccess.title.length).toBeLessThanOrEqual(24);
});

describe('the form with the settings of a channel', () => {
  test('fits Slack, whatever is set', () => {
    fc.assert(
      fc.property(form, (filled) => {
        const view = channelSettingsView(filled);
        checkBlocks(view.blocks, 'modal');
        const ids = view.blocks.flatMap((block) => (block.type === 'input' ? [block.block_id] : []));
        expect(new Set(ids).size).toBe(ids.length);
      }),
      { numRuns: 60 },
    );
    for (const text of [
      strings.channelSettings.title,
      strings.channelSettings.save,
      strings.channelSettings.cancel,
    ])
      expect(text.length).toBeLessThanOrEqual(24);
  });

  test('says of each value whether the channel, the workspace or the operator has set it', () => {
    const view = channelSettingsView({
      metadata: '{}',
      settings: {
        ...DEFAULT_SETTINGS,
        sync_project_name: true,
        allowed_bots: '',
        model: 'max',
        listen_mode: 'everything',
      },
      usual: {
        listens: { text: 'mentions', from: 'operator' },
        admits: { text: 'guests', from: 'workspace' },
        bots: { text: 'none', from: 'workspace' },
        controls: { text: 'admins', from: 'operator' },
      },
      isDirect: false,
      project: undefined,
    });
    const hints = view.blocks.flatMap((block) => (block.type === 'input' ? [block.hint?.text] : []));
    expect(hints.slice(1, 6)).toEqual([
      'Now: Max (set for this channel).',
      'Now: Every message in the channel (set for this channel).',
      'Now: Members and guests (set for this workspace).',
      expect.stringContaining('Now: none (set for this workspace).'),
      "Now: Workspace admins (the operator's setting).",
    ]);
  });

  test('offers no choice of more than 75 characters', () => {
    const texts: readonly string[] = Object.values(strings.channelChoices).flatMap((choices) =>
      Object.values(choices).flat(),
    );
    for (const text of texts) expect(text.length).toBeLessThanOrEqual(75);
  });

  test('is replaced by a notice for every refusal', () => {
    for (const sentence of Object.values(strings.channelSettingsRefused))
      expect(checkBlocks(noticeModal(strings.channelSettings.title, sentence).blocks, 'modal')).toHaveLength(
        1,
      );
  });
});
