import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ThreadKey } from '../store/keys.ts';
import type { ThreadJob, ThreadQueue } from '../store/queue.ts';
import {
  type Clocks,
  elapsedMs,
  HeldLease,
  type Instant,
  instant,
  type Lease,
  systemClocks,
} from './lease.ts';

/** What the dispatcher needs of the queue. */
export type JobSource = Pick<ThreadQueue, 'claim' | 'renew' | 'complete' | 'handBack' | 'onWake'>;

export interface DispatcherOptions {
  queue: JobSource;
  /** Does one thread's work. It returns when the work is done, or early when `lease.draining` asks for it. */
  run(thread: ThreadKey, lease: Lease): Promise<void>;
  log: Logger;
  /** Threads at work in this process at one time; 5,000 when left out. */
  mostHeld?: number;
  /** How often to look for jobs when nobody tells us of one. */
  pollMs?: number;
  renewMs?: number;
  /** How long a job is kept after its run threw. */
  retryMs?: number;
  /** When a run is asked to hand over: the queue ends every attempt after 24 h. */
  longestRunMs?: number;
  clocks?: Clocks;
}

interface Held {
  readonly job: ThreadJob;
  readonly lease: HeldLease;
  readonly started: Instant;
}

const mostPerClaim = 500;
/** Between two claims (ms): each looks at all that waits, and news often come together. */
const restMs = 20;
const checkMs = 250;
const answerMs = 5_000;
const afterAbortMs = 1_000;

/** Runs the threads' jobs of this process, thousands at a time, in one loop. */
export class Dispatcher {
  readonly #options: Required<DispatcherOptions>;
  readonly #held = new Map<string, Held>();
  readonly #toComplete = new Set<Held>();
  readonly #toHandBack = new Set<Held>();
  readonly #stopping = new AbortController();
  #claiming: Promise<void> = Promise.resolve();
  #settling = false;
  #renewing = false;
  #timers: NodeJS.Timeout[] = [];
  #unsubscribe: () => void = () => undefined;
  #news = Promise.withResolvers<void>();

