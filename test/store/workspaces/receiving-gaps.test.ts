import { randomUUID } from 'node:crypto';
import { v7 as nextId } from 'uuid';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { CHANNEL_LEVEL, JOB_KIND } from '../../../src/store/jobs/jobs.ts';
import type { Job } from '../../../src/store/schema.ts';
import { Store } from '../../../src/store/store.ts';
import { readPage } from '../../repository/generated-pages.ts';
import { freshDatabase } from '../../support/fresh-database.ts';

const database = await freshDatabase({ maxConnections: 12 });
const store = new Store(database.kysely);
const minute = 60_000;
const day = 24 * 60 * minute;
let workspace = '';

beforeEach(async () => {
  workspace = `T${randomUUID()}`;
  await store.workspaces.put({ workspace, name: 'lab', bot_user_id: 'U0', bot_id: 'B0' });
});

const sign = async () => (await store.workspaces.recordReceiving(workspace, 5 * minute, true))?.gap_since;

async function silentFor(ms: number): Promise<void> {
  await database.pool.query(
    `update workspaces set last_receiving_at = last_receiving_at - $1::float8 * interval '1 ms' where workspace = $2`,
    [ms, workspace],
  );
}

async function thread(channel: string, root: string, usedAgoMs: number): Promise<void> {
  await store.threads.adopt(
    { workspace, channel, thread_ts: root },
    { account_id: 'settings', user_id: 'U1', ts: root },
  );
  await database.pool.query(
    `update threads set last_used_at = now() - $1::float8 * interval '1 ms' where workspace = $2 and thread_ts = $3`,
    [usedAgoMs, workspace, root],
  );
}

/** The next place to read, of those of the test's workspace. */
async function claim() {
  await database.pool.query('delete from jobs where workspace <> $1', [workspace]);
  return (await store.jobs.claim([{ kind: JOB_KIND.backfill, room: 1, share: 9 }], [], minute))[0];
}

test('another bot of a workspace is saved only once the one before receives no more', async () => {
  const put = (bot_user_id: string) =>
    store.workspaces.put({ workspace, name: 'lab', bot_user_id, bot_id: 'B1' });
  const bot = async () => {
    const { rows } = await database.pool.query<{ bot_user_id: string }>(
      'select bot_user_id from workspaces where workspace = $1',
      [workspace],
    );
    return rows.map(({ bot_user_id }) => bot_user_id);
  };
  await put('U1');
  await sign();
  await expect(put('U2')).rejects.toThrow('Another bot of lab used this database seconds ago');
  await put('U1');
  expect(await bot()).toEqual(['U1']);
  await silentFor(minute);
  await put('U2');
  expect(await bot()).toEqual(['U2']);
});

