import { describe, expect, test } from 'vitest';
import {
  type ChannelSettingsValues,
  changesSince,
  encodeSnapshot,
  parseSnapshot,
} from '../../../src/features/settings/channel-settings-snapshot.ts';
import { DEFAULT_SETTINGS } from '../../../src/store/workspaces/settings-store.ts';

const project = { id: 'prj_1', title: 'Lab', description: '', createdAt: '', updatedAt: '' };
const settings = { ...DEFAULT_SETTINGS, sync_project_name: false };
const shown = parseSnapshot(encodeSnapshot('C1', settings, project));
const blind = parseSnapshot(encodeSnapshot('C1', settings, undefined));
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

  test("ends that the project takes the channel's name, where people choose another name or project", () => {
    const following = parseSnapshot(encodeSnapshot('C1', { ...settings, sync_project_name: true }, project));
    const more = ['show_steps', 'follows_name'];
    expect(change({ more }, following)?.settings).toEqual({});
    expect(change({ more, title: 'Ours' }, following)?.settings).toEqual({ sync_project_name: false });
    expect(change({ more, project: 'prj_2' }, following)?.settings).toEqual({ sync_project_name: null });
    expect(change({ more, project: 'prj_2' })?.settings).toEqual({ sync_project_name: true });
  });

  test('names bots, no bots, or the default', () => {
    expect(change({ bots: 'B012, B034  B012' })?.settings).toEqual({ allowed_bots: ['B012', 'B034'] });
    expect(change({ bots: ' None ' })?.settings).toEqual({ allowed_bots: [] });
    for (const odd of ['U012', 'b012', 'none, B012', 'B0 12!', many])
      expect(change({ bots: odd })).toBeUndefined();
    const named = parseSnapshot(encodeSnapshot('C1', { ...settings, allowed_bots: ['B012'] }, project));
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
