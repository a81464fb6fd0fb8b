import { expect, it } from 'vitest';
import { DEFAULT_CHANNEL_SETTINGS } from '../../../src/store/projects/channel-settings-store.ts';
import { Store } from '../../../src/store/store.ts';
import { freshDatabase } from '../../support/fresh-database.ts';

const { kysely } = await freshDatabase();
const { channelSettings: channels } = new Store(kysely);

it('a channel without settings has the defaults', async () => {
  expect(await channels.get('T1', 'C1')).toEqual(DEFAULT_CHANNEL_SETTINGS);
});

it('setting one value leaves the others unchanged', async () => {
  await channels.set('T1', 'C2', 'U1', { model: 'fast', show_steps: false });
  await channels.set('T1', 'C2', 'U2', { listen_mode: 'everything' });
  expect(await channels.get('T1', 'C2')).toEqual({
    ...DEFAULT_CHANNEL_SETTINGS,
    model: 'fast',
    show_steps: false,
    listen_mode: 'everything',
  });
  expect(await channels.get('T2', 'C2')).toEqual(DEFAULT_CHANNEL_SETTINGS);
});
