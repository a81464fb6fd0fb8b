import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { channelMoveJobs, moveChannel } from '../../../src/relay/inbox/channel-move.ts';
import { JobRunner } from '../../../src/relay/runtime/job-runner.ts';
import { ConnectionPool } from '../../../src/store/connection-pool.ts';
import { Store } from '../../../src/store/store.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { silentLog } from '../../support/silent-log.ts';

const database = await freshDatabase();
const store = new Store(database.kysely);
const workspace = 'T1';
const thread_ts = '1700000000.000100';

async function beginTurn(channel: string, ts: string): Promise<string> {
  const thread = { workspace, channel, thread_ts };
  await store.threads.adopt(thread, { account_id: 'settings', user_id: 'U1', ts: thread_ts });
  const row = {
    thread_ts,
    user_id: 'U1',
    state: 'waiting',
    content: { text: 'hi' },
    edited_ts: null,
  } as const;
  await store.messages.add({ workspace, channel, ts }, row);
  const message = await store.messages.nextWaiting(thread);
  if (message === undefined) throw new Error('Nothing waits.');
  return (await store.turns.begin(crypto.randomUUID(), message)).id;
}

test('a channel whose thread is at work under both ids moves once one of the two has ended', async ({
  onTestFinished,
}) => {
  const older = await beginTurn('C1', thread_ts);
  const newer = await beginTurn('C9', '1700000001.000000');
  await moveChannel(store, { workspace, from: 'C1', channel: 'C9' });
  expect((await store.turns.get(workspace, older))?.channel).toBe('C1');

  await store.db.updateTable('turns').set({ finished_at: new Date() }).where('id', '=', newer).execute();
  const runner = new JobRunner({ store, leaseStore: store, log: silentLog, onRun: () => undefined });
  runner.add(channelMoveJobs({ store, workspace: () => undefined }));
  runner.start();
  onTestFinished(() => runner.stop());
  await expect
    .poll(async () => {
      runner.runDue();
      return (await store.turns.get(workspace, older))?.channel;
    })
    .toBe('C9');
  expect(await store.threads.get({ workspace, channel: 'C1', thread_ts })).toBeUndefined();
});

test('a channel with 50,000 messages is taken over at once, and moves in steps, the threads used last first', {
  timeout: 180_000,
}, async ({ onTestFinished }) => {
  const [from, channel, threads, each] = ['C50', 'C51', 2_500, 20];
  await beginTurn(from, thread_ts);
  // Without a time-out.
  const { addresses } = database.pool.options;
  const filling = new ConnectionPool({ name: 'filling', maxConnections: 1, addresses, log: silentLog });
  await filling.query(
    `insert into threads select (jsonb_populate_record(one, jsonb_build_object(
      'thread_ts', 1600000000 + n, 'last_used_at', timestamptz '2026-01-01' + n * interval '1 s'))).*
    from threads as one, generate_series(1, $2::int) as n where channel = $1`,
    [from, threads],
  );
  await filling.query(
    `insert into messages select (jsonb_populate_record(one, jsonb_build_object(
      'thread_ts', 1600000000 + n, 'ts', 1600000000 + n + k * 0.000001, 'state', 'sent'))).*
    from messages as one, generate_series(1, $2::int) as n, generate_series(1, $3::int) as k
    where channel = $1`,
    [from, threads, each],
  );
  // As autovacuum does, which this server has not.
  await filling.query('analyze threads, messages');
  await filling.end();
  const count = async (of: string) => {
    const { rows } = await sql<{
      n: number;
    }>`select count(*) as n from messages where channel = ${of}`.execute(store.db);
    return rows[0]?.n;
  };
  expect(await count(from)).toBe(threads * each + 1);

  await store.db
    .updateTable('threads')
    .set({ last_used_at: new Date() })
    .where('channel', '=', from)
    .where('thread_ts', '=', '1600000007.000000')
    .execute();
  await moveChannel(store, { workspace, from, channel });
  expect(await store.threads.get({ workspace, channel, thread_ts: '1600000007.000000' })).toBeDefined();
  expect(await count(from)).toBeGreaterThan(40_000);

  const runner = new JobRunner({ store, leaseStore: store, log: silentLog, onRun: () => undefined });
  runner.add(channelMoveJobs({ store, workspace: () => undefined }));
  runner.start();
  onTestFinished(() => runner.stop());
  await expect
    .poll(
      async () => {
        runner.runDue();
        return count(channel);
      },
      { timeout: 150_000, interval: 500 },
    )
    .toBe(threads * each + 1);
  expect(await count(from)).toBe(0);
});
