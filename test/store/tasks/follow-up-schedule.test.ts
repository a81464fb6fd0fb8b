import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { Store } from '../../../src/store/store.ts';
import { followUpInsert } from '../../../src/store/tasks/follow-up-schedule.ts';
import { freshDatabase } from '../../support/fresh-database.ts';

const { kysely } = await freshDatabase();
const { followUps: watches, workspaces } = new Store(kysely);

const [one, two] = [randomUUID(), randomUUID()];
let seconds = 1_700_000_000;

async function due(workspace: string, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    seconds += 1;
    const id = `00000000-0000-4000-8000-${String(seconds).padStart(12, '0')}`;
    const turn = { workspace, channel: 'C1', thread_ts: `${seconds}.000100`, id };
    await followUpInsert(turn, { firstMs: -1_000, forMs: 60_000 }).execute(kysely);
  }
}

test('a failed check is repeated even after the end, and a successful one after the end is the last', async () => {
  const turn = { workspace: 'T3', channel: 'C1', thread_ts: '1600000000.000100', id: randomUUID() };
  await followUpInsert(turn, { firstMs: -2_000, forMs: -1_000 }).execute(kysely);
  const claimed = async (holder: string) => {
    const [watch] = await watches.claim(holder, 10_000, 20);
    if (watch === undefined) throw new Error('nothing is due');
    return watch;
  };
  const watch = await claimed(one);
  await watches.recordCheck(watch, one, { checks: 1, ms: -1, failed: true });
  const again = await claimed(two);
  expect(again).toMatchObject({ turn_id: turn.id, checks: 1 });
  // It is another's by now.
  await watches.recordCheck(watch, one, { checks: 1, ms: 60_000, failed: false });
  const holders = kysely.selectFrom('follow_ups').select('claimed_by').where('workspace', '=', 'T3');
  expect(await holders.execute()).toEqual([{ claimed_by: two }]);
  await watches.recordCheck(again, two, { checks: 1, ms: 60_000, failed: false });
  expect(await holders.execute()).toEqual([]);
});

test('the last check is at the end, however long the pause before it', async () => {
  const turn = { workspace: 'T4', channel: 'C1', thread_ts: '1600000000.000200', id: randomUUID() };
  await followUpInsert(turn, { firstMs: -1_000, forMs: 60_000 }).execute(kysely);
  const [watch] = await watches.claim(one, 10_000, 20);
  if (watch === undefined) throw new Error('nothing is due');
  await watches.recordCheck(watch, one, { checks: 1, ms: 600_000, failed: false });
  const { next_check_at, ends_at } = await kysely
    .selectFrom('follow_ups')
    .selectAll()
    .where('workspace', '=', 'T4')
    .executeTakeFirstOrThrow();
  expect(next_check_at).toEqual(ends_at);
  await watches.cancel(watch);
});

test('follow-ups of one workspace leave room for those of others, however many are due', async () => {
  await due('T1', 9);
  await due('T2', 2);
  const of = async (holder: string, most: number) =>
    (await watches.claim(holder, 10_000, most, 3)).map(({ workspace }) => workspace).sort();
  expect(await of(one, 4)).toEqual(['T1', 'T1', 'T2', 'T2']);
  expect(await of(one, 20)).toEqual(['T1']);
  expect(await of(one, 20)).toEqual([]);
  expect(await of(two, 20)).toEqual(['T1', 'T1', 'T1']);
});

test('follow-ups wait while the app is not installed, and of many workspaces each has one before any has two', async () => {
  for (const workspace of ['T10', 'T11', 'T12']) {
    await due(workspace, 4);
    await workspaces.put({ workspace, name: workspace, bot_user_id: 'U1', bot_id: 'B1' });
  }
  await kysely
    .updateTable('workspaces')
    .set({ uninstalled_at: new Date() })
    .where('workspace', '=', 'T11')
    .execute();
  await kysely.deleteFrom('follow_ups').where('workspace', '=', 'T1').execute();
  const claimed = await watches.claim(randomUUID(), 10_000, 2, 2);
  expect(claimed.map(({ workspace }) => workspace).sort()).toEqual(['T10', 'T12']);
  expect(await watches.claim(randomUUID(), 10_000, 99, 99)).not.toContainEqual(
    expect.objectContaining({ workspace: 'T11' }),
  );
});
