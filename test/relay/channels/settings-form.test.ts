import { describe, expect, test } from 'vitest';
import {
  changeOf,
  type FilledForm,
  readShown,
  shownForm,
} from '../../../src/relay/channels/settings-form.ts';
import { defaultChannelSettings } from '../../../src/store/channels.ts';

const project = { id: 'prj_1', title: 'Lab', description: '', createdAt: '', updatedAt: '' };
const shown = readShown(shownForm('C1', defaultChannelSettings, project));
const blind = readShown(shownForm('C1', defaultChannelSettings, undefined));
const untouched: FilledForm = {
  project: '',
  title: 'Lab',
  description: '',
  model: 'usual',
  listens: 'mentions',
  admits: 'usual',
  bots: '',
  controls: 'usual',
  more: ['show_steps'],
};

const many = Array.from({ length: 51 }, (_, index) => `B${index}`).join();

function change(form: Partial<FilledForm>, from = shown) {
  if (from === undefined) throw new Error('The form cannot be read.');
  return changeOf(from, { ...untouched, ...form });
}

describe('a form that comes back', () => {
  test('changes nothing where nothing was changed', () => {
    expect(change({})).toEqual({ settings: {}, project: undefined, texts: {} });
  });

  test('changes what was changed and nothing else', () => {
    expect(change({ model: 'max', more: [], project: ' prj_2\n' })).toEqual({
      settings: { model: 'max', show_steps: false },
      project: 'prj_2',
      texts: {},
    });
    expect(change({ title: 'Lab 2' })?.texts).toEqual({ title: 'Lab 2' });
    expect(change({ description: 'What for' })?.texts).toEqual({ description: 'What for' });
  });

  test('sets texts that were not shown, and clears none of them', () => {
    expect(change({ title: '', description: '' }, blind)?.texts).toEqual({});
    expect(change({ title: 'New', description: '' }, blind)?.texts).toEqual({ title: 'New' });
  });

  test('keeps what it did not ask for', () => {
    const direct = {
      title: undefined,
      listens: undefined,
      admits: undefined,
      bots: undefined,
      controls: undefined,
    };
    expect(change(direct)).toEqual({ settings: {}, project: undefined, texts: {} });
  });

  test('names bots, none of them, or leaves them as usual', () => {
    expect(change({ bots: 'B012, B034  B012' })?.settings).toEqual({ bots: ['B012', 'B034'] });
    expect(change({ bots: ' None ' })?.settings).toEqual({ bots: [] });
    for (const odd of ['U012', 'b012', 'none, B012', 'B0 12!', many])
      expect(change({ bots: odd })).toBeUndefined();
    const named = readShown(shownForm('C1', { ...defaultChannelSettings, bots: ['B012'] }, project));
    expect(change({ bots: 'B012' }, named)?.settings).toEqual({});
    expect(change({ bots: '' }, named)?.settings).toEqual({ bots: null });
  });

  test('with a value that was not to choose from is none', () => {
    expect(change({ listens: 'nothing' })).toBeUndefined();
    expect(change({ controls: 'everybody' })).toBeUndefined();
  });

  test('that is none of ours cannot be read', () => {
    expect([readShown(''), readShown('{}'), readShown('[')]).toEqual([undefined, undefined, undefined]);
  });
});
