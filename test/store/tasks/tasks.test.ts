import { randomUUID } from 'node:crypto';
import { v7 as nextId } from 'uuid';
import { describe, expect, test } from 'vitest';
import { JOB_KIND } from '../../../src/store/jobs/jobs.ts';
import { Store } from '../../../src/store/store.ts';
import { taskIntentUpdate } from '../../../src/store/threads/threads.ts';
import { freshDatabase } from '../../support/fresh-database.ts';

const { kysely } = await freshDatabase();
const store = new Store(kysely);
const workspace = 'T1';
const whole = { from: 0, most: 100 };
let seconds = 1_700_000_000;

/** A thread with a task, and a turn of it where one is wanted. */
async function thread(channel: string, person: string, turn?: 'open' | 'finished') {
  seconds += 1;
  const root = `${seconds}.000100`;
  const key = { workspace, channel, thread_ts: root };
  await store.threads.adopt(key, { account_id: 'settings', user_id: person, ts: root });
  await taskIntentUpdate(key, { projectId: 'prj_1', title: `Question ${seconds}`, model: 'fast' }).execute(
    store.db,
  );
  const task = await store.threads.bindTask(key, `tsk_${seconds}`);
  if (turn !== undefined) {
    const message = { workspace, channel, ts: root };
    await store.messages.add(message, {
      thread_ts: root,
      user_id: person,
      state: 'sent',
      content: { text: 'x' },
      edited_ts: null,
    });
    const row = await store.messages.get(message);
    if (row === undefined) throw new Error('the message was not written');
    const begun = await store.turns.begin(nextId(), row);
    await store.turns.record(begun, {
      user_message_id: `msg_${seconds}`,
      attached_file_ids: ['file_2', 'file_1'],
    });
    if (turn === 'finished') await store.turns.finish(begun, 'completed');
  }
  return { key, task };
}

describe('the tasks of threads', () => {
  test('are listed newest first, a page at a time, for a person and for a channel', async () => {
    const first = await thread('C1', 'U1', 'finished');
    const second = await thread('C1', 'U2', 'open');
    const third = await thread('C2', 'U1');
    const own = await store.tasks.ofPerson(workspace, 'U1', whole);
    expect(own.rows.map(({ task_id }) => task_id)).toEqual([third.task, first.task]);
    expect(own.rows.map(({ has_open_turn, outcome }) => [has_open_turn, outcome])).toEqual([
      [false, null],
      [false, 'completed'],
    ]);
    const channel = await store.tasks.ofChannel(workspace, 'C1', { from: 0, most: 1 });
    expect(channel).toMatchObject({ total: 2, rows: [{ task_id: second.task, has_open_turn: true }] });
    expect((await store.tasks.ofChannel('T2', 'C1', whole)).total).toBe(0);
  });

  test('the state of a task is recorded, unless the thread has another task', async () => {
    const { key, task } = await thread('C3', 'U1');
    await store.tasks.recordState({ ...key, task_id: task }, 'running');
    await store.tasks.recordState({ ...key, task_id: 'tsk_other' }, 'failed');
    await store.tasks.savePermalink({ ...key, task_id: task }, 'https://there');
    expect(await store.tasks.get(key)).toMatchObject({ task_state: 'running', permalink: 'https://there' });
  });

  test('list their files once, in order', async () => {
    const { key } = await thread('C4', 'U1', 'finished');
    expect(await store.tasks.attachedFileIds(key)).toEqual(['file_2', 'file_1']);
  });

  test('of a direct channel: the previous finished task is found', async () => {
    const first = await thread('D1', 'U1', 'finished');
    const second = await thread('D1', 'U1', 'open');
    expect(await store.tasks.previousFinished(second.key)).toMatchObject({ task_id: first.task });
    expect(await store.tasks.previousFinished(first.key)).toBeUndefined();
  });
});

describe('the deletion of a task', () => {
  test('removes it from its thread at once, and is recorded once, by the process that has the job', async () => {
    const { key, task } = await thread('C5', 'U1', 'finished');
    const requested = await Promise.all([
      store.taskDeletions.request(key, task, 'U1'),
      store.taskDeletions.request(key, task, 'U1'),
    ]);
    expect(requested.toSorted()).toEqual(['over', 'recorded']);
    const kind = JOB_KIND.taskDeletion;
    const [job] = await store.jobs.claim([{ kind, room: 1, share: 1 }], [], 60_000);
    if (job === undefined) throw new Error('nobody has it');
    expect(await store.tasks.get(key)).toBeUndefined();
    expect((await store.threads.getOrThrow(key)).task_id).toBeNull();
    await store.taskDeletions.markDeleted({ ...job, claim_id: randomUUID() });
    await store.taskDeletions.markDeleted(job);
    await store.taskDeletions.markDeleted(job);
    expect((await store.jobs.get(job))?.payload).toEqual({
      account_id: 'settings',
      former: [],
      is_deleted: true,
    });
    const trail = await kysely
      .selectFrom('audit_events')
      .select(['kind', 'user_id'])
      .where('task_id', '=', task)
      .execute();
    expect(trail.filter(({ kind }) => kind === 'deletion')).toEqual([{ kind: 'deletion', user_id: 'U1' }]);
  });

  test('is rejected while a turn is open', async () => {
    const { key, task } = await thread('C6', 'U1', 'open');
    expect(await store.taskDeletions.request(key, task, 'U1')).toBe('busy');
    expect(await store.tasks.get(key)).toMatchObject({ task_id: task });
  });
});
