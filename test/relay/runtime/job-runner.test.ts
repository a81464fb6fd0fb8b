import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readClocks } from '../../../src/calls/clocks.ts';
import { type JobKind, JobRunner, type JobRunnerDeps } from '../../../src/relay/runtime/job-runner.ts';
import { SlackUnavailableError } from '../../../src/slack/errors.ts';
import { CHANNEL_LEVEL, JOB_KIND, type JobClaim } from '../../../src/store/jobs/jobs.ts';
import { Store } from '../../../src/store/store.ts';
import { ARRIVED_MENTION } from '../../support/arrived-mention.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { silentLog } from '../../support/silent-log.ts';

const { kysely } = await freshDatabase();
const store = new Store(kysely);
const lostCall = { method: 'chat.postMessage', slackCode: 'fetch_failed', outcome: 'none' } as const;
const never = new Promise<never>(() => undefined);

function newJob(kind: string, workspace = 'T1') {
  return { workspace, kind, channel: 'C1', thread_ts: CHANNEL_LEVEL, key: randomUUID() };
}

function openRunner(
  kind: Pick<JobKind, 'kind' | 'timeoutMs' | 'perform'> & Partial<JobKind>,
  withStore: JobRunnerDeps['store'] = store,
) {
  const outcomes: string[] = [];
  const onRun = (_: string, outcome: string) => void outcomes.push(outcome);
  const runner = new JobRunner({ store: withStore, leaseStore: store, log: silentLog, onRun });
  runner.add({ share: 1, giveUpAfterMs: 3_600_000, onGivenUp: 'counted', ...kind });
  runner.start();
  onTestFinished(() => runner.stop());
  return { runner, outcomes };
}

test('a job that is recorded with a claim begins in the process that recorded it, unless that has no room', async () => {
  const claims: (JobClaim | undefined)[] = [];
  const ran: string[] = [];
  const end = Promise.withResolvers<'done'>();
  const { runner, outcomes } = openRunner({
    kind: JOB_KIND.turn,
    most: 1,
    perform: async ({ thread_ts }) => {
      ran.push(thread_ts);
      return end.promise;
    },
  });
  const record = (ts: string) =>
    runner.record(JOB_KIND.turn, (claim) => {
      claims.push(claim);
      return store.inbox.write({ ...ARRIVED_MENTION, ts, thread_ts: ts, claim });
    });
  await record('1700000001.000100');
  await expect.poll(() => ran).toEqual(['1700000001.000100']);
  await record('1700000002.000100');
  expect(claims).toEqual([{ id: expect.any(String), holder: undefined, holdMs: 10_000 }, undefined]);
  end.resolve('done');
  await expect.poll(() => outcomes).toEqual(['done', 'done']);
  expect(ran).toEqual(['1700000001.000100', '1700000002.000100']);
});

test('a job whose record was written, although its answer was lost, is begun soon', async () => {
  const { runner, outcomes } = openRunner({ kind: JOB_KIND.turn, most: 1, perform: async () => 'done' });
  const ts = '1700000003.000100';
  const record = runner.record(JOB_KIND.turn, async (claim) => {
    await store.inbox.write({ ...ARRIVED_MENTION, ts, thread_ts: ts, claim });
    throw new Error('the answer was lost');
  });
  await expect(record).rejects.toThrow('the answer was lost');
  await expect.poll(() => outcomes, { timeout: 5_000 }).toEqual(['done']);
});

test('records at the same moment may be one too many, which stops no other kind', async () => {
  const end = Promise.withResolvers<'done'>();
  const { runner, outcomes } = openRunner({ kind: JOB_KIND.turn, most: 1, perform: () => end.promise });
  runner.add({ kind: 'other', share: 1, perform: async () => 'done', onGivenUp: 'counted' });
  const record = (ts: string) =>
    runner.record(JOB_KIND.turn, (claim) =>
      store.inbox.write({ ...ARRIVED_MENTION, ts, thread_ts: ts, claim }),
    );
  await Promise.all(['1700000004.000100', '1700000005.000100', '1700000006.000100'].map(record));
  await expect.poll(() => runner.count(JOB_KIND.turn)).toBeGreaterThan(1);
  await store.jobs.want(newJob('other'));
  runner.runDue();
  await expect.poll(() => outcomes).toEqual(['done']);
  end.resolve('done');
});

