import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { JOB_KIND } from '../../../src/store/jobs/jobs.ts';
import { readDueWork } from '../../../src/store/processes/due-work.ts';
import { Store } from '../../../src/store/store.ts';
import { followUpWanted } from '../../../src/store/threads/turn-steps.ts';
import { freshDatabase } from '../../support/fresh-database.ts';

const database = await freshDatabase();
const store = new Store(database.kysely);
const thread = { workspace: 'T1', channel: 'C1', thread_ts: '1700000001.000100' };

async function dueKinds(): Promise<string[]> {
  const due = await readDueWork(database.kysely);
  return Object.entries(due).flatMap(([kind, isDue]) => (isDue === true ? [kind] : []));
}

async function beginTurn() {
  const key = { workspace: 'T1', channel: 'C1', ts: thread.thread_ts };
  await store.threads.adopt(thread, { account_id: 'settings', user_id: 'U1', ts: thread.thread_ts });
  const message = { thread_ts: thread.thread_ts, user_id: 'U1', state: 'waiting', edited_ts: null } as const;
  await store.messages.add(key, { ...message, content: { text: 'why?' } });
  const row = await store.messages.get(key);
  if (row === undefined) throw new Error('the message was not written');
  return store.turns.begin(randomUUID(), row);
}

test('work is due until a process has claimed it or it is done', async () => {
  expect(await dueKinds()).toEqual([]);
  const turn = await beginTurn();
  await store.stopRequests.record(
    { workspace: 'T1', turn_id: turn.id, user_id: 'U1', ts: '1700000002.000100' },
    10,
  );
  expect(await dueKinds()).toEqual(['stops']);
  await store.turns.finish(turn, 'cancelled');
  expect(await dueKinds()).toEqual([]);
  await followUpWanted(turn, -1).execute(store.db);
  expect(await dueKinds()).toEqual(['jobs']);
  await store.jobs.claim([{ kind: 'follow_up', room: 1, share: 1 }], [], 60_000);
  expect(await dueKinds()).toEqual([]);
});

test('a job is due again once its holder has not renewed it in time', async () => {
  await store.jobs.want({ ...thread, kind: JOB_KIND.turn, key: '' });
  expect(await dueKinds()).toEqual(['jobs']);
  const room = { kind: JOB_KIND.turn, room: 1, share: 1, isUnpaced: true };
  const [job] = await store.jobs.claim([room], [], 60_000);
  expect(await dueKinds()).toEqual([]);
  await database.pool.query(`update jobs set claimed_until = claimed_until - interval '2 minutes'`);
  expect(await dueKinds()).toEqual(['jobs']);
  const [next] = await store.jobs.claim([room], [], 60_000);
  expect(next).toMatchObject({ thread_ts: job?.thread_ts });
  expect(next?.claim_id).not.toBe(job?.claim_id);
});

test('a change of a workspace, an installation or an account raises the version', async () => {
  const before = (await readDueWork(database.kysely)).changeSeq;
  await store.workspaces.put({ workspace: 'T1', name: 'lab', bot_user_id: 'U0', bot_id: 'B0' });
  const after = (await readDueWork(database.kysely)).changeSeq;
  expect(after).toBeGreaterThan(before);
  const account = { workspace: 'T1', account_id: 'own', base_url: 'https://one.example', set_by: 'U1' };
  await store.accounts.put({ ...account, encrypted_api_key: 'x' });
  expect((await readDueWork(database.kysely)).changeSeq).toBeGreaterThan(after);
});
