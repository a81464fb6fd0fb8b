import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, inject, test, vi } from 'vitest';
import { connectionUrl } from '../../../sandbox/postgres-server.ts';
import type { Clocks } from '../../../src/calls/clocks.ts';
import { LEASE_MS, type Lease } from '../../../src/relay/runtime/lease.ts';
import { Dispatcher, type DispatcherOptions, type JobSource } from '../../../src/relay/turns/dispatcher.ts';
import { StoreError } from '../../../src/store/errors.ts';
import { type JobHolder, type ThreadJob, ThreadQueue } from '../../../src/store/queue/thread-queue.ts';
import type { ThreadKey } from '../../../src/store/schema.ts';
import { compiledProgram } from '../../support/compiled-programs.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { jobCounts } from '../../support/job-counts.ts';
import { silentLog } from '../../support/silent-log.ts';
import { waitFor } from '../../support/wait-for.ts';

const ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

let count = 0;
function newThread(): ThreadKey {
  count += 1;
  return { workspace: 'T1', channel: 'C1', thread_ts: `${1_792_000_000 + count}.000100` };
}

/** A promise that the test settles, and that ends with the lease. */
function gate(lease?: Lease) {
  const { promise, resolve } = Promise.withResolvers<void>();
  lease?.signal.addEventListener('abort', () => resolve());
  return { promise, open: () => resolve() };
}

