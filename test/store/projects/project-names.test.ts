import { expect, test } from 'vitest';
import { Store } from '../../../src/store/store.ts';
import { freshDatabase } from '../../support/fresh-database.ts';

const { kysely } = await freshDatabase();
const { settings: channels, projects, projectNames, results } = new Store(kysely);

test('one process at a time renames a synced project, and no other project', async () => {
  const key = { workspace: 'T1', channel: 'C1', account_id: 'settings' };
  expect(await projectNames.markDue('T1', 'C1')).toBe(false);
  await projects.assign(key, 'prj_1');
  expect(await projectNames.markDue('T1', 'C1')).toBe(false);
  await channels.set('T1', 'C1', 'U1', { sync_project_name: true });
  expect(await projectNames.markDue('T2', 'C1')).toBe(false);
  expect(await projectNames.markDue('T1', 'C1')).toBe(true);
  const [due] = await projectNames.claim(60_000, 5);
  expect(due).toMatchObject({ ...key, project_id: 'prj_1' });
  expect(await projectNames.claim(60_000, 5)).toEqual([]);
  if (due !== undefined) await projectNames.retryLater(due, 0);
  expect(await projectNames.claim(60_000, 5)).toHaveLength(1);
  if (due !== undefined) await projectNames.complete(due);
  expect(await projectNames.claim(60_000, 5)).toEqual([]);
});

test('a name that changes during its sync stays due', async () => {
  await projects.assign({ workspace: 'T1', channel: 'C2', account_id: 'settings' }, 'prj_2');
  await channels.set('T1', 'C2', 'U1', { sync_project_name: true });
  await projectNames.markDue('T1', 'C2');
  const [due] = await projectNames.claim(60_000, 5);
  await new Promise((resolve) => setTimeout(resolve, 5));
  await projectNames.markDue('T1', 'C2');
  if (due !== undefined) await projectNames.complete(due);
  expect(await projectNames.claim(60_000, 5)).toHaveLength(1);
});

test('many names that are due in one workspace do not hide those of another', async () => {
  for (const [workspace, channel] of [
    ['T5', 'C1'],
    ['T5', 'C2'],
    ['T5', 'C3'],
    ['T6', 'C1'],
  ] as const) {
    await projects.assign({ workspace, channel, account_id: 'settings' }, `prj_${workspace}${channel}`);
    await channels.set(workspace, channel, 'U1', { sync_project_name: true });
    await projectNames.markDue(workspace, channel);
  }
  const claimed = await projectNames.claim(60_000, 2);
  expect(claimed.map(({ workspace }) => workspace).sort()).toEqual(['T5', 'T6']);
});

test('a channel can switch to another project, even while a turn creates one for it', async () => {
  const key = { workspace: 'T1', channel: 'C3', account_id: 'settings' };
  const turn = '01a1fbfe-6e3a-7000-83e3-5e284a624414';
  await projects.claim(key, turn, 15_000);
  await projects.assign(key, 'prj_3');
  expect(await projects.bind(key, turn, 'prj_made')).toBe(false);
  expect(await projects.projectIdOf(key)).toBe('prj_3');
  expect(await projects.claim(key, turn, 15_000)).toEqual({ kind: 'known', projectId: 'prj_3' });
  await projects.assign({ workspace: 'T2', channel: 'C9', account_id: 'another' }, 'prj_3');
  expect(await projects.channelsUsing('prj_3')).toEqual(
    expect.arrayContaining([
      { workspace: 'T1', channel: 'C3' },
      { workspace: 'T2', channel: 'C9' },
    ]),
  );
  expect(await projects.channelsUsing('prj_none')).toEqual([]);
});

test('a project belongs to each channel that had it, even after the channel gets another', async () => {
  const key = { workspace: 'T1', channel: 'C4', account_id: 'settings' };
  const turn = '01a1fbfe-6e3a-7000-83e3-5e284a624416';
  await projects.claim(key, turn, 15_000);
  expect(await projects.bind(key, turn, 'prj_4')).toBe(true);
  await projects.assign(key, 'prj_5');
  await projects.assign(key, 'prj_5');
  for (const project of ['prj_4', 'prj_5'])
    expect(await projects.channelsUsing(project)).toEqual([{ workspace: 'T1', channel: 'C4' }]);
});

test('a review stays with the turn that claimed it first', async () => {
  const thread = { workspace: 'T1', channel: 'C1', thread_ts: '1.000001' };
  const [one, two] = ['01a1fbfe-6e3a-7000-83e3-5e284a624414', '01a1fbfe-6e3a-7000-83e3-5e284a624415'];
  const review = 'review:msg_1';
  for (const id of [one, two]) await results.claim({ ...thread, id }, review, [review]);
  const claim = { turn_id: one, batch: review };
  expect((await results.ofThread(thread)).get(review)).toEqual({ ...claim, shown: false });
  await results.markPosted({ ...thread, id: one }, review);
  expect((await results.ofThread(thread)).get(review)).toEqual({ ...claim, shown: true });
});
