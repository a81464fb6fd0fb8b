import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { EventGapDetector } from '../../../src/relay/inbox/event-gap-detector.ts';
import { Store } from '../../../src/store/store.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { silentLog } from '../../support/silent-log.ts';

const database = await freshDatabase();
const store = new Store(database.kysely);
const workspace = `T${randomUUID()}`;
const thread = { workspace, channel: 'C1', thread_ts: '1700000001.000100' };
await store.workspaces.put({ workspace, name: 'lab', bot_user_id: 'U0', bot_id: 'B0' });
await store.threads.adopt(thread, { account_id: 'settings', user_id: 'U1', ts: thread.thread_ts });

/** The detector of a process, which records a heartbeat when it is asked to. */
function detector(canReceiveEvents: boolean) {
  let beats = Promise.withResolvers<void>();
  const made = new EventGapDetector({
    store,
    workspaces: () => [workspace],
    canReceiveEvents: () => canReceiveEvents,
    minGapMs: 300_000,
    onHeartbeat: () => beats.resolve(),
    rebuildConnections: async () => {
      process.rebuilt += 1;
    },
    log: silentLog,
  });
  const process = {
    made,
    rebuilt: 0,
    beat: async () => {
      beats = Promise.withResolvers();
      made.heartbeatNow();
      await beats.promise;
      // The poller ends its poll after the heartbeat's callback.
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  return process;
}

const echoState = async () =>
  (await store.db.selectFrom('workspaces').selectAll().where('workspace', '=', workspace).execute())[0];

test('a verdict of one process rebuilds the connections of all, and messages are read back until posts come back', async ({
  onTestFinished,
}) => {
  const [poster, listener] = [detector(false), detector(true)];
  for (const { made } of [poster, listener]) {
    made.start();
    onTestFinished(() => made.stop());
  }
  await listener.beat();
  for (let post = 0; post < 3; post += 1) poster.made.onPost(workspace);
  await poster.beat();
  expect(await echoState()).toMatchObject({ unheard_posts: 3, judged_deaf_at: null });
  await listener.beat();
  expect([poster.rebuilt, listener.rebuilt, listener.made.deafWorkspaces]).toEqual([0, 0, 0]);
  await database.pool.query(`update workspaces set unheard_since = unheard_since - interval '2 minutes'`);

  await listener.beat();
  await listener.beat();
  poster.made.onPost(workspace);
  await poster.beat();
  expect([poster.rebuilt, listener.rebuilt]).toEqual([1, 1]);
  expect([poster.made.deafWorkspaces, listener.made.deafWorkspaces]).toEqual([1, 1]);
  const queued = () => store.db.selectFrom('backfills').select(['thread_ts', 'gap_count']).execute();
  expect(await queued()).toEqual([
    { thread_ts: thread.thread_ts, gap_count: 1 },
    { thread_ts: '0.000000', gap_count: 1 },
  ]);

  listener.made.onEvent(workspace, true);
  await listener.beat();
  expect(listener.made.deafWorkspaces).toBe(0);
  expect((await queued()).map(({ gap_count }) => gap_count)).toEqual([2, 2]);
  expect(await echoState()).toMatchObject({ unheard_posts: 0, judged_deaf_at: null });
});

test('a process that neither receives nor posts leaves the row alone', async ({ onTestFinished }) => {
  const idle = detector(false);
  idle.made.start();
  onTestFinished(() => idle.made.stop());
  const before = await echoState();
  await idle.beat();
  expect(await echoState()).toEqual(before);
});
