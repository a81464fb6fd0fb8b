import { sql } from 'kysely';
import { v7 as nextId } from 'uuid';
import { describe, expect, test } from 'vitest';
import { exceededQuota } from '../../../src/relay/access/quotas.ts';
import type { QuotaExceeded } from '../../../src/relay/access/refusals.ts';
import { readStats } from '../../../src/store/stats.ts';
import { Store } from '../../../src/store/store.ts';
import type { TurnLimits } from '../../../src/store/threads/turn-usage.ts';
import { freshDatabase } from '../../support/fresh-database.ts';

const { kysely } = await freshDatabase();
const store = new Store(kysely);
const unlimited: TurnLimits = { hourPerson: 0, hourWorkspace: 0, atOncePerson: 0, atOnceWorkspace: 0 };

let count = 0;

function newWorkspace(): string {
  count += 1;
  return `T${count}`;
}

/** A person's turn that began so many minutes ago. */
async function turn(
  workspace: string,
  person: string,
  minutesAgo: number,
  state: 'running' | 'finished',
  passedOnBy: string | null = null,
): Promise<string> {
  count += 1;
  const ts = `${1_700_000_000 + count}.000100`;
  const thread = { workspace, channel: 'C1', thread_ts: ts };
  const key = { workspace, channel: 'C1', ts };
  await store.threads.adopt(thread, { account_id: 'settings', user_id: person, ts });
  const words = { text: 'a question' };
  await store.messages.add(key, {
    thread_ts: ts,
    user_id: person,
    content: words,
    state: 'waiting',
    edited_ts: null,
  });
  const message = await store.messages.get(key);
  if (message === undefined) throw new Error('The message is not there.');
  const { id } = await store.turns.begin(nextId(), message, passedOnBy);
  const startedAt = sql<Date>`now() - ${minutesAgo}::int * interval '1 minute'`;
  await kysely
    .updateTable('turns')
    .set({ started_at: startedAt, finished_at: state === 'finished' ? startedAt : null })
    .where('id', '=', id)
    .execute();
  return id;
}

test('a message that was passed on is at work only once it has a reply of its own', async () => {
  const workspace = newWorkspace();
  const answering = await turn(workspace, 'U1', 2, 'running');
  const passedOn = await turn(workspace, 'U1', 1, 'running', answering);
  const running = async () => {
    const here = { workspace, channel: 'C1', person: 'U1' };
    return (await store.turnUsage.runningOf(here, 9)).map(({ turn_id }) => turn_id);
  };
  expect(await running()).toEqual([answering]);
  await kysely
    .updateTable('turns')
    .set({ first_visible_at: new Date() })
    .where('id', '=', passedOn)
    .execute();
  expect(await running()).toEqual([passedOn, answering]);
});

const exceeded = (workspace: string, person: string, limits: Partial<TurnLimits>) =>
  exceededQuota(store.turnUsage, workspace, person, { ...unlimited, ...limits });

const waitMinutes = (quota: QuotaExceeded | undefined) => Math.ceil((quota?.waitMs ?? 0) / 60_000);