test('a job that never ends holds its place for its time, and delays no other workspace', async () => {
  const ran: string[] = [];
  const { runner, outcomes } = openRunner({
    kind: 'stuck',
    timeoutMs: 400,
    perform: ({ workspace }) => {
      ran.push(workspace);
      const isFirst = ran.filter((one) => one === workspace).length === 1;
      return workspace === 'T1' && isFirst ? never : Promise.resolve('done' as const);
    },
  });
  for (const workspace of ['T1', 'T1', 'T2', 'T2']) await store.jobs.want(newJob('stuck', workspace));
  runner.runDue();
  await expect.poll(() => outcomes.slice(0, 4)).toEqual(['done', 'done', 'failed', 'done']);
  expect(ran[3]).toBe('T1');
});

test('a job without progress for its time is given up, and whom it concerns is told after an outage, too', async () => {
  const told: string[] = [];
  const { runner, outcomes } = openRunner({
    kind: 'hopeless',
    timeoutMs: 1_000,
    giveUpAfterMs: 60_000,
    perform: () => Promise.reject(new Error('no')),
    onGivenUp: async ({ key }) => {
      told.push(key);
      if (told.length === 1) throw new SlackUnavailableError(lostCall, 'Slack is away.');
      if (told.length === 2) await never;
    },
  });
  const job = newJob('hopeless');
  await store.jobs.want(job);
  runner.runDue();
  await expect.poll(() => outcomes).toEqual(['failed']);
  const aged = { tried_since: new Date(Date.now() - 120_000), due_at: new Date(0) };
  await kysely.updateTable('jobs').set(aged).where('kind', '=', 'hopeless').execute();
  runner.runDue();
  // In an outage nobody is told, nor where that takes too long; the job waits until somebody was.
  await expect.poll(() => outcomes).toEqual(['failed', 'failed']);
  await kysely.updateTable('jobs').set(aged).where('kind', '=', 'hopeless').execute();
  runner.runDue();
  await expect.poll(() => outcomes, { timeout: 5_000 }).toEqual(['failed', 'failed', 'failed']);
  await kysely.updateTable('jobs').set(aged).where('kind', '=', 'hopeless').execute();
  runner.runDue();
  await expect.poll(() => outcomes).toEqual(['failed', 'failed', 'failed', 'given_up']);
  expect(told).toEqual([job.key, job.key, job.key]);
  expect(await store.jobs.get(job)).toBeUndefined();
});

test('a job whose thing is bad ends at once, and counts as given up', async () => {
  const { runner, outcomes } = openRunner({
    kind: 'bad',
    timeoutMs: 1_000,
    perform: async () => 'given_up',
  });
  const job = newJob('bad');
  await store.jobs.want(job);
  runner.runDue();
  await expect.poll(() => outcomes).toEqual(['given_up']);
  expect(await store.jobs.get(job)).toBeUndefined();
});

test('a stopped process leaves its jobs to others at once', async () => {
  const { runner, outcomes } = openRunner({ kind: 'left', timeoutMs: 60_000, perform: () => never });
  const job = newJob('left');
  await store.jobs.want(job);
  runner.runDue();
  await expect.poll(async () => (await store.jobs.get(job))?.claim_id).toEqual(expect.any(String));
  await runner.stop();
  expect(outcomes).toEqual([]);
  const next = await store.jobs.claim([{ kind: 'left', room: 9, share: 9 }], [], 1_000);
  expect(next.map(({ key }) => key)).toEqual([job.key]);
});

test('a stop does not wait for a database that never answers', async () => {
  const written = Promise.withResolvers<void>();
  const done = () => {
    written.resolve();
    return never;
  };
  const unanswered = new Store(kysely);
  unanswered.jobs.done = done;
  const { runner } = openRunner({ kind: 'unwritten', drainMs: 0, perform: async () => 'done' }, unanswered);
  await store.jobs.want(newJob('unwritten'));
  runner.runDue();
  await written.promise;
  await expect(runner.stop()).resolves.toBeUndefined();
});

test('the log says why due work is not found, and gives no reason from before the database answered', async () => {
  const lines: string[] = [];
  let passed = 0;
  const now = Date.now;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + passed);
  onTestFinished(() => clock.mockRestore());
  const log = pino({ level: 'debug' }, { write: (line) => void lines.push(line) });
  const runner = new JobRunner({ store, leaseStore: store, log, onRun: () => undefined });
  runner.start();
  onTestFinished(() => runner.stop());
  runner.recordFailure(new Error('an hour ago'));
  expect(lines.join('')).toContain('an hour ago');
  runner.recordContact(readClocks());
  lines.length = 0;
  // As where the machine sleeps.
  passed = 60_000;
  await expect.poll(() => lines.join('')).toContain('no job could be claimed or renewed');
  expect(lines.join('')).not.toContain('an hour ago');
});
