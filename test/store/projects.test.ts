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

/** Begins a turn, in a thread of its own. */
async function open(id: string): Promise<void> {
  const ts = `${Number.parseInt(id.slice(0, 8), 16)}.000001`;
  const turn = { workspace, id, channel: 'C1', thread_ts: ts, message_ts: ts, asked_by: 'U1' };
  await kysely.insertInto('turns').values(turn).execute();
}

test('a turn whose call took too long has no project, once another turn creates one', async () => {
  const key = { workspace, channel: 'C1', account_id: 'settings' };
  await open(slow);
  expect(await projects.intend(key, slow, 15_000)).toBe('intended');
  expect(await projects.intend(key, quick, 15_000)).toBe('taken');
  expect(await projects.intend(key, quick, 0)).toBe('orphaned');
  expect(await projects.bind(key, slow, 'prj_0')).toBe(false);
  expect(await projects.bind(key, quick, 'prj_1')).toBe(true);
});

test('a turn that is over has no project, once another turn creates one', async () => {
  const key = { workspace, channel: 'C3', account_id: 'settings' };
  const over = randomUUID();
  await open(over);
  await projects.intend(key, over, 15_000);
  expect(await projects.intend(key, quick, 15_000)).toBe('taken');
  await kysely.updateTable('turns').set({ finished_at: new Date() }).where('id', '=', over).execute();
  expect(await projects.intend(key, quick, 15_000)).toBe('orphaned');
  expect(await projects.bind(key, over, 'prj_0')).toBe(false);
  expect(await projects.bind(key, quick, 'prj_1')).toBe(true);
});

test('a project that was created too late does not replace the one in use', async () => {
  const key = { workspace, channel: 'C2', account_id: 'settings' };
  await projects.intend(key, one, 15_000);
  expect(await projects.bind(key, one, 'prj_1')).toBe(true);
  expect(await projects.bind(key, one, 'prj_2')).toBe(false);
  expect(await projects.intend(key, two, 15_000)).toBe('taken');
  expect(await projects.projectIdOf(key)).toBe('prj_1');
});

test('a task that was created too late does not replace the one in use', async () => {
  const key = { workspace, channel: 'C1', thread_ts: '1.000001' };
  await threads.adopt(key, { account_id: 'settings', user_id: 'U1', ts: '1.000001' });
  expect(await threads.bindTask(key, 'tsk_1')).toBe('tsk_1');
  expect(await threads.bindTask(key, 'tsk_2')).toBe('tsk_1');
  expect((await threads.getOrThrow(key)).task_id).toBe('tsk_1');
});
