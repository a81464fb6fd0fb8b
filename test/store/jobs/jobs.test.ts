import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { CHANNEL_LEVEL, type NewJob } from '../../../src/store/jobs/jobs.ts';
import { readDueWork } from '../../../src/store/processes/due-work.ts';
import type { Job } from '../../../src/store/schema.ts';
import { Store } from '../../../src/store/store.ts';
import { freshDatabase } from '../../support/fresh-database.ts';

const { kysely } = await freshDatabase({ maxConnections: 8 });
const store = new Store(kysely);
const { jobs } = store;
const HOUR_MS = 3_600_000;

/** A job of a kind that no other test has. */
function newJob(kind: string, more: Partial<NewJob> = {}): NewJob {
  return { workspace: 'T1', kind, channel: 'C1', thread_ts: CHANNEL_LEVEL, key: randomUUID(), ...more };
}

const claim = (kind: string, { room = 20, share = 20, held = [] as string[], holdMs = 30_000 } = {}) =>
  jobs.claim([{ kind, room, share }], held, holdMs);

async function claimOne(kind: string, holdMs?: number): Promise<Job> {
  const [job] = await claim(kind, { room: 1, ...(holdMs !== undefined && { holdMs }) });
  if (job === undefined) throw new Error('nothing is due');
  return job;
}

const makeDue = (kind: string) =>
  kysely
    .updateTable('jobs')
    .set({ due_at: new Date(0) })
    .where('kind', '=', kind)
    .execute();

/** How long until the only job of a kind is due (ms). */
async function dueInMs(kind: string): Promise<number> {
  const job = await kysely.selectFrom('jobs').select('due_at').where('kind', '=', kind).executeTakeFirst();
  return Number(job?.due_at) - Date.now();
}

test('processes that claim at the same moment each get jobs', async () => {
  for (let count = 0; count < 6; count += 1) await jobs.want(newJob('at once'));
  await store.transaction(async (within) => {
    const first = await within.jobs.claim([{ kind: 'at once', room: 2, share: 20 }], [], 30_000);
    const second = await claim('at once', { room: 3 });
    expect([first.length, second.length]).toEqual([2, 3]);
  });
  expect(await claim('at once')).toHaveLength(1);
});

test('a job goes to one of many processes, and to another once its process has died', async () => {
  await jobs.want(newJob('once'));
  const claims = await Promise.all(Array.from({ length: 6 }, () => claim('once')));
  const [dead, ...others] = claims.flat();
  expect(others).toEqual([]);
  if (dead === undefined) throw new Error('nobody has it');
  await makeDue('once');
  expect(await claim('once')).toEqual([]);
  const isOver = { claimed_until: new Date(0) };
  await kysely.updateTable('jobs').set(isOver).where('kind', '=', 'once').execute();
  expect(await jobs.intend(dead)).toBe(false);
  const next = await claimOne('once');
  expect(next).toMatchObject({ key: dead.key, tried_since: dead.tried_since });
  // The first process was only asleep.
  await jobs.done(dead, false);
  const renewed = [{ claim_id: next.claim_id, isRenewed: true }];
  expect(await jobs.renew([dead.claim_id ?? '', next.claim_id ?? ''], 30_000)).toEqual(renewed);
  await jobs.done(next, false);
  expect(await jobs.get(next)).toBeUndefined();
});

test('of many due jobs each workspace gets its share, also beside those that the process runs', async () => {
  for (const workspace of ['T1', 'T1', 'T1', 'T1', 'T1', 'T2', 'T2'])
    await jobs.want(newJob('shared', { workspace }));
  const workspaces = (claimed: Job[]) => claimed.map(({ workspace }) => workspace).sort();
  const first = await claim('shared', { room: 3, share: 2 });
  expect(workspaces(first)).toEqual(['T1', 'T1', 'T2']);
  const held = first.map(({ claim_id }) => claim_id ?? '');
  expect(workspaces(await claim('shared', { held, share: 2 }))).toEqual(['T2']);
  expect(workspaces(await claim('shared', { held, share: 2 }))).toEqual([]);
  expect(workspaces(await claim('shared', { share: 2 }))).toEqual(['T1', 'T1']);
});

