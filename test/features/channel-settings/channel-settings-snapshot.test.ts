import { describe, expect, test } from 'vitest';
import {
  type ChannelSettingsValues,
  changesSince,
  encodeSnapshot,
  parseSnapshot,
} from '../../../src/features/channel-settings/channel-settings-snapshot.ts';
import { DEFAULT_SETTINGS } from '../../../src/store/workspaces/settings-store.ts';

const project = { id: 'prj_1', title: 'Lab', description: '', createdAt: '', updatedAt: '' };
const shown = parseSnapshot(encodeSnapshot('C1', DEFAULT_SETTINGS, project));
const blind = parseSnapshot(encodeSnapshot('C1', DEFAULT_SETTINGS, undefined));
const untouched: ChannelSettingsValues = {
  project: '',
  title: 'Lab',
  description: '',
  model: 'usual',
  listens: 'usual',
  admits: 'usual',
  bots: '',
  controls: 'usual',
  more: ['show_steps'],
};

const many = Array.from({ length: 51 }, (_, index) => `B${index}`).join();

function change(form: Partial<ChannelSettingsValues>, from = shown) {
  if (from === undefined) throw new Error('The form cannot be read.');
  return changesSince(from, { ...untouched, ...form });
}

describe('a submitted channel settings form', () => {
  test('saves nothing if nothing was changed', () => {
    expect(change({})).toEqual({ settings: {}, project: undefined, texts: {} });
  });

  test('saves only the fields that were changed', () => {
    expect(change({ model: 'max', more: [], project: ' prj_2\n' })).toEqual({
      settings: { model: 'max', show_steps: false },
      project: 'prj_2',
      texts: {},
    });
    expect(change({ title: 'Lab 2' })?.texts).toEqual({ title: 'Lab 2' });
    expect(change({ description: 'What for' })?.texts).toEqual({ description: 'What for' });
  });

  test('can replace texts that were not shown, but not clear them', () => {
    expect(change({ title: '', description: '' }, blind)?.texts).toEqual({});
    expect(change({ title: 'New', description: '' }, blind)?.texts).toEqual({ title: 'New' });
  });

  test('keeps settings that it did not ask for', () => {
    const direct = {
      title: undefined,
      listens: undefined,
      admits: undefined,
      bots: undefined,
      controls: undefined,
    };
    expect(change(direct)).toEqual({ settings: {}, project: undefined, texts: {} });
  });

  test('names bots, no bots, or the default', () => {
    expect(change({ bots: 'B012, B034  B012' })?.settings).toEqual({ allowed_bots: ['B012', 'B034'] });
    expect(change({ bots: ' None ' })?.settings).toEqual({ allowed_bots: [] });
    for (const odd of ['U012', 'b012', 'none, B012', 'B0 12!', many])
      expect(change({ bots: odd })).toBeUndefined();
    const named = parseSnapshot(
      encodeSnapshot('C1', { ...DEFAULT_SETTINGS, allowed_bots: ['B012'] }, project),
    );
    expect(change({ bots: 'B012' }, named)?.settings).toEqual({});
    expect(change({ bots: '' }, named)?.settings).toEqual({ allowed_bots: null });
  });

  test('is rejected with a value that it did not offer', () => {
    expect(change({ listens: 'nothing' })).toBeUndefined();
    expect(change({ controls: 'everybody' })).toBeUndefined();
  });

  test('is rejected with metadata that is not ours', () => {
    expect([parseSnapshot(''), parseSnapshot('{}'), parseSnapshot('[')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