  constructor(options: DispatcherOptions) {
    this.#options = {
      mostHeld: 5_000,
      pollMs: 2_000,
      renewMs: 3_000,
      retryMs: 5_000,
      longestRunMs: 23 * 3_600_000,
      clocks: systemClocks,
      ...options,
    };
  }

  /** Jobs that this process holds now. */
  get held(): number {
    return this.#held.size;
  }

  start(): void {
    this.#unsubscribe = this.#options.queue.onWake(() => this.#news.resolve());
    this.#timers = [
      setInterval(() => void this.#renew(), this.#options.renewMs),
      setInterval(() => this.#check(), checkMs),
    ];
    this.#claiming = this.#claimLoop();
  }

  /**
   * Takes no more jobs and asks every run to hand over; after `drainMs` the rest is aborted. When it returns, every
   * job has been completed or given back.
   */
  async stop({ drainMs }: { drainMs: number }): Promise<void> {
    this.#stopping.abort();
    this.#news.resolve();
    this.#unsubscribe();
    for (const { lease } of this.#held.values()) lease.drain();
    await this.#claiming;
    await this.#becomesEmpty(drainMs);
    for (const held of this.#held.values()) held.lease.lose('the process stops');
    await this.#becomesEmpty(afterAbortMs);
    const rest = [...this.#held.values()];
    if (rest.length > 0) {
      this.#options.log.warn(
        { jobs: rest.length },
        'runs did not end in time; their jobs are given back as they are',
      );
      for (const held of rest) this.#settle(this.#toHandBack, held);
      await this.#becomesEmpty(answerMs);
    }
    for (const timer of this.#timers) clearInterval(timer);
  }

  async #claimLoop(): Promise<void> {
    const { queue, log, mostHeld, pollMs, clocks } = this.#options;
    while (!this.#stopping.signal.aborted) {
      const asked = Math.min(mostHeld - this.#held.size, mostPerClaim);
      let full = false;
      this.#news = Promise.withResolvers();
      try {
        const since = instant(clocks);
        const jobs = await queue.claim(asked);
        for (const job of jobs) this.#take(job, since);
        full = asked > 0 && jobs.length === asked;
      } catch (error) {
        log.warn({ err: error }, 'no jobs could be claimed; trying again');
      }
      if (full) continue;
      await pause(restMs, this.#stopping.signal);
      const idle = new AbortController();
      await Promise.race([this.#news.promise, pause(pollMs, idle.signal)]);
      idle.abort();
    }
  }

  #take(job: ThreadJob, since: Instant): void {
    const held: Held = { job, lease: new HeldLease(since, this.#options.clocks), started: since };
    this.#held.set(job.id, held);
    if (this.#stopping.signal.aborted || held.lease.remainingMs() <= 0) {
      this.#settle(this.#toHandBack, held);
      return;
    }
    void this.#run(held);
  }

  async #run(held: Held): Promise<void> {
    const { lease, job } = held;
    const { run, log, retryMs } = this.#options;
    try {
      await run(job.thread, lease);
    } catch (error) {
      if (!lease.signal.aborted) {
        log.error({ err: error, thread: job.thread }, 'a run failed; its job is tried again');
        await pause(retryMs, AbortSignal.any([lease.signal, lease.draining]));
      }
      this.#settle(this.#toHandBack, held);
      return;
    }
    this.#settle(lease.draining.aborted || lease.signal.aborted ? this.#toHandBack : this.#toComplete, held);
  }

  /** Puts a job among those to be completed or given back; many are sent as one. */
  #settle(batch: Set<Held>, held: Held): void {
    if (this.#held.get(held.job.id) !== held) return;
    batch.add(held);
    if (!this.#settling) void this.#settleAll();
  }

  async #settleAll(): Promise<void> {
    const { queue, log } = this.#options;
    this.#settling = true;
    // Lets the runs that end in the same moment come along.
    await pause(1);
    while (this.#toComplete.size + this.#toHandBack.size > 0) {
      try {
        await this.#send(this.#toComplete, (jobs) => queue.complete(jobs));
        await this.#send(this.#toHandBack, (jobs) => queue.handBack(jobs));
      } catch (error) {
        log.warn({ err: error }, 'ended jobs could not be settled; trying again');
        await pause(1_000);
      }
    }
    this.#settling = false;
  }

  async #send(batch: Set<Held>, settle: (jobs: ThreadJob[]) => Promise<void>): Promise<void> {
    if (batch.size === 0) return;
    const helds = [...batch];
    await settle(helds.map(({ job }) => job));
    for (const held of helds) {
      batch.delete(held);
      this.#held.delete(held.job.id);
    }
    this.#news.resolve();
  }

  /** One renewal for all that is held. What it does not name is not ours any more. */
  async #renew(): Promise<void> {
    // A run that lost its job and does not return must not keep it from others.
    const asked = [...this.#held.values()].filter(({ lease }) => !lease.signal.aborted);
    if (this.#renewing || asked.length === 0) return;
    this.#renewing = true;
    const { queue, log, clocks } = this.#options;
    const since = instant(clocks);
    try {
      const ours = await inTime(queue.renew(asked.map(({ job }) => job)));
      const names = new Set(ours.map(({ id }) => id));
      for (const { job, lease } of asked) {
        if (names.has(job.id)) lease.renew(since);
        else if (this.#held.has(job.id)) lease.lose('another process has the job');
      }
    } catch (error) {
      log.warn({ err: error }, 'the held jobs could not be renewed; trying again');
    } finally {
      this.#renewing = false;
    }
  }

  #check(): void {
    const { clocks, longestRunMs } = this.#options;
    for (const { lease, started } of this.#held.values()) {
      if (lease.remainingMs() <= 0) lease.lose('the lease ran out');
      if (elapsedMs(started, clocks) > longestRunMs) lease.drain();
    }
  }

  async #becomesEmpty(patienceMs: number): Promise<void> {
    const deadline = performance.now() + patienceMs;
    while (this.#held.size > 0 && performance.now() < deadline) await pause(10);
  }
}

async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
}

/** A renewal that takes longer counts as failed: the next one may get through. */
async function inTime<Value>(answer: Promise<Value>): Promise<Value> {
  const enough = new AbortController();
  const late = sleep(answerMs, undefined, { signal: enough.signal }).then(() => {
    throw new Error(`no answer within ${answerMs} ms`);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([answer, late]);
  } finally {
    enough.abort();
  }
}