describe('a gap in receiving', () => {
  test('does not exist at first, nor after a few minutes', async () => {
    expect(await sign()).toBeNull();
    await silentFor(4 * minute);
    expect(await sign()).toBeNull();
  });

  test('does not exist once an operator has emptied its beginning, as after the restore of a backup', async () => {
    const [, statement = ''] = /`(update workspaces [^`]*)`/.exec(await readPage('docs/operations.md')) ?? [];
    await sign();
    await silentFor(2 * day);
    await database.pool.query(statement);
    expect(await store.workspaces.recordAllReceiving([workspace], 5 * minute)).toEqual([]);
    expect(await sign()).toBeNull();
  });

  test('is reported to one process of many', async () => {
    await sign();
    await silentFor(6 * minute);
    const heard = await Promise.all(Array.from({ length: 8 }, () => sign()));
    expect(heard.filter((gap) => gap !== null)).toHaveLength(1);
  });

  test('is found among the workspaces of one round, and the others are recorded with it', async () => {
    const quiet = workspace;
    await sign();
    await silentFor(6 * minute);
    workspace = `T${randomUUID()}`;
    await store.workspaces.put({ workspace, name: 'new', bot_user_id: 'U0', bot_id: 'B0' });
    const round = () => store.workspaces.recordAllReceiving([quiet, workspace, 'TUNKNOWN'], 5 * minute);
    expect(await round()).toEqual([quiet]);
    // Its gap is recorded on its own; until then, every round finds it.
    expect(await round()).toEqual([quiet]);
    await silentFor(6 * minute);
    expect((await round()).toSorted()).toEqual([quiet, workspace].toSorted());
    expect(await sign()).not.toBeNull();
    expect(await round()).toEqual([quiet]);
  });

  describe('while some process receives the events of all workspaces', () => {
    const round = () => store.workspaces.recordAllReceiving([workspace], 5 * minute, true);
    const state = async () => {
      const { rows } = await database.pool.query<{ own: Date; until: Date }>(
        'select last_receiving_at as own, until from workspaces cross join receiving where workspace = $1',
        [workspace],
      );
      const [row] = rows;
      if (row === undefined) throw new Error('nothing is recorded');
      return row;
    };
    /** Time passes, by the database's clock: what was recorded lies further back. */
    const pass = async (ms: number) => {
      await silentFor(ms);
      await database.pool.query(
        `update receiving set since = since - $1::float8 * interval '1 ms', until = until - $1::float8 * interval '1 ms',
          since_before = since_before - $1::float8 * interval '1 ms', until_before = until_before - $1::float8 * interval '1 ms'`,
        [ms],
      );
    };

    test('is not seen, and the rows of the workspaces stay as they are', async () => {
      await round();
      for (let count = 0; count < 8; count += 1) {
        await pass(minute);
        const { own, until } = await state();
        expect(await round()).toEqual([]);
        const after = await state();
        expect(after.own).toEqual(own);
        expect(after.until.getTime()).toBeGreaterThan(until.getTime() + 30_000);
      }
      expect(await sign()).toBeNull();
    });

    test('is seen once they all have stopped, from then on, also after a later one', async () => {
      await round();
      await pass(minute);
      await round();
      await pass(20 * minute);
      const { until } = await state();
      expect(await round()).toEqual([workspace]);
      await pass(minute);
      expect(await round()).toEqual([workspace]);
      expect(await sign()).toEqual(new Date(until.getTime() - minute));
      expect(await sign()).toBeNull();
      expect(await round()).toEqual([]);
    });

    test('is seen of a workspace that was last received before all of that time', async () => {
      await sign();
      await silentFor(6 * minute);
      expect(await round()).toEqual([workspace]);
      expect(await sign()).not.toBeNull();
      expect(await round()).toEqual([]);
    });
  });

  const gap = (since: Date) => ({
    since,
    threadsUsedMs: day,
    channelsUsedMs: day,
    quietChannels: { usedMs: 0, most: 0 },
    marginMs: minute,
    looksForWaiting: true,
  });

  test('queues only the threads used shortly before a short gap, and the channels of the day', async () => {
    await thread('C1', '1700000001.000100', minute);
    await thread('C2', '1700000002.000100', 120 * minute);
    const short = { ...gap(new Date()), threadsUsedMs: 60 * minute, looksForWaiting: false };
    expect(await store.backfills.addGap(workspace, short)).toBe(3);
  });

  test('queues the threads of the day before, the newest first, and each channel', async () => {
    const since = new Date();
    await thread('C1', '1700000001.000100', 3 * minute);
    await thread('C2', '1700000002.000100', 2 * minute);
    await thread('C1', '1700000003.000100', 2 * day);
    expect(await store.backfills.addGap(workspace, gap(since))).toBe(4);
    const read: string[] = [];
    for (;;) {
      const place = await claim();
      if (place === undefined) break;
      read.push(`${place.channel} ${place.thread_ts === CHANNEL_LEVEL ? 'itself' : place.thread_ts}`);
      await store.jobs.done(place, false);
    }
    expect(read).toEqual(['C2 1700000002.000100', 'C2 itself', 'C1 1700000001.000100', 'C1 itself']);
  });

  test('leaves in front what was to be read first, such as replies that overtook their mention', async () => {
    await thread('C1', '1700000001.000100', 2 * minute);
    await thread('C2', '1700000002.000100', minute);
    const first = { workspace, channel: 'C1', thread_ts: '1700000001.000100' };
    await store.backfills.addOrphanReplies(first, '1700000001.000200');
    await store.backfills.addGap(workspace, gap(new Date()));
    expect(await claim()).toMatchObject(first);
  });

  test('queues the threads whose run lasts or whose plan still waits, however long ago they were used', async () => {
    const threads = ['open', 'waiting', 'answered', 'over'].map((name, at) => ({
      name,
      ts: `170000000${at}.000100`,
    }));
    const begin = async (thread_ts: string, ts: string) => {
      const asked = { thread_ts, user_id: 'U1', state: 'sent', content: null, edited_ts: null } as const;
      await store.messages.add({ workspace, channel: 'C1', ts }, asked);
      const message = await store.messages.get({ workspace, channel: 'C1', ts });
      if (message === undefined) throw new Error('the message was not written');
      return store.turns.begin(nextId(), message);
    };
    for (const { name, ts } of threads) {
      await thread('C1', ts, 3 * day);
      const { id } = await begin(ts, ts);
      await database.pool.query(
        `update turns set waits_since = case when $2 in ('waiting', 'answered') then now() end, waits_for = 'plan',
          finished_at = case when $2 <> 'open' then now() end where id = $1`,
        [id, name],
      );
      if (name !== 'answered') continue;
      const answer = await begin(ts, '1700000009.000100');
      await database.pool.query(
        `update turns set user_message_id = 'm', started_at = now(), finished_at = now() where id = $1`,
        [answer.id],
      );
      await thread('C1', ts, 3 * day);
    }
    await store.backfills.addGap(workspace, gap(new Date()));
    const read: string[] = [];
    for (let place = await claim(); place !== undefined; place = await claim()) {
      read.push(threads.find(({ ts }) => ts === place?.thread_ts)?.name ?? 'another');
      await store.jobs.done(place, false);
    }
    expect(read.sort()).toEqual(['open', 'waiting']);
  });

  test('queues a channel in place of the many threads that began there lately, and keeps which they are', async () => {
    const now = Math.floor(Date.now() / 1_000);
    const roots = [1, 2, 3, 4].map((ago) => `${now - ago * 600}.000100`);
    for (const root of roots) await thread('C1', root, 2 * minute);
    for (const root of roots.slice(1)) await thread('C2', root, 3 * minute);
    await thread('C1', '1700000001.000100', minute);
    const since = new Date();
    await store.backfills.addGap(workspace, gap(since));
    const places: Job[] = [];
    for (let place = await claim(); place !== undefined; place = await claim()) {
      places.push(place);
      await store.jobs.failed(place, 60 * minute);
    }
    const of = (id: string) => places.filter(({ channel }) => channel === id);
    expect(of('C1').map(({ thread_ts }) => thread_ts)).toEqual(['1700000001.000100', CHANNEL_LEVEL]);
    expect(of('C2')).toHaveLength(4);
    const rootsOf = (payload: unknown) => z.object({ roots: z.array(z.string()) }).parse(payload).roots;
    expect(rootsOf(of('C1')[1]?.payload).sort()).toEqual([...roots].sort());
    // What a later gap finds is joined to it.
    await thread('C1', `${now - 3_000}.000100`, 0);
    await store.backfills.addGap(workspace, gap(new Date()));
    const [later] = await database.kysely
      .selectFrom('jobs')
      .selectAll()
      .where('channel', '=', 'C1')
      .where('thread_ts', '=', CHANNEL_LEVEL)
      .execute();
    expect(new Set(rootsOf(later?.payload)).size).toBe(5);
  });

  test('queues the last used of quieter channels, too, as many as it may', async () => {
    await thread('C1', '1700000001.000100', 2 * minute);
    await thread('C2', '1700000002.000100', minute);
    await thread('D3', '1700000003.000100', 2 * day);
    await thread('C4', '1700000004.000100', 3 * day);
    await thread('C5', '1700000005.000100', 9 * day);
    const channelsWith = async (most: number) => {
      await store.backfills.addGap(workspace, {
        ...gap(new Date()),
        quietChannels: { usedMs: 8 * day, most },
      });
      const read: string[] = [];
      for (let place = await claim(); place !== undefined; place = await claim()) {
        if (place.thread_ts === CHANNEL_LEVEL) read.push(place.channel);
        await store.jobs.done(place, false);
      }
      return read;
    };
    expect(await channelsWith(9)).toEqual(['C2', 'C1', 'D3', 'C4']);
    expect(await channelsWith(3)).toEqual(['C2', 'C1', 'D3']);
    expect(await channelsWith(1)).toEqual(['C2', 'C1']);
  });

  test('a gap during the reading of an earlier one is not lost, and reads from the earlier one on', async () => {
    await thread('C1', '1700000001.000100', minute);
    const since = new Date();
    await store.backfills.addGap(workspace, gap(since));
    const place = await claim();
    if (place === undefined) throw new Error('there is one to read');
    await store.backfills.addGap(workspace, gap(new Date(since.getTime() + minute)));
    await store.jobs.done(place, false);
    const [channel, again] = [await claim(), await claim()];
    expect(channel).toMatchObject({ thread_ts: CHANNEL_LEVEL });
    expect(again).toMatchObject({ thread_ts: place.thread_ts, payload: place.payload });
  });
});
