import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, inject, test, vi } from 'vitest';
import { connectionUrl } from '../../../sandbox/postgres-server.ts';
import {
  type JobKind,
  type JobOutcome,
  JobRunner,
  type JobRunnerDeps,
} from '../../../src/relay/runtime/job-runner.ts';
import { LEASE_MS, type Lease } from '../../../src/relay/runtime/lease.ts';
import { turnJobs } from '../../../src/relay/turns/turn-runner.ts';
import { StoreError } from '../../../src/store/errors.ts';
import { JOB_KIND, type JobRoom } from '../../../src/store/jobs/jobs.ts';
import type { Job } from '../../../src/store/schema.ts';
import { Store } from '../../../src/store/store.ts';
import { withinMs } from '../../support/busy-machine.ts';
import { compiledProgram } from '../../support/compiled-programs.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { jobCounts } from '../../support/job-counts.ts';
import { silentLog } from '../../support/silent-log.ts';
import { waitFor } from '../../support/wait-for.ts';

const ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
  vi.restoreAllMocks();
});

let count = 0;
function newThread() {
  count += 1;
  return { workspace: 'T1', channel: 'C1', thread_ts: `${1_792_000_000 + count}.000100` };
}

/** A promise that the test settles, and that ends with the lease. */
function gate(lease?: Lease) {
  const { promise, resolve } = Promise.withResolvers<void>();
  lease?.signal.addEventListener('abort', () => resolve());
  return { promise, open: () => resolve() };
}

type Run = (job: Job, lease: Lease) => Promise<JobOutcome>;

