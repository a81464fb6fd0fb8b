import { describe, expect, test } from 'vitest';
import { Store } from '../../../src/store/store.ts';
import type { ConfiguredAccess } from '../../../src/store/workspaces/workspace-settings-store.ts';
import { freshDatabase } from '../../support/fresh-database.ts';

const { kysely } = await freshDatabase();
const { workspaceSettings, channelSettings } = new Store(kysely);

let count = 0;

/** Who has access to a new channel where its workspace and the channel itself have set this. */
async function accessWhere(
  workspaceSet: ConfiguredAccess | undefined,
  channelSet: ConfiguredAccess | undefined,
): Promise<ConfiguredAccess> {
  count += 1;
  const [workspace, channel] = [`T${count}`, `C${count}`];
  if (workspaceSet !== undefined) await workspaceSettings.set(workspace, 'U1', workspaceSet);
  if (channelSet !== undefined) await channelSettings.set(workspace, channel, 'U1', channelSet);
  return workspaceSettings.accessIn(workspace, channel);
}

const unset = { admits: null, bots: null };

describe('the access that is configured for a channel', () => {
  test.each<[string, ConfiguredAccess | undefined, ConfiguredAccess | undefined, ConfiguredAccess]>([
    ['nothing where nobody set anything', undefined, undefined, unset],
    ["the workspace's", { admits: 'guests', bots: ['B1'] }, undefined, { admits: 'guests', bots: ['B1'] }],
    ["the channel's", undefined, { admits: 'everyone', bots: [] }, { admits: 'everyone', bots: [] }],
    [
      "the channel's before the workspace's",
      { admits: 'members', bots: ['B1'] },
      { admits: 'everyone', bots: [] },
      { admits: 'everyone', bots: [] },
    ],
    [
      "the workspace's where the channel was set back",
      { admits: 'guests', bots: ['B1'] },
      unset,
      { admits: 'guests', bots: ['B1'] },
    ],
    [
      'put together setting by setting',
      { admits: 'guests', bots: null },
      { admits: null, bots: ['B2'] },
      { admits: 'guests', bots: ['B2'] },
    ],
  ])('is %s', async (_which, workspaceSet, channelSet, access) => {
    expect(await accessWhere(workspaceSet, channelSet)).toEqual(access);
  });

  test('is never that of another workspace or channel', async () => {
    await workspaceSettings.set('T-other', 'U1', { admits: 'everyone', bots: ['B1'] });
    await channelSettings.set('T-here', 'C-other', 'U1', { admits: 'everyone', bots: ['B1'] });
    expect(await workspaceSettings.accessIn('T-here', 'C-here')).toEqual(unset);
  });
});
