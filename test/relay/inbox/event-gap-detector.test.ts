import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { EventGapDetector } from '../../../src/relay/inbox/event-gap-detector.ts';
import { Store } from '../../../src/store/store.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { silentLog } from '../../support/silent-log.ts';

const { kysely } = await freshDatabase();
const store = new Store(kysely);

function detectorOf(
  workspaces: readonly string[],
  rebuildConnections = async (): Promise<undefined> => undefined,
): EventGapDetector {
  return new EventGapDetector({
    store,
    workspaces: () => workspaces,
    canReceiveEvents: () => true,
    minGapMs: 60_000,
    rebuildConnections,
    log: silentLog,
  });
}

test('one statement records that quiet workspaces can be received, however many there are', async ({
  onTestFinished,
}) => {
  const ids = Array.from({ length: 40 }, (_, index) => `T${index}`);
  for (const workspace of ids)
    await store.workspaces.put({ workspace, name: 'lab', bot_user_id: 'U0', bot_id: 'B0' });
  const detector = detectorOf(ids);
  onTestFinished(() => detector.stop());
  const query = vi.spyOn(pg.Client.prototype, 'query');
  detector.start();
  await expect.poll(() => query.mock.results.length).toBeGreaterThan(0);
  await query.mock.results[0]?.value;
  expect(query).toHaveBeenCalledTimes(1);
  query.mockRestore();
  const rows = await kysely.selectFrom('workspaces').select('last_receiving_at').execute();
  expect(rows.filter(({ last_receiving_at }) => last_receiving_at !== null)).toHaveLength(40);
});

test('a workspace whose gap cannot be recorded keeps no other from its own', async ({ onTestFinished }) => {
  const ids = ['T200', 'T201', 'T202'];
  for (const workspace of ids) {
    await store.workspaces.put({ workspace, name: 'lab', bot_user_id: 'U0', bot_id: 'B0' });
    const thread = { workspace, channel: 'C1', thread_ts: '1700000001.000100' };
    await store.threads.adopt(thread, { account_id: 'a', user_id: 'U1', ts: thread.thread_ts });
  }
  const silent = new Date(Date.now() - 20 * 60_000);
  await kysely
    .updateTable('workspaces')
    .set({ last_receiving_at: silent })
    .where('workspace', 'in', ids)
    .execute();
  const place = { kind: 'backfill', channel: 'C1', thread_ts: '1700000001.000100', key: '' };
  await store.jobs.add({ ...place, workspace: 'T200', payload: { since_ts: 'yesterday' } });
  const detector = detectorOf(ids);
  onTestFinished(() => detector.stop());
  detector.start();
  for (const workspace of ids.slice(1))
    await expect.poll(() => store.jobs.get({ ...place, workspace })).toBeDefined();
});

test('a workspace whose posts never come back has the connections replaced once, then hourly at most', async ({
  onTestFinished,
}) => {
  const workspace = 'T100';
  await store.workspaces.put({ workspace, name: 'lab', bot_user_id: 'U0', bot_id: 'B0' });
  const rebuild = vi.fn<() => Promise<undefined>>(async () => undefined);
  const detector = detectorOf([workspace], rebuild);
  onTestFinished(() => detector.stop());
  detector.start();
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const row = () =>
    kysely.selectFrom('workspaces').selectAll().where('workspace', '=', workspace).executeTakeFirstOrThrow();
  /** The app posts, and three minutes pass by the database's clock until the next verdict. */
  const verdict = async () => {
    const unheard_since = new Date(Date.now() - 3 * 60_000);
    const echoes = { unheard_posts: 3, unheard_since, heard_at: null };
    await kysely.updateTable('workspaces').set(echoes).where('workspace', '=', workspace).execute();
    detector.onPost(workspace);
    detector.heartbeatNow();
    await vi.waitFor(async () => expect((await row()).unheard_posts).toBe(0), 20_000);
  };
  for (let minutes = 0; minutes < 60; minutes += 10) {
    await verdict();
    vi.advanceTimersByTime(10 * 60_000);
  }
  await vi.waitFor(() => expect(rebuild).toHaveBeenCalledTimes(1));
  await verdict();
  await vi.waitFor(() => expect(rebuild).toHaveBeenCalledTimes(2));
});
