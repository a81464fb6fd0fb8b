import { describe, expect, test } from 'vitest';
import { Store } from '../../../src/store/store.ts';
import { Keyring } from '../../../src/store/workspaces/encryption.ts';
import {
  DEFAULT_SETTINGS,
  type Settings,
  WHOLE_WORKSPACE,
} from '../../../src/store/workspaces/settings-store.ts';
import { freshDatabase } from '../../support/fresh-database.ts';

const { kysely } = await freshDatabase();
const { settings } = new Store(kysely, undefined, new Keyring(['k'.repeat(32)]));

type UserAccess = Pick<Settings, 'allowed_users' | 'allowed_bots'>;

let count = 0;

/** Who has access to a new channel where its workspace and the channel itself have set this. */
async function accessWhere(
  workspaceSet: UserAccess | undefined,
  channelSet: UserAccess | undefined,
): Promise<Settings> {
  count += 1;
  const [workspace, channel] = [`T${count}`, `C${count}`];
  if (workspaceSet !== undefined) await settings.set(workspace, WHOLE_WORKSPACE, 'U1', workspaceSet);
  if (channelSet !== undefined) await settings.set(workspace, channel, 'U1', channelSet);
  return settings.inForce(workspace, channel);
}

const unset = { allowed_users: null, allowed_bots: null };

describe('the access that is configured for a channel', () => {
  test.each<[string, UserAccess | undefined, UserAccess | undefined, UserAccess]>([
    ['nothing where nobody set anything', undefined, undefined, unset],
    [
      "the workspace's",
      { allowed_users: 'guests', allowed_bots: ['B1'] },
      undefined,
      { allowed_users: 'guests', allowed_bots: ['B1'] },
    ],
    [
      "the channel's",
      undefined,
      { allowed_users: 'everyone', allowed_bots: [] },
      { allowed_users: 'everyone', allowed_bots: [] },
    ],
    [
      "the channel's before the workspace's",
      { allowed_users: 'members', allowed_bots: ['B1'] },
      { allowed_users: 'everyone', allowed_bots: [] },
      { allowed_users: 'everyone', allowed_bots: [] },
    ],
    [
      "the workspace's where the channel was set back",
      { allowed_users: 'guests', allowed_bots: ['B1'] },
      unset,
      { allowed_users: 'guests', allowed_bots: ['B1'] },
    ],
    [
      'put together setting by setting',
      { allowed_users: 'guests', allowed_bots: null },
      { allowed_users: null, allowed_bots: ['B2'] },
      { allowed_users: 'guests', allowed_bots: ['B2'] },
    ],
  ])('is %s', async (_which, workspaceSet, channelSet, access) => {
    expect(await accessWhere(workspaceSet, channelSet)).toEqual({ ...DEFAULT_SETTINGS, ...access });
  });

  test('is never that of another workspace or channel', async () => {
    await settings.set('T-other', WHOLE_WORKSPACE, 'U1', { allowed_users: 'everyone', allowed_bots: ['B1'] });
    await settings.set('T-here', 'C-other', 'U1', { allowed_users: 'everyone', allowed_bots: ['B1'] });
    expect(await settings.inForce('T-here', 'C-here')).toMatchObject(unset);
  });
});

test('a channel without settings has the defaults', async () => {
  expect(await settings.get('T1', 'C1')).toEqual(DEFAULT_SETTINGS);
});

test('setting one value leaves the others unchanged', async () => {
  await settings.set('T1', 'C2', 'U1', { model: 'fast', show_steps: false });
  await settings.set('T1', 'C2', 'U2', { listen_mode: 'everything' });
  expect(await settings.get('T1', 'C2')).toEqual({
    ...DEFAULT_SETTINGS,
    model: 'fast',
    show_steps: false,
    listen_mode: 'everything',
  });
  expect(await settings.get('T2', 'C2')).toEqual(DEFAULT_SETTINGS);
});

test('a text comes back with its signature, and empty where no key decrypts it', async () => {
  const instructions = { text: 'Cite PMIDs.', set_by: 'U1', set_at: new Date(0) };
  await settings.set('T1', 'C3', 'U1', { instructions });
  expect(await settings.get('T1', 'C3')).toEqual({ ...DEFAULT_SETTINGS, instructions });
  for (const keyring of [undefined, new Keyring(['n'.repeat(32)])]) {
    const other = new Store(kysely, undefined, keyring).settings;
    expect((await other.get('T1', 'C3')).instructions).toEqual({ ...instructions, text: '' });
  }
  await expect(new Store(kysely).settings.set('T1', 'C3', 'U1', { instructions })).rejects.toThrow(
    'SECRET_KEY',
  );
  await settings.set('T1', 'C3', 'U2', { model: 'fast' });
  expect((await settings.get('T1', 'C3')).instructions).toEqual(instructions);
  await settings.set('T1', 'C3', 'U2', { instructions: null });
  expect((await settings.get('T1', 'C3')).instructions).toBeNull();
});

test('the settings of a deleted channel go in all workspaces of the same installation', async () => {
  const row = { name: '', bot_user_id: 'U0', bot_id: 'B0' };
  const reached = ['T5', 'T6'].map((workspace) => ({ ...row, workspace, installation_id: 'E1' }));
  const others = ['T7', 'T8'].map((workspace) => ({ ...row, workspace, installation_id: null }));
  await kysely
    .insertInto('workspaces')
    .values([...reached, ...others])
    .execute();
  for (const workspace of ['T5', 'T6', 'T7', 'T8'])
    await settings.set(workspace, 'C5', 'U1', { model: 'max' });
  await settings.set('T6', 'C6', 'U1', { model: 'max' });
  expect(await settings.delete('T5', 'C5')).toBe(true);
  expect(await settings.delete('T5', 'C5')).toBe(false);
  const modelIn = async (workspace: string, channel: string) =>
    (await settings.get(workspace, channel)).model;
  expect([await modelIn('T5', 'C5'), await modelIn('T6', 'C5')]).toEqual([null, null]);
  expect([await modelIn('T6', 'C6'), await modelIn('T7', 'C5')]).toEqual(['max', 'max']);
  expect(await settings.delete('T7', 'C5')).toBe(true);
  expect([await modelIn('T7', 'C5'), await modelIn('T8', 'C5')]).toEqual([null, 'max']);
});

test('only a channel can have every message answered', async () => {
  const everything = { listen_mode: 'everything' } as const;
  await expect(settings.set('T1', WHOLE_WORKSPACE, 'U1', everything)).rejects.toThrow('check constraint');
});
