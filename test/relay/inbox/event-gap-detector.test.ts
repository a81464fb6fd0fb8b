import fc from 'fast-check';
import pg from 'pg';
import { describe, expect, test, vi } from 'vitest';
import { EventGapDetector, judgeEchoes } from '../../../src/relay/inbox/event-gap-detector.ts';
import type { EchoState } from '../../../src/store/schema.ts';
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
    // A look that began before this post leaves it to the next verdict.
    await vi.waitFor(async () => expect((await row()).unheard_posts).toBeLessThan(3), 20_000);
  };
  for (let minutes = 0; minutes < 60; minutes += 10) {
    await verdict();
    vi.advanceTimersByTime(10 * 60_000);
  }
  await vi.waitFor(() => expect(rebuild).toHaveBeenCalledTimes(1));
  await verdict();
  await vi.waitFor(() => expect(rebuild).toHaveBeenCalledTimes(2));
});

const NEW: EchoState = { unheard_posts: 0, unheard_since: null, heard_at: null, judged_deaf_at: null };
const HEARTBEAT_MS = 15_000;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const from = Date.parse('2026-03-02T00:00:00Z');
const at = (ms: number) => new Date(from + ms);

interface Post {
  /** When it was posted (ms since midnight), by which process, and when and where it came back. */
  ms: number;
  by: number;
  echoMs: number | undefined;
  echoAt: number;
}

/** The verdicts of a simulated day, on which several processes record what they count at their own heartbeats. */
function verdicts(posts: readonly Post[], processes: number, lastMs = DAY): number[] {
  const found: number[] = [];
  let state = NEW;
  const heartbeats = Array.from({ length: processes }, (_, process) => process).flatMap((process) =>
    Array.from({ length: Math.ceil(lastMs / HEARTBEAT_MS) }, (_, beat) => ({
      process,
      ms: beat * HEARTBEAT_MS + (process * HEARTBEAT_MS) / processes,
    })),
  );
  const within = (ms: number | undefined, end: number) =>
    ms !== undefined && ms < end && ms >= end - HEARTBEAT_MS;
  for (const { process, ms } of heartbeats.toSorted((a, b) => a.ms - b.ms)) {
    const counts = {
      posts: posts.filter((post) => post.by === process && within(post.ms, ms)).length,
      echoes: posts.filter((post) => post.echoAt === process && within(post.echoMs, ms)).length,
    };
    const { after } = judgeEchoes(state, counts, at(ms));
    if (after.judged_deaf_at !== null && after.judged_deaf_at !== state.judged_deaf_at) found.push(ms);
    state = after;
  }
  return found;
}

/** Some posts one after the other, which come back within a few seconds. */
const reply = fc
  .record({
    ms: fc.integer({ min: 0, max: DAY }),
    by: fc.nat(2),
    edits: fc.array(
      fc.record({
        afterMs: fc.integer({ min: 1, max: 40_000 }),
        delayMs: fc.oneof(fc.integer({ min: 20, max: 500 }), fc.integer({ min: 500, max: 60_000 })),
        echoAt: fc.nat(2),
      }),
      { minLength: 1, maxLength: 12 },
    ),
  })
  .map(({ ms, by, edits }): Post[] => {
    let time = ms;
    return edits.map(({ afterMs, delayMs, echoAt }) => {
      time += afterMs;
      return { ms: time, by, echoMs: time + delayMs, echoAt };
    });
  });

describe('the verdict that no events arrive', () => {
  test('is never given on a quiet day, whichever process posts and whichever hears it', () => {
    fc.assert(
      fc.property(fc.array(reply, { maxLength: 4 }), (replies) => {
        expect(verdicts(replies.flat(), 3)).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  test('is not given if one process records the echoes before the other records the posts', () => {
    const posts = [11_000, 12_000, 13_000].map((ms) => ({ ms, by: 1, echoMs: ms + 20, echoAt: 0 }));
    expect(verdicts(posts, 2)).toEqual([]);
  });

  test('is never given without posts, or for two that were lost', () => {
    expect(verdicts([], 1)).toEqual([]);
    const lost = (ms: number) => ({ ms, by: 0, echoMs: undefined, echoAt: 0 });
    expect(verdicts([lost(1_000), lost(2_000)], 1)).toEqual([]);
  });

  test('comes two minutes after three posts of which none came back, and again after three more', () => {
    const lost = (ms: number, by: number) => ({ ms, by, echoMs: undefined, echoAt: 0 });
    const heard = { ms: 1_000, by: 0, echoMs: 1_500, echoAt: 1 };
    const posts = [heard, ...[60_000, 70_000, 80_000].map((ms, by) => lost(ms, by % 2))];
    const [first = 0, ...others] = verdicts(posts, 2);
    expect(others).toEqual([]);
    expect(first).toBeGreaterThanOrEqual(200_000);
    expect(first).toBeLessThanOrEqual(80_000 + 2 * HEARTBEAT_MS + 2 * MINUTE);
    const more = [600_000, 610_000, 620_000].map((ms) => lost(ms, 0));
    expect(verdicts([...posts, ...more], 2)).toHaveLength(2);
  });

  test('reads back from the last echo, then from the last verdict, and a day at most', () => {
    const silent = { ...NEW, unheard_posts: 3, unheard_since: at(0), heard_at: at(-MINUTE) };
    const none = { posts: 0, echoes: 0 };
    const verdict = judgeEchoes(silent, none, at(2 * MINUTE));
    expect(verdict.missedSince).toEqual(at(-MINUTE));
    expect(judgeEchoes({ ...silent, heard_at: at(-9 * DAY) }, none, at(2 * MINUTE)).missedSince).toEqual(
      at(2 * MINUTE - DAY),
    );
    const heard = judgeEchoes(verdict.after, { posts: 0, echoes: 1 }, at(5 * MINUTE));
    expect(heard.missedSince).toEqual(at(2 * MINUTE));
    expect(heard.after).toEqual({ ...NEW, heard_at: at(5 * MINUTE) });
  });
});