describe('one process', () => {
  /** Jobs in memory: those to claim, and what was recorded of them. */
  class MemoryJobs {
    waiting: Job[] = [];
    lost = new Set<string>();
    broken = false;
    done = vi.fn<(job: Job, isRemembered: boolean) => Promise<void>>(async () => undefined);
    failed = vi.fn<(job: Job, waitMs: number) => Promise<void>>(async () => undefined);
    again = vi.fn<(job: Job) => Promise<void>>(async () => undefined);
    released: string[] = [];
    renewed: string[][] = [];

    add(): Job {
      const job: Job = {
        ...{ ...newThread(), kind: JOB_KIND.turn, key: '', person: '', payload: {}, version: 1 },
        ...{ claim_id: randomUUID(), claimed_until: new Date(), holder: null, tried_since: new Date() },
        ...{ due_at: new Date(), intended_at: null, done_at: null, created_at: new Date() },
      };
      this.waiting.push(job);
      return job;
    }
    async claim(rooms: readonly JobRoom[]): Promise<Job[]> {
      return this.waiting.splice(0, rooms[0]?.room ?? 0);
    }
    async renew(claims: readonly string[]): Promise<{ claim_id: string; isRenewed: boolean }[]> {
      if (this.broken) throw new Error('no database');
      this.renewed.push([...claims]);
      return claims
        .filter((claim) => !this.lost.has(claim))
        .map((claim_id) => ({ claim_id, isRenewed: true }));
    }
    async release(jobs: readonly Job[]): Promise<void> {
      this.released.push(...jobs.map(({ claim_id }) => claim_id ?? ''));
    }
  }

  class TestClocks {
    wallMs = Date.now();
    monotonicMs = performance.now();
    constructor() {
      vi.spyOn(Date, 'now').mockImplementation(() => this.wallMs);
      vi.spyOn(performance, 'now').mockImplementation(() => this.monotonicMs);
    }
    pass(ms: number): void {
      this.wallMs += ms;
      this.monotonicMs += ms;
    }
  }

  function start(run: Run, kind: Partial<JobKind> = {}, more: Partial<JobRunnerDeps> = {}) {
    const jobs = new MemoryJobs();
    const clocks = new TestClocks();
    const outcomes: string[] = [];
    const onRun = (_: string, outcome: string) => void outcomes.push(outcome);
    const stores = { store: { jobs }, leaseStore: { jobs } };
    const runner = new JobRunner({ ...stores, log: silentLog, renewIntervalMs: 20, onRun, ...more });
    runner.add({ ...turnJobs({ run }, 0), ...kind });
    runner.start();
    ending.push(() => runner.stop());
    const add = () => {
      const job = jobs.add();
      runner.runDue();
      return job;
    };
    return { jobs, clocks, runner, outcomes, add };
  }

  test('records a job whose run returned, unless the run has recorded it', async () => {
    const ends: JobOutcome[] = ['done', 'recorded'];
    const { jobs, runner, outcomes, add } = start(async () => ends.shift() ?? 'later');
    const job = add();
    await waitFor(() => expect(outcomes).toEqual(['done']));
    add();
    await waitFor(() => expect(outcomes).toEqual(['done', 'done']));
    expect(jobs.done.mock.calls).toEqual([[job, false]]);
    expect(runner.count(JOB_KIND.turn)).toBe(0);
    expect(jobs.released).toEqual([]);
  });

  test('claims no more jobs than it may hold, and the rest as soon as there is room', async () => {
    const gates: (() => void)[] = [];
    const run: Run = async (_, lease) => {
      const { promise, open } = gate(lease);
      gates.push(open);
      await promise;
      return 'done';
    };
    const { runner, add } = start(run, { most: 2, share: 2 });
    for (let index = 0; index < 3; index += 1) add();
    await waitFor(() => expect(gates).toHaveLength(2));
    await sleep(50);
    expect(runner.count(JOB_KIND.turn)).toBe(2);
    expect(runner.count(JOB_KIND.turn, 'T1')).toBe(2);
    gates[0]?.();
    await waitFor(() => expect(gates).toHaveLength(3));
  });

  test('a run that fails waits for a while, and less where it lost the database', async () => {
    const errors = [new Error('a mistake'), new StoreError('unavailable', 'The connection broke off.')];
    const { jobs, add } = start(() => Promise.reject(errors.shift() ?? new Error('no more')));
    add();
    await waitFor(() => expect(jobs.failed).toHaveBeenCalledOnce());
    add();
    await waitFor(() => expect(jobs.failed).toHaveBeenCalledTimes(2));
    const [pause = 0, short = 0] = jobs.failed.mock.calls.map(([, waitMs]) => waitMs);
    expect(pause).toBe(5_000);
    expect(short).toBeLessThan(pause);
  });

  test('nothing is claimed or sent while another process may have taken over, and all is lost once it has', async () => {
    const leases: Lease[] = [];
    let taken: () => void = () => undefined;
    const holder = {
      id: randomUUID(),
      isHeld: true,
      onTaken: (listener: () => void) => {
        taken = listener;
      },
    };
    const run: Run = (_, lease) => {
      leases.push(lease);
      return new Promise(() => undefined);
    };
    const { jobs, runner, add } = start(run, {}, { holder });
    add();
    await waitFor(() => expect(leases).toHaveLength(1));
    expect(leases[0]?.remainingMs()).toBeGreaterThan(0);
    holder.isHeld = false;
    expect(leases[0]?.remainingMs()).toBe(0);
    add();
    await waitFor(() => expect(leases[0]?.signal.aborted).toBe(true));
    expect(jobs.waiting).toHaveLength(1);
    holder.isHeld = true;
    runner.runDue();
    await waitFor(() => expect(leases).toHaveLength(2));
    expect(leases[1]?.signal.aborted).toBe(false);
    taken();
    expect(leases[1]?.signal.aborted).toBe(true);
  });

  test('a run whose job is missing from the answer to a renewal is aborted, and its job no longer renewed', async () => {
    const leases: Lease[] = [];
    const { jobs, add } = start((_, lease) => {
      leases.push(lease);
      return new Promise(() => undefined);
    });
    const [lost, kept] = [add(), add()].map(({ claim_id }) => claim_id ?? '');
    await waitFor(() => expect(leases).toHaveLength(2));
    jobs.lost.add(lost ?? '');
    await waitFor(() => expect(leases[0]?.signal.aborted).toBe(true));
    expect(leases[0]?.remainingMs()).toBe(0);
    expect(leases[1]?.signal.aborted).toBe(false);
    jobs.renewed = [];
    await waitFor(() => expect(jobs.renewed.length).toBeGreaterThan(1));
    expect(jobs.renewed.flat()).not.toContain(lost);
    expect(jobs.renewed.flat()).toContain(kept);
  });

  test('a lease runs out when renewals fail, before another process may have the job', async () => {
    const leases: Lease[] = [];
    const { jobs, clocks, add } = start(async (_, lease) => {
      leases.push(lease);
      await gate(lease).promise;
      return 'interrupted';
    });
    add();
    await waitFor(() => expect(leases).toHaveLength(1));
    clocks.pass(5_000);
    await waitFor(() => expect(leases[0]?.remainingMs()).toBeCloseTo(LEASE_MS));
    jobs.broken = true;
    clocks.pass(LEASE_MS - 1);
    await sleep(300);
    expect(leases[0]?.signal.aborted).toBe(false);
    expect(leases[0]?.remainingMs()).toBeCloseTo(1);
    clocks.pass(1.001);
    await waitFor(() => expect(leases[0]?.signal.aborted).toBe(true));
    jobs.broken = false;
  });

  test.each(['wallMs', 'monotonicMs'] as const)(
    'a lease ends at once when only %s has advanced',
    async (clock) => {
      const leases: Lease[] = [];
      const run: Run = async (_, lease) => {
        leases.push(lease);
        await gate(lease).promise;
        return 'interrupted';
      };
      const { clocks, add } = start(run, {}, { renewIntervalMs: 60_000 });
      add();
      await waitFor(() => expect(leases).toHaveLength(1));
      clocks[clock] += LEASE_MS;
      // Without a timer in between: the first check of a stopped process that continues. Sums of clocks are not exact.
      expect(leases[0]?.remainingMs()).toBeLessThan(1e-6);
    },
  );

  test('a claim that took longer than the lease starts no run', async () => {
    const run = vi.fn<Run>(async () => 'done');
    const { jobs, clocks, add } = start(run);
    const claim = jobs.claim.bind(jobs);
    jobs.claim = async (rooms) => {
      const claimed = await claim(rooms);
      if (claimed.length > 0) clocks.pass(LEASE_MS);
      return claimed;
    };
    const job = add();
    await waitFor(() => expect(jobs.released).toEqual([job.claim_id]));
    expect(run).not.toHaveBeenCalled();
  });

  test('runs nothing before it starts, and what is due then at once', async () => {
    const jobs = new MemoryJobs();
    jobs.add();
    const ran = vi.fn<Run>(async () => 'done');
    const stores = { store: { jobs }, leaseStore: { jobs } };
    const runner = new JobRunner({ ...stores, log: silentLog, onRun: () => undefined });
    runner.add(turnJobs({ run: ran }, 0));
    ending.push(() => runner.stop());
    runner.runDue();
    await sleep(50);
    expect(ran).not.toHaveBeenCalled();
    runner.start();
    await waitFor(() => expect(ran).toHaveBeenCalledOnce());
  });

  test('a stop lets runs hand over, aborts the others, and releases every job', async () => {
    const ends: string[] = [];
    const run: Run = async ({ claim_id }, lease) => {
      const { promise, open } = gate();
      const isCooperative = claim_id === cooperative.claim_id;
      (isCooperative ? lease.draining : lease.signal).addEventListener('abort', open);
      await promise;
      ends.push(isCooperative ? 'handed over' : 'aborted');
      return 'interrupted';
    };
    const { jobs, runner, add } = start(run, { drainMs: 1_500 });
    const cooperative = add();
    const stubborn = add();
    await waitFor(() => expect(runner.count(JOB_KIND.turn)).toBe(2));
    const stopping = runner.stop();
    await waitFor(() => expect(jobs.released).toEqual([cooperative.claim_id]), { interval: 5 });
    await stopping;
    expect(jobs.released).toEqual([cooperative.claim_id, stubborn.claim_id]);
    expect(ends).toEqual(['handed over', 'aborted']);
    add();
    await sleep(50);
    expect(jobs.waiting).toHaveLength(1);
  });

  test('a job is released even if its run never ends', async () => {
    const { jobs, runner, add } = start(() => new Promise(() => undefined), { drainMs: 20 });
    const job = add();
    await waitFor(() => expect(runner.count(JOB_KIND.turn)).toBe(1));
    await runner.stop();
    expect(jobs.released).toEqual([job.claim_id]);
  });

  test('says that the database is lost once nothing could be claimed or renewed for a while, until it answers', async () => {
    const { jobs, clocks, runner, add } = start(() => new Promise(() => undefined));
    add();
    await waitFor(() => expect(jobs.renewed).not.toEqual([]));
    jobs.broken = true;
    clocks.pass(16_000);
    await waitFor(() => expect(runner.trouble).toMatch(/for 15 s$/));
    jobs.broken = false;
    add();
    await waitFor(() => expect(runner.trouble).toBeUndefined());
  });
});