describe('one more turn', () => {
  test('is within every quota where none is set, and where nobody asked anything', async () => {
    const workspace = newWorkspace();
    expect(await exceeded(workspace, 'U1', { hourPerson: 1, atOnceWorkspace: 1 })).toBeUndefined();
    for (let index = 0; index < 3; index += 1) await turn(workspace, 'U1', 1, 'running');
    expect(await exceeded(workspace, 'U1', {})).toBeUndefined();
  });

  test.each<[keyof TurnLimits, string]>([
    ['hourPerson', 'U1'],
    ['hourWorkspace', 'U2'],
    ['atOncePerson', 'U1'],
    ['atOnceWorkspace', 'U2'],
  ])('goes beyond %s once that many turns count, and not before', async (limit, person) => {
    const workspace = newWorkspace();
    for (let index = 0; index < 2; index += 1) await turn(workspace, 'U1', 1, 'running');
    expect(await exceeded(workspace, person, { [limit]: 3 })).toBeUndefined();
    expect(await exceeded(workspace, person, { [limit]: 2 })).toMatchObject({ limit, most: 2 });
  });

  test('may begin again when the oldest turn that counts is an hour old', async () => {
    const workspace = newWorkspace();
    for (const minutes of [70, 50, 20, 10]) await turn(workspace, 'U1', minutes, 'finished');
    expect(waitMinutes(await exceeded(workspace, 'U1', { hourPerson: 3 }))).toBe(10);
    expect(waitMinutes(await exceeded(workspace, 'U2', { hourWorkspace: 2 }))).toBe(40);
    expect(await exceeded(workspace, 'U1', { hourPerson: 4 })).toBeUndefined();
  });

  test('counts at once only what still runs, however long, and has no time to name', async () => {
    const workspace = newWorkspace();
    await turn(workspace, 'U1', 1, 'finished');
    await turn(workspace, 'U1', 600, 'running');
    expect(await exceeded(workspace, 'U1', { atOncePerson: 2 })).toBeUndefined();
    expect(await exceeded(workspace, 'U1', { atOncePerson: 1 })).toEqual({
      limit: 'atOncePerson',
      most: 1,
      waitMs: null,
    });
  });

  test("counts neither another person's turns nor another workspace's", async () => {
    const [workspace, elsewhere] = [newWorkspace(), newWorkspace()];
    await turn(workspace, 'U1', 1, 'running');
    expect(await exceeded(workspace, 'U2', { hourPerson: 1, atOncePerson: 1 })).toBeUndefined();
    const all = { hourPerson: 1, atOncePerson: 1, hourWorkspace: 1, atOnceWorkspace: 1 };
    expect(await exceeded(elsewhere, 'U1', all)).toBeUndefined();
  });

  test('names of two quotas by the hour the one that lasts longer, before one without a time', async () => {
    const workspace = newWorkspace();
    await turn(workspace, 'U1', 55, 'finished');
    await turn(workspace, 'U2', 10, 'running');
    const both = { hourPerson: 1, hourWorkspace: 1, atOnceWorkspace: 1 };
    const found = await exceeded(workspace, 'U1', both);
    expect(found).toMatchObject({ limit: 'hourWorkspace' });
    expect(waitMinutes(found)).toBe(50);
    expect(await exceeded(workspace, 'U1', { hourPerson: 1, atOncePerson: 1 })).toMatchObject({
      limit: 'hourPerson',
    });
  });

  test("names the person's own quota before the workspace's", async () => {
    const workspace = newWorkspace();
    await turn(workspace, 'U1', 1, 'running');
    expect(await exceeded(workspace, 'U1', { hourPerson: 1, hourWorkspace: 1 })).toMatchObject({
      limit: 'hourPerson',
    });
    expect(await exceeded(workspace, 'U1', { atOnceWorkspace: 1, hourWorkspace: 1 })).toMatchObject({
      limit: 'hourWorkspace',
    });
  });
});

test('the turns of the last hour are counted for each person and workspace, and the busiest of each for operators', async () => {
  const workspaces = Array.from({ length: 3 }, () => newWorkspace());
  const begin = async (workspace: string, person: string, ages: number[]) => {
    for (const minutes of ages) await turn(workspace, person, minutes, 'finished');
  };
  const [quiet, busy, wide] = workspaces as [string, string, string];
  await begin(quiet, 'U1', [90, 61, 59]);
  await begin(busy, 'U1', Array<number>(9).fill(5));
  await begin(busy, 'U2', [5]);
  for (let index = 0; index < 12; index += 1) await begin(wide, `U${index}`, [30]);
  await begin(wide, 'B-NOBODY', Array<number>(20).fill(30));
  // Of people who were forgotten.
  await begin(wide, '', Array<number>(15).fill(30));
  const limits = { ...unlimited, hourPerson: 8, hourWorkspace: 30 };
  const counts = async (workspace: string, person: string) =>
    (await store.turnUsage.used(workspace, person, limits, 3_600_000)).map(({ limit, count }) => [
      limit,
      count,
    ]);
  const expectCounts = async (workspace: string, person: string, own: number, all: number) =>
    expect(await counts(workspace, person)).toEqual([
      ['hourPerson', own],
      ['hourWorkspace', all],
    ]);
  await expectCounts(quiet, 'U1', 1, 1);
  await expectCounts(busy, 'U1', 8, 10);
  await expectCounts(busy, 'U2', 1, 10);
  await expectCounts(busy, 'U3', 0, 10);
  expect((await readStats(kysely, 'B-NOBODY')).begun).toEqual({ person: 9, workspace: 47 });
  await kysely.deleteFrom('turns').execute();
  expect((await readStats(kysely, 'B-NOBODY')).begun).toEqual({ person: 0, workspace: 0 });
  await expectCounts(quiet, 'U1', 0, 0);
});
