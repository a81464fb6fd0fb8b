import { expect, test } from 'vitest';
import { JOB_KIND } from '../../src/store/jobs/jobs.ts';
import { Store } from '../../src/store/store.ts';
import { WHOLE_WORKSPACE } from '../../src/store/workspaces/settings-store.ts';
import { freshDatabase } from '../support/fresh-database.ts';

const database = await freshDatabase();
const store = new Store(database.kysely);

test('a channel takes its rows and its jobs along to its new id, and replaces what is there already', async () => {
  const workspace = 'T1';
  const place = (channel: string) => ({ workspace, channel, account_id: 'settings' });
  const thread = { workspace, channel: 'C1', thread_ts: '1700000000.000100' };
  await store.threads.adopt(thread, { account_id: 'settings', user_id: 'U1', ts: thread.thread_ts });
  await store.projects.assign(place('C1'), 'prj_old');
  await store.projects.assign(place('C9'), 'prj_new');
  await store.projects.assign({ ...place('C1'), workspace: 'T2' }, 'prj_other');
  await store.settings.set(workspace, 'C1', 'U1', { listen_mode: 'everything' });
  await store.settings.set(workspace, WHOLE_WORKSPACE, 'U1', { answers_in_channels: ['C0', 'C1'] });
  await store.audit.add({ ...thread, user_id: 'U1', kind: 'stop', details: {} });
  const room = { kind: JOB_KIND.turn, room: 9, share: 9, isUnpaced: true };
  const job = { ...thread, kind: JOB_KIND.turn, key: '' };
  await store.jobs.want(job);
  const [held] = await store.jobs.claim([room], [], 60_000);
  await store.jobs.want(job);

  await store.transaction((within) => within.channels.move(workspace, 'C1', 'C9'));

  const moved = { ...thread, channel: 'C9' };
  expect(await store.threads.get(thread)).toBeUndefined();
  expect(await store.threads.get(moved)).toBeDefined();
  const projects = await database.kysely.selectFrom('projects').select(['channel', 'project_id']).execute();
  expect(projects).toHaveLength(2);
  expect(projects).toContainEqual({ channel: 'C9', project_id: 'prj_old' });
  expect(projects).toContainEqual({ channel: 'C1', project_id: 'prj_other' });
  expect((await store.settings.get(workspace, 'C9')).listen_mode).toBe('everything');
  expect((await store.settings.get(workspace, WHOLE_WORKSPACE)).answers_in_channels).toEqual(['C0', 'C9']);
  const events = await database.kysely.selectFrom('audit_events').select('channel').execute();
  expect(new Set(events.map(({ channel }) => channel))).toContain('C1');
  if (held === undefined) throw new Error('The job was not claimed.');
  expect(await store.jobs.renew([held.claim_id ?? ''], 60_000)).toEqual([]);
  expect(await store.jobs.get(job)).toBeUndefined();
  await store.jobs.done(held, false);
  expect(await store.jobs.get({ ...job, channel: 'C9' })).toMatchObject({ claim_id: expect.any(String) });
  expect(await store.jobs.claim([room], [], 60_000)).toEqual([]);
});

test('a channel that an organisation shares among its workspaces keeps what each of them has set', async () => {
  const row = { name: '', bot_user_id: 'U0', bot_id: 'B0' };
  const reached = ['T5', 'T6'].map((workspace) => ({ ...row, workspace, installation_id: 'E1' }));
  const other = { ...row, workspace: 'T7', installation_id: null };
  await database.kysely
    .insertInto('workspaces')
    .values([...reached, other])
    .execute();
  const workspaces = ['T5', 'T6', 'T7'];
  for (const workspace of workspaces)
    await store.settings.set(workspace, 'C5', 'U1', { answers_here: 'off' });
  await store.settings.set('T6', WHOLE_WORKSPACE, 'U1', { answers_in_channels: ['C5'] });
  await store.transaction((within) => within.channels.move('T5', 'C5', 'C6'));
  const moved = await Promise.all(workspaces.map((workspace) => store.settings.get(workspace, 'C6')));
  expect(moved.map(({ answers_here }) => answers_here)).toEqual(['off', 'off', null]);
  expect((await store.settings.get('T6', WHOLE_WORKSPACE)).answers_in_channels).toEqual(['C6']);
});
