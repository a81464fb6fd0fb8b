import { expect, it } from 'vitest';
import { defaultChannelSettings } from '../../src/store/channels.ts';
import { Store } from '../../src/store/store.ts';
import { freshDatabase } from './postgres.ts';

const { kysely } = await freshDatabase();
const { channels } = new Store(kysely);

it('has the defaults for a channel that nobody set anything for', async () => {
  expect(await channels.get('T1', 'C1')).toEqual(defaultChannelSettings);
});

it('keeps what is set, and changes nothing else', async () => {
  await channels.set('T1', 'C2', 'U1', { model: 'fast', show_steps: false });
  await channels.set('T1', 'C2', 'U2', { listens: 'everything' });
  expect(await channels.get('T1', 'C2')).toEqual({
    ...defaultChannelSettings,
    model: 'fast',
    show_steps: false,
    listens: 'everything',
  });
  expect(await channels.get('T2', 'C2')).toEqual(defaultChannelSettings);
});