test('of a workspace with many due jobs its people take turns, and nobody with many holds up the first of another', async () => {
  const of = async (person: string, count: number) => {
    for (let at = 0; at < count; at += 1) await jobs.want(newJob('turns', { person }));
  };
  await of('U1', 12);
  await of('U2', 2);
  const people = (claimed: Job[]) => claimed.map(({ person }) => person).sort();
  const first = await claim('turns', { share: 3 });
  expect(people(first)).toEqual(['U1', 'U1', 'U2']);
  await of('U3', 1);
  const held = first.slice(1).map(({ claim_id }) => claim_id ?? '');
  expect(people(await claim('turns', { share: 4, held }))).toEqual(['U1', 'U2']);
  expect(people(await claim('turns', { share: 2 }))).toEqual(['U1', 'U3']);
});

test.each(['', 'U1'])(
  'of a workspace that has one job at a time, those of %j keep their order',
  async (person) => {
    const kind = `in order of ${person}`;
    const keys: string[] = [];
    for (const behind of [1, 3, 2]) {
      const job = newJob(kind, { person });
      await jobs.want(job);
      const due_at = new Date(Date.now() - 60_000 + behind * 1_000);
      await kysely.updateTable('jobs').set({ due_at }).where('key', '=', job.key).execute();
      keys[behind - 1] = job.key;
    }
    const served: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      const [job] = await claim(kind, { share: 1 });
      if (job === undefined) break;
      served.push(job.key);
      await jobs.done(job, false);
    }
    expect(served).toEqual(keys);
  },
);

test('of a workspace that has one job at a time, somebody with one waits for at most one more of somebody with many', async () => {
  for (let at = 0; at < 6; at += 1) await jobs.want(newJob('one by one', { person: 'U1' }));
  const next = async () => {
    const [job] = await claim('one by one', { room: 5, share: 1 });
    if (job !== undefined) await jobs.done(job, false);
    return job?.person;
  };
  expect(await next()).toBe('U1');
  await jobs.want(newJob('one by one', { person: 'U2' }));
  const served = [await next(), await next()];
  expect(served).toContain('U2');
  expect(await next()).toBe('U1');
});

test('jobs that fail go to the end with growing pauses, and progress ends these', async () => {
  const [bad, good] = [newJob('failing'), newJob('failing')];
  await jobs.want(bad);
  await jobs.want(good, 1);
  const first = await claimOne('failing');
  await jobs.failed(first, 0);
  await expect.poll(async () => (await claim('failing', { room: 1 }))[0]?.key).toBe(good.key);
  await kysely.deleteFrom('jobs').where('kind', '=', 'failing').where('key', '=', good.key).execute();
  expect(await dueInMs('failing')).toBeLessThan(1_500);
  const tried = { tried_since: new Date(Date.now() - 60_000) };
  await kysely.updateTable('jobs').set(tried).where('kind', '=', 'failing').execute();
  await makeDue('failing');
  const later = await claimOne('failing');
  expect(await dueInMs('failing')).toBeGreaterThan(50_000);
  // A service may ask for more.
  await jobs.failed(later, HOUR_MS);
  expect(await dueInMs('failing')).toBeGreaterThan(HOUR_MS / 2);
  await makeDue('failing');
  await jobs.again(await claimOne('failing'), { inMs: 0, payload: { page: 2 } });
  expect(await claimOne('failing')).toMatchObject({ payload: { page: 2 } });
  expect(await dueInMs('failing')).toBeLessThan(1_500);
});

