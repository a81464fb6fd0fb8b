import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { Projects } from '../../src/store/channels-and-projects.ts';
import { Threads } from '../../src/store/threads/threads.ts';
import { freshDatabase } from '../support/fresh-database.ts';

const { kysely } = await freshDatabase();
const projects = new Projects(kysely);
const threads = new Threads(kysely);
const workspace = 'T1';
const [slow, quick, one, two] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];

test('a turn that lost its claim to another turn creates no project', async () => {
  const key = { workspace, channel: 'C1', account_id: 'settings' };
  expect(await projects.claim(key, slow, 0)).toMatchObject({ kind: 'ours' });
  expect(await projects.claim(key, quick, 15_000)).toMatchObject({ kind: 'ours' });
  expect(await projects.intend(key, slow, 15_000)).toBe(false);
  expect(await projects.intend(key, quick, 15_000)).toBe(true);
  expect(await projects.bind(key, quick, 'prj_1')).toBe(true);
});

test('a project that was created too late does not replace the one in use', async () => {
  const key = { workspace, channel: 'C2', account_id: 'settings' };
  await projects.claim(key, one, 15_000);
  expect(await projects.bind(key, one, 'prj_1')).toBe(true);
  expect(await projects.bind(key, one, 'prj_2')).toBe(false);
  expect(await projects.claim(key, two, 15_000)).toEqual({ kind: 'known', projectId: 'prj_1' });
});

test('a task that was created too late does not replace the one in use', async () => {
  const key = { workspace, channel: 'C1', thread_ts: '1.000001' };
  await threads.adopt(key, { account_id: 'settings', user_id: 'U1', ts: '1.000001' });
  expect(await threads.bindTask(key, 'tsk_1')).toBe('tsk_1');
  expect(await threads.bindTask(key, 'tsk_2')).toBe('tsk_1');
  expect((await threads.getOrThrow(key)).task_id).toBe('tsk_1');
});