describe('one process', () => {
  /** A queue in memory: what was asked of it, and jobs to claim. */
  class MemoryQueue implements JobSource {
    waiting: ThreadJob[] = [];
    lost = new Set<string>();
    broken = false;
    completed: string[] = [];
    released: string[] = [];
    renewed: string[][] = [];
    wake: () => void = () => undefined;
    holder: JobHolder | undefined;

    add(): ThreadJob {
      const job = { id: `job-${count}`, retryCount: 0, thread: newThread() };
      this.waiting.push(job);
      this.wake();
      return job;
    }
    async claim(most: number): Promise<ThreadJob[]> {
      return this.waiting.splice(0, most);
    }
    async renew(jobs: readonly ThreadJob[]): Promise<ThreadJob[]> {
      if (this.broken) throw new Error('no database');
      this.renewed.push(jobs.map(({ id }) => id));
      return jobs.filter(({ id }) => !this.lost.has(id));
    }
    async complete(jobs: readonly ThreadJob[]): Promise<void> {
      if (this.broken) throw new Error('no database');
      this.completed.push(...jobs.map(({ id }) => id));
    }
    async release(jobs: readonly ThreadJob[]): Promise<void> {
      if (this.broken) throw new Error('no database');
      this.released.push(...jobs.map(({ id }) => id));
    }
    onWake(listener: () => void): () => void {
      this.wake = listener;
      return () => {
        this.wake = () => undefined;
      };
    }
  }

  class TestClocks implements Clocks {
    wallMs = 1_792_000_000_000;
    monotonicMs = 0;
    wall(): number {
      return this.wallMs;
    }
    monotonic(): number {
      return this.monotonicMs;
    }
    pass(ms: number): void {
      this.wallMs += ms;
      this.monotonicMs += ms;
    }
  }

  function start(options: Partial<DispatcherOptions> & Pick<DispatcherOptions, 'run'>, holder?: JobHolder) {
    const queue = new MemoryQueue();
    queue.holder = holder;
    const clocks = new TestClocks();
    const dispatcher = new Dispatcher({ queue, log: silentLog, clocks, renewIntervalMs: 20, ...options });
    dispatcher.start();
    ending.push(() => dispatcher.stop(0));
    return { queue, clocks, dispatcher };
  }

  test('the dispatcher completes a job whose run returned', async () => {
    const { queue, dispatcher } = start({ run: async () => undefined });
    const job = queue.add();
    await waitFor(() => expect(queue.completed).toEqual([job.id]));
    await waitFor(() => expect(dispatcher.heldJobCount).toBe(0));
    expect(queue.released).toEqual([]);
  });

  test('the dispatcher neither completes nor releases a job that its run completed, and claims the next one', async () => {
    const { queue, dispatcher } = start({
      maxConcurrentThreads: 1,
      pollIntervalMs: 60_000,
      run: async (_, __, completion) => {
        completion.isCommitted = true;
      },
    });
    queue.add();
    queue.add();
    await waitFor(() => expect(queue.waiting).toEqual([]));
    await waitFor(() => expect(dispatcher.heldJobCount).toBe(0));
    expect([...queue.completed, ...queue.released]).toEqual([]);
  });

  test('the dispatcher claims no more jobs than it may hold, and the rest as soon as there is room', async () => {
    const gates = new Map<string, () => void>();
    const { queue, dispatcher } = start({
      maxConcurrentThreads: 2,
      run: async ({ thread_ts }, lease) => {
        const { promise, open } = gate(lease);
        gates.set(thread_ts, open);
        await promise;
      },
    });
    const jobs = [queue.add(), queue.add(), queue.add()];
    await waitFor(() => expect(gates.size).toBe(2));
    await sleep(50);
    expect(dispatcher.heldJobCount).toBe(2);
    gates.get(jobs[0]?.thread.thread_ts ?? '')?.();
    await waitFor(() => expect(gates.size).toBe(3));
  });

  test('the dispatcher holds the job of a failed run for a while, and then releases it', async () => {
    const { queue } = start({
      retryDelayMs: 100,
      run: async () => {
        throw new Error('a mistake');
      },
    });
    const job = queue.add();
    await sleep(60);
    expect(queue.released).toEqual([]);
    await waitFor(() => expect(queue.released).toEqual([job.id]));
    expect(queue.completed).toEqual([]);
  });

  test('a job whose run lost the database is released soon', async () => {
    const { queue } = start({
      retryDelayMs: 60_000,
      run: async () => {
        throw new StoreError('unavailable', 'The connection broke off.');
      },
    });
    const job = queue.add();
    await waitFor(() => expect(queue.released).toEqual([job.id]));
  });

  test('nothing is claimed or sent while another process may have taken over, and all is lost once it has', async () => {
    const leases: Lease[] = [];
    let taken: () => void = () => undefined;
    const holder = {
      id: 'ours',
      isHeld: true,
      onTaken: (listener: () => void) => {
        taken = listener;
      },
    };
    const run = async (_: ThreadKey, lease: Lease) => {
      leases.push(lease);
      await new Promise(() => undefined);
    };
    const { queue } = start({ pollIntervalMs: 20, run }, holder);
    queue.add();
    await waitFor(() => expect(leases).toHaveLength(1));
    expect(leases[0]?.remainingMs()).toBeGreaterThan(0);
    holder.isHeld = false;
    expect(leases[0]?.remainingMs()).toBe(0);
    queue.add();
    await waitFor(() => expect(leases[0]?.signal.aborted).toBe(true));
    expect(queue.waiting).toHaveLength(1);
    holder.isHeld = true;
    await waitFor(() => expect(leases).toHaveLength(2));
    expect(leases[1]?.signal.aborted).toBe(false);
    taken();
    expect(leases[1]?.signal.aborted).toBe(true);
  });

  test('a run whose job is missing from the answer to a renewal is aborted, and its job no longer renewed', async () => {
    const leases: Lease[] = [];
    const { queue } = start({
      run: async (_, lease) => {
        leases.push(lease);
        await new Promise(() => undefined);
      },
    });
    const [lost, kept] = [queue.add(), queue.add()];
    await waitFor(() => expect(leases).toHaveLength(2));
    queue.lost.add(lost.id);
    await waitFor(() => expect(leases[0]?.signal.aborted).toBe(true));
    expect(leases[0]?.remainingMs()).toBe(0);
    expect(leases[1]?.signal.aborted).toBe(false);
    queue.renewed = [];
    await waitFor(() => expect(queue.renewed.length).toBeGreaterThan(1));
    expect(queue.renewed.flat()).not.toContain(lost.id);
    expect(queue.renewed.flat()).toContain(kept.id);
  });

  test('a lease runs out when renewals fail, before another process may have the job', async () => {
    const leases: Lease[] = [];
    const { queue, clocks } = start({
      run: async (_, lease) => {
        leases.push(lease);
        await gate(lease).promise;
      },
    });
    queue.add();
    await waitFor(() => expect(leases).toHaveLength(1));
    clocks.pass(5_000);
    await waitFor(() => expect(leases[0]?.remainingMs()).toBe(LEASE_MS));
    queue.broken = true;
    clocks.pass(LEASE_MS - 1);
    await sleep(300);
    expect(leases[0]?.signal.aborted).toBe(false);
    expect(leases[0]?.remainingMs()).toBe(1);
    clocks.pass(1);
    await waitFor(() => expect(leases[0]?.signal.aborted).toBe(true));
    queue.broken = false;
  });

  test.each(['wallMs', 'monotonicMs'] as const)(
    'a lease ends at once when only %s has advanced',
    async (clock) => {
      const leases: Lease[] = [];
      const { queue, clocks } = start({
        renewIntervalMs: 60_000,
        run: async (_, lease) => {
          leases.push(lease);
          await gate(lease).promise;
        },
      });
      queue.add();
      await waitFor(() => expect(leases).toHaveLength(1));
      clocks[clock] += LEASE_MS;
      // Without a timer in between: the first check of a stopped process that continues.
      expect(leases[0]?.remainingMs()).toBeLessThanOrEqual(0);
    },
  );

  test('a job that is handed back late does not drop the entry of its new run', async () => {
    const gates: (() => void)[] = [];
    const { queue, clocks, dispatcher } = start({
      renewIntervalMs: 60_000,
      run: async (_, lease) => {
        const { promise, open } = gate();
        gates.push(open);
        if (gates.length === 1) lease.signal.addEventListener('abort', open);
        await promise;
      },
    });
    const settle = Promise.withResolvers<void>();
    const release = queue.release.bind(queue);
    queue.release = async (jobs) => {
      await settle.promise;
      await release(jobs);
    };
    const job = queue.add();
    await waitFor(() => expect(gates).toHaveLength(1));
    clocks.pass(LEASE_MS + 1);
    await sleep(400);
    queue.waiting.push(job);
    queue.wake();
    await waitFor(() => expect(gates).toHaveLength(2));
    settle.resolve();
    await waitFor(() => expect(queue.released).toEqual([job.id]));
    expect(dispatcher.heldJobCount).toBe(1);
    gates[1]?.();
    await waitFor(() => expect(queue.completed).toEqual([job.id]));
  });

  test('a claim that took longer than the lease starts no run', async () => {
    const run = vi.fn<DispatcherOptions['run']>(async () => undefined);
    const { queue, clocks } = start({ run });
    const claim = queue.claim.bind(queue);
    queue.claim = async (most) => {
      const jobs = await claim(most);
      if (jobs.length > 0) clocks.pass(LEASE_MS);
      return jobs;
    };
    // The claim under way is still the old one.
    queue.wake();
    await sleep(20);
    const job = queue.add();
    await waitFor(() => expect(queue.released).toEqual([job.id]));
    expect(run).not.toHaveBeenCalled();
  });

  test('a run is asked to hand over before the queue would end it', async () => {
    const { queue, clocks } = start({
      maxRunMs: 1_000,
      run: async (_, lease) => {
        const { promise, open } = gate();
        lease.draining.addEventListener('abort', open);
        await promise;
      },
    });
    const job = queue.add();
    await sleep(50);
    clocks.pass(1_001);
    await waitFor(() => expect(queue.released).toEqual([job.id]));
    expect(queue.completed).toEqual([]);
  });

  test('jobs that ended during an outage are completed after it', async () => {
    const { queue } = start({ run: async () => undefined });
    queue.broken = true;
    const job = queue.add();
    await sleep(50);
    expect(queue.completed).toEqual([]);
    queue.broken = false;
    await waitFor(() => expect(queue.completed).toEqual([job.id]));
  });

  test('a dispatcher that stops lets runs hand over, aborts the others, and releases every job', async () => {
    const ends: string[] = [];
    const { queue, dispatcher } = start({
      run: async ({ thread_ts }, lease) => {
        const { promise, open } = gate();
        const isCooperative = thread_ts === cooperative.thread.thread_ts;
        (isCooperative ? lease.draining : lease.signal).addEventListener('abort', open);
        await promise;
        ends.push(isCooperative ? 'handed over' : 'aborted');
      },
    });
    const cooperative = queue.add();
    const stubborn = queue.add();
    await waitFor(() => expect(dispatcher.heldJobCount).toBe(2));
    const stopping = dispatcher.stop(1_500);
    await waitFor(() => expect(queue.released).toEqual([cooperative.id]), { interval: 5 });
    await stopping;
    expect(queue.released).toEqual([cooperative.id, stubborn.id]);
    expect(ends).toEqual(['handed over', 'aborted']);
    queue.add();
    await sleep(50);
    expect(queue.waiting).toHaveLength(1);
  });

  test('a job is released even if its run never ends', async () => {
    const { queue, dispatcher } = start({ run: () => new Promise(() => undefined) });
    const job = queue.add();
    await waitFor(() => expect(dispatcher.heldJobCount).toBe(1));
    await dispatcher.stop(20);
    expect(queue.released).toEqual([job.id]);
  });
});