test('a job that is asked for again while it runs, runs again with what was asked last', async () => {
  const job = newJob('wanted', { payload: { turn: 1 } });
  await jobs.want(job);
  const first = await claimOne('wanted');
  await jobs.want({ ...job, payload: { turn: 2 } });
  expect(await claim('wanted')).toEqual([]);
  await jobs.done(first, true);
  const second = await claimOne('wanted');
  expect(second).toMatchObject({ payload: { turn: 2 }, done_at: null });
  await jobs.want({ ...job, payload: { turn: 3 } });
  await jobs.again(second, { inMs: HOUR_MS, payload: { turn: 2, checks: 1 } });
  const third = await claimOne('wanted');
  expect(third.payload).toEqual({ turn: 3 });
  await jobs.done(third, true);
  // It is remembered: only who wants it again gets it.
  expect(await jobs.add(job)).toBe(false);
  expect(await claim('wanted')).toEqual([]);
  expect((await jobs.get(job))?.done_at).toEqual(expect.any(Date));
});

test('a job is written with the transaction of its reason', async () => {
  const job = newJob('together');
  await store
    .transaction(async (within) => {
      await within.jobs.want(job);
      throw new Error('rolled back');
    })
    .catch(() => undefined);
  expect(await jobs.get(job)).toBeUndefined();
  expect(await jobs.add(job)).toBe(true);
  expect(await jobs.intend(await claimOne('together'))).toBe(true);
  await jobs.releaseHeld();
  await makeDue('together');
  expect(await claim('together')).toMatchObject([{ key: job.key, intended_at: expect.any(Date) }]);
});

test('jobs wait while the app is not installed, but for what concerns the service alone', async () => {
  await store.workspaces.put({ workspace: 'T9', name: 'left', bot_user_id: 'U0', bot_id: 'B0' });
  await kysely.updateTable('workspaces').set({ uninstalled_at: new Date() }).execute();
  await jobs.want(newJob('talk', { workspace: 'T9' }));
  expect(await claim('talk')).toEqual([]);
  await kysely.deleteFrom('jobs').execute();
  await jobs.want(newJob('talk', { workspace: 'T9' }));
  expect((await readDueWork(kysely)).jobs).toBe(false);
  await jobs.want(newJob('task_deletion', { workspace: 'T9' }));
  expect((await readDueWork(kysely)).jobs).toBe(true);
  expect(await claim('task_deletion')).toHaveLength(1);
});

test('jobs follow their channel, forget their person, and go with their workspace', async () => {
  await kysely.deleteFrom('jobs').execute();
  const job = newJob('moving', { workspace: 'T8', key: 'same', person: 'UGONE' });
  await jobs.want(job);
  await jobs.want({ ...job, channel: 'C2', payload: { is: 'newer' } });
  const running = await claim('moving', { room: 2 });
  await store.transaction((within) => within.channels.move('T8', 'C1', 'C2'));
  expect(await store.personErasure.eraseUser('T8', 'UGONE')).toBe(0);
  const left = await kysely.selectFrom('jobs').selectAll().execute();
  expect(left).toMatchObject([{ channel: 'C2', person: '', payload: {} }]);
  expect(await store.personErasure.eraseUser('T8', 'UGONE')).toBeUndefined();
  await store.workspaceErasure.eraseWorkspace('T8');
  // Its process finds out when it is done.
  for (const one of running) await jobs.again(one, { inMs: 0 });
  expect(await kysely.selectFrom('jobs').select('key').execute()).toEqual([]);
});

test('done jobs are remembered for a week', async () => {
  const job = newJob('past');
  await jobs.want(job);
  await jobs.done(await claimOne('past'), true);
  const sweep = () => store.retention.deleteExpired({ words: 7, rows: 90, audit: 365, uninstalled: 30 });
  await sweep();
  expect(await jobs.get(job)).toBeDefined();
  const done = { done_at: new Date(Date.now() - 8 * 24 * HOUR_MS) };
  await kysely.updateTable('jobs').set(done).where('kind', '=', 'past').execute();
  await sweep();
  expect(await jobs.get(job)).toBeUndefined();
});