describe('several processes on one database', async () => {
  const database = await freshDatabase();
  const store = new Store(database.kysely);

  async function start(run: Run, kind: Partial<JobKind> = {}) {
    const runner = new JobRunner({ store, leaseStore: store, log: silentLog, onRun: () => undefined });
    runner.add({ ...turnJobs({ run }, 0), ...kind });
    runner.start();
    const due = setInterval(() => runner.runDue(), 200);
    ending.push(async () => {
      clearInterval(due);
      await runner.stop();
    });
    runner.runDue();
    return runner;
  }

  const send = (thread: ReturnType<typeof newThread>) =>
    store.jobs.want({ ...thread, kind: JOB_KIND.turn, key: '' });
  const nothingLeft = () =>
    waitFor(async () => expect(await jobCounts(database)).toEqual({ waiting: 0, held: 0 }), {
      timeout: 60_000,
    });

  test('a thread has one run at a time, and another for what was asked for while it ran', async () => {
    const atWork = new Set<string>();
    const lastBegin = new Map<string, number>();
    const lastAsked = new Map<string, number>();
    let overlaps = 0;
    const run: Run = async ({ thread_ts }) => {
      if (atWork.has(thread_ts)) overlaps += 1;
      atWork.add(thread_ts);
      lastBegin.set(thread_ts, performance.now());
      await sleep(Math.random() * 10);
      atWork.delete(thread_ts);
      return Math.random() < 0.2 ? { inMs: 0 } : 'done';
    };
    await start(run, { most: 3, share: 3 });
    await start(run, { most: 3, share: 3 });
    const threads = Array.from({ length: 6 }, newThread);
    for (let index = 0; index < 20; index += 1)
      await Promise.all(
        threads.map(async (thread) => {
          const asked = performance.now();
          await send(thread);
          lastAsked.set(thread.thread_ts, asked);
        }),
      );
    await nothingLeft();
    expect(overlaps).toBe(0);
    for (const [thread, asked] of lastAsked) expect(lastBegin.get(thread)).toBeGreaterThan(asked);
  });

  test('one loop holds hundreds of jobs', async () => {
    const { promise, open } = gate();
    const runner = await start(async () => {
      await promise;
      return 'done';
    });
    await Promise.all(Array.from({ length: 600 }, () => send(newThread())));
    await waitFor(() => expect(runner.count(JOB_KIND.turn)).toBe(600), { timeout: 30_000 });
    open();
    await nothingLeft();
  });

  test('a process that stops hands its threads to another soon', async () => {
    const runs: string[] = [];
    const run: Run = async (_, lease) => {
      runs.push('leaving');
      const { promise, open } = gate();
      lease.draining.addEventListener('abort', open);
      await promise;
      return 'interrupted';
    };
    const leaving = await start(run, { drainMs: 5_000 });
    await send(newThread());
    await waitFor(() => expect(runs).toEqual(['leaving']));
    await start(async () => {
      runs.push('staying');
      return 'done';
    });
    const stopped = performance.now();
    await leaving.stop();
    await waitFor(() => expect(runs).toEqual(['leaving', 'staying']), { interval: 5 });
    // Where it is not handed over, the lease has to run out.
    expect(performance.now() - stopped).toBeLessThan(withinMs(5_000));
  });

  test('the thread of a killed process moves to another within 13 s, and not before the lease is over', async () => {
    const runs: string[] = [];
    const { rows } = await database.pool.query<{ name: string }>('select current_database() as name');
    const url = connectionUrl({ ...inject('databaseServer'), database: rows[0]?.name ?? '' });
    const thread = newThread();
    await send(thread);
    const worker = spawn(process.execPath, [compiledProgram('test/support/job-runner-process.ts'), url]);
    ending.push(async () => void worker.kill('SIGKILL'));
    await says(worker, thread.thread_ts);
    await start(async ({ thread_ts }) => {
      runs.push(thread_ts);
      return 'done';
    });
    // Longer than a claim lasts: the worker is alive and renews.
    await sleep(11_000);
    expect(runs).toEqual([]);
    worker.kill('SIGKILL');
    const killed = performance.now();
    await waitFor(() => expect(runs).toEqual([thread.thread_ts]), { timeout: 20_000, interval: 20 });
    const tookMs = performance.now() - killed;
    expect(tookMs).toBeGreaterThan(5_000);
    expect(tookMs).toBeLessThan(withinMs(17_000));
  });
});

function says(child: ChildProcess, word: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk) => {
      if (String(chunk).includes(word)) resolve();
    });
    child.once('exit', () => reject(new Error(`ended before it said ${word}`)));
  });
}