describe('several processes on one database', async () => {
  const database = await freshDatabase();

  async function start(run: DispatcherOptions['run'], options: Partial<DispatcherOptions> = {}) {
    const queue = new ThreadQueue({ database, log: silentLog });
    await queue.start();
    const dispatcher = new Dispatcher({ queue, log: silentLog, run, ...options });
    dispatcher.start();
    const expiry = setInterval(() => void queue.releaseExpired().catch(() => undefined), 1_000);
    ending.push(async () => {
      clearInterval(expiry);
      await dispatcher.stop(0);
      await queue.stop();
    });
    return { queue, dispatcher };
  }

  const send = (queue: ThreadQueue, thread: ThreadKey) => queue.enqueue(database.kysely, thread);

  test('a waiting thread starts at once, and its next job right after', async () => {
    let began = 0;
    // Without a wake-up, it polls once a minute.
    const { queue } = await start(
      async () => {
        began += 1;
      },
      { pollIntervalMs: 60_000 },
    );
    const thread = newThread();
    await sleep(100);
    for (let index = 0; index < 20; index += 1) await send(queue, thread);
    await waitFor(() => expect(began).toBe(20));
  });

  test('a thread has one run at a time and keeps its order, even if runs fail', async () => {
    const atWork = new Set<string>();
    const ends = new Map<string, number>();
    let overlaps = 0;
    let failures = 0;
    let runs = 0;
    const run: DispatcherOptions['run'] = async ({ thread_ts }) => {
      if (atWork.has(thread_ts)) overlaps += 1;
      atWork.add(thread_ts);
      await sleep(Math.random() * 10);
      atWork.delete(thread_ts);
      runs += 1;
      if (runs % 5 === 0) {
        failures += 1;
        throw new Error('a mistake');
      }
      ends.set(thread_ts, (ends.get(thread_ts) ?? 0) + 1);
    };
    const { queue } = await start(run, { retryDelayMs: 5, maxConcurrentThreads: 3 });
    await start(run, { retryDelayMs: 5, maxConcurrentThreads: 3 });
    const threads = Array.from({ length: 6 }, newThread);
    for (let index = 0; index < 5; index += 1)
      await Promise.all(threads.map((thread) => send(queue, thread)));
    // A job whose end could not be told in time is run once more: it is only a token.
    const all = () => threads.every(({ thread_ts }) => (ends.get(thread_ts) ?? 0) >= 5);
    await waitFor(() => expect(all()).toBe(true), { timeout: 60_000 });
    expect(overlaps).toBe(0);
    expect(failures).toBeGreaterThan(0);
    await waitFor(async () => expect(await jobCounts(database)).toEqual({ waiting: 0, held: 0 }), {
      timeout: 60_000,
    });
  });

  test('one loop holds hundreds of jobs', async () => {
    const { promise, open } = gate();
    const { queue, dispatcher } = await start(() => promise);
    await queue.enqueueMissing(Array.from({ length: 600 }, newThread));
    await waitFor(() => expect(dispatcher.heldJobCount).toBe(600), { timeout: 30_000 });
    open();
    await waitFor(async () => expect(await jobCounts(database)).toEqual({ waiting: 0, held: 0 }), {
      timeout: 60_000,
    });
  });

  test('a process that stops hands its threads to another soon', async () => {
    const runs: string[] = [];
    const leaving = await start(async (_, lease) => {
      runs.push('leaving');
      const { promise, open } = gate();
      lease.draining.addEventListener('abort', open);
      await promise;
    });
    await send(leaving.queue, newThread());
    await waitFor(() => expect(runs).toEqual(['leaving']));
    await start(async () => {
      runs.push('staying');
    });
    const stopped = performance.now();
    await leaving.dispatcher.stop(5_000);
    await waitFor(() => expect(runs).toEqual(['leaving', 'staying']), { interval: 5 });
    // Where it is not handed over, the lease has to run out.
    expect(performance.now() - stopped).toBeLessThan(5_000);
  });

  test('the thread of a killed process moves to another within 13 s, and not before the lease is over', async () => {
    const runs: string[] = [];
    const { rows } = await database.pool.query<{ name: string }>('select current_database() as name');
    const url = connectionUrl({ ...inject('databaseServer'), database: rows[0]?.name ?? '' });
    const thread = newThread();
    const queue = new ThreadQueue({ database, log: silentLog });
    await queue.start();
    await send(queue, thread);
    await queue.stop();
    const worker = spawn(process.execPath, [compiledProgram('test/support/dispatcher-process.ts'), url]);
    ending.push(async () => void worker.kill('SIGKILL'));
    await says(worker, thread.thread_ts);
    await start(async ({ thread_ts }) => void runs.push(thread_ts));
    // Longer than the queue waits for a sign of life: the worker is alive and renews.
    await sleep(11_000);
    expect(runs).toEqual([]);
    worker.kill('SIGKILL');
    const killed = performance.now();
    await waitFor(() => expect(runs).toEqual([thread.thread_ts]), { timeout: 20_000, interval: 20 });
    const tookMs = performance.now() - killed;
    expect(tookMs).toBeGreaterThan(5_000);
    expect(tookMs).toBeLessThan(17_000);
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
