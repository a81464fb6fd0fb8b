import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { readDueWork } from '../../../src/store/queue/due-work.ts';
import { ThreadQueue } from '../../../src/store/queue/thread-queue.ts';
import { Store } from '../../../src/store/store.ts';
import { followUpWanted } from '../../../src/store/threads/turns.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { silentLog } from '../../support/silent-log.ts';

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
  await followUpWanted(turn, { firstMs: -1, forMs: 60_000 }).execute(store.db);
  expect(await dueKinds()).toEqual(['jobs']);
  await store.jobs.claim([{ kind: 'follow_up', room: 1, share: 1 }], [], 60_000);
  expect(await dueKinds()).toEqual([]);
});

test('jobs are due once their holder has not renewed them in time, and then have no holder', async ({
  onTestFinished,
}) => {
  const queue = new ThreadQueue({ database, log: silentLog });
  onTestFinished(() => queue.stop());
  await queue.start();
  await queue.enqueue(database.kysely, thread);
  const [job] = await queue.claim(1);
  expect(await dueKinds()).toEqual([]);
  await database.pool.query(`update pgboss.job set heartbeat_on = heartbeat_on - interval '1 minute'`);
  expect(await dueKinds()).toEqual(['expiredJobs']);
  await queue.releaseExpired();
  expect(await dueKinds()).toEqual([]);
  expect(await queue.claim(1)).toMatchObject([{ id: job?.id, retryCount: 1 }]);
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
