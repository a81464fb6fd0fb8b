import type { Transaction } from 'kysely';
import type { Logger } from 'pino';
import { type ClockReading, type Clocks, elapsedMs, readClocks, SYSTEM_CLOCKS } from '../../calls/clocks.ts';
import { anySignal, sleepUnlessAborted } from '../../calls/retries-and-waits.ts';
import type { ThreadJob, ThreadQueue } from '../../store/queue/thread-queue.ts';
import type { Tables, ThreadKey } from '../../store/schema.ts';
import { LEASE_MS, type Lease, RenewableLease } from '../runtime/lease.ts';
import { Poller } from '../runtime/poller.ts';
import { transientFailure } from '../runtime/retry-and-giving-up.ts';

/** What the dispatcher needs of the queue. */
export type JobSource = Pick<ThreadQueue, 'claim' | 'renew' | 'complete' | 'release' | 'onWake' | 'holder'>;

export interface DispatcherOptions {
  queue: JobSource;
  /** Does one thread's work; returns early when `lease.draining` is aborted. */
  run(thread: ThreadKey, lease: Lease, completion: JobCompletion): Promise<void>;
  log: Logger;
  /** Most threads that this process works on at a time; 5,000 by default. */
  maxConcurrentThreads?: number;
  /** How often to look for jobs without a wake-up: of other processes, and what they hand back. */
  pollIntervalMs?: number;
  renewIntervalMs?: number;
  /** How long a job is held at most after its run failed: less after an outage of the database. */
  retryDelayMs?: number;
  /** After this time a run is asked to hand over: the queue ends every attempt after 24 h. */
  maxRunMs?: number;
  clocks?: Clocks;
}

/** Completes a run's job together with its last writing. */
export interface JobCompletion {
  complete(trx: Transaction<Tables>): Promise<void>;
  /** Whether that transaction was committed. */
  isCommitted: boolean;
}

interface HeldJob {
  readonly job: ThreadJob;
  readonly lease: RenewableLease;
  readonly started: ClockReading;
}

const MAX_JOBS_PER_CLAIM = 500;
/** The pause between two claims (ms): each reads all waiting jobs, and wake-ups often come together. */
const CLAIM_PAUSE_MS = 20;
/** How often jobs that could not be completed or released are tried again (ms). */
const RESULT_RETRY_INTERVAL_MS = 1_000;
const LEASE_CHECK_INTERVAL_MS = 250;
const QUEUE_CALL_TIMEOUT_MS = 5_000;
/** Without a claim or a renewal for this long, the database counts as lost. */
const LOST_AFTER_MS = 15_000;
const ABORT_GRACE_MS = 1_000;

/** Claims and runs the threads' jobs of this process, thousands at a time. */
export class Dispatcher {
  readonly #options: Required<DispatcherOptions>;
  readonly #heldJobs = new Map<string, HeldJob>();
  /** Jobs whose runs have ended, and what becomes of them: sent to the queue in batches. */
  readonly #ended = new Map<HeldJob, 'complete' | 'release'>();
  readonly #claims: Poller;
  readonly #renewals: Poller;
  readonly #results: Poller;
  #leaseCheck: NodeJS.Timeout | undefined;
  /** When a claim or a renewal last succeeded. */
  #contact: ClockReading | undefined;
  #isLost = false;
  #unsubscribe: () => void = () => undefined;

  constructor(options: DispatcherOptions) {
    this.#options = {
      maxConcurrentThreads: 5_000,
      pollIntervalMs: 1_000,
      renewIntervalMs: 3_000,
      retryDelayMs: 5_000,
      maxRunMs: 23 * 3_600_000,
      clocks: SYSTEM_CLOCKS,
      ...options,
    };
    const { pollIntervalMs, renewIntervalMs, log } = this.#options;
    const poller = (intervalMs: number, poll: () => Promise<void>, failure: string) =>
      new Poller({ intervalMs, poll, onError: (err) => log.warn({ err }, `${failure}; trying again`) });
    this.#claims = poller(pollIntervalMs, () => this.#claimJobs(), 'could not claim jobs');
    this.#renewals = poller(renewIntervalMs, () => this.#renewLeases(), 'could not renew the held jobs');
    this.#results = poller(
      RESULT_RETRY_INTERVAL_MS,
      () => this.#settleEnded(),
      'could not complete or release jobs',
    );
  }

  /** How many jobs this process holds. */
  get heldJobCount(): number {
    return this.#heldJobs.size;
  }

  /** Why no work is done: nothing could be claimed or renewed for a while. */
  get trouble(): string | undefined {
    return this.#isLost ? `no job could be claimed or renewed for ${LOST_AFTER_MS / 1_000} s` : undefined;
  }

  start(): void {
    this.#contact = readClocks(this.#options.clocks);
    this.#options.queue.holder?.onTaken(() => {
      for (const { lease } of this.#heldJobs.values()) lease.lose('another process has taken over');
    });
    this.#unsubscribe = this.#options.queue.onWake(() => this.#claims.pollNow());
    for (const poller of [this.#claims, this.#renewals, this.#results]) poller.start();
    this.#leaseCheck = setInterval(() => this.#checkLeases(), LEASE_CHECK_INTERVAL_MS);
    this.#claims.pollNow();
  }

  /** Asks every run to hand over, and aborts what is left after `drainMs`. Then every job is completed or released. */
  async stop(drainMs: number): Promise<void> {
    const claimsEnded = this.#claims.stop();
    this.#unsubscribe();
    for (const { lease } of this.#heldJobs.values()) lease.drain();
    const drained = sleepUnlessAborted(drainMs);
    await Promise.race([claimsEnded.then(() => this.#waitUntilEmpty(drainMs)), drained]);
    for (const held of this.#heldJobs.values()) held.lease.lose('the process is stopping');
    await this.#waitUntilEmpty(ABORT_GRACE_MS);
    const rest = [...this.#heldJobs.values()];
    if (rest.length > 0) {
      this.#options.log.warn({ jobs: rest.length }, 'some runs did not end in time; releasing their jobs');
      for (const held of rest) this.#end(held, 'release');
      await this.#waitUntilEmpty(QUEUE_CALL_TIMEOUT_MS);
    }
    clearInterval(this.#leaseCheck);
    // A call that hangs must not hold up the stop.
    void this.#renewals.stop();
    void this.#results.stop();
  }

  async #claimJobs(): Promise<void> {
    const { queue, maxConcurrentThreads, clocks } = this.#options;
    const room = Math.min(maxConcurrentThreads - this.#heldJobs.size, MAX_JOBS_PER_CLAIM);
    const asked = this.#isHolder() ? room : 0;
    const since = readClocks(clocks);
    const jobs = await queue.claim(asked);
    if (asked > 0) this.#recordContact(since);
    for (const job of jobs) this.#startJob(job, since);
    if (asked > 0 && jobs.length === asked) this.#claims.pollNow();
    else await sleepUnlessAborted(CLAIM_PAUSE_MS, this.#claims.signal);
  }

  /** Whether what this process holds is surely still its own. */
  readonly #isHolder = () => this.#options.queue.holder?.isHeld ?? true;

  #startJob(job: ThreadJob, since: ClockReading): void {
    const held: HeldJob = {
      job,
      lease: new RenewableLease(since, this.#options.clocks, LEASE_MS, this.#isHolder),
      started: since,
    };
    this.#heldJobs.set(job.id, held);
    if (this.#claims.signal.aborted || held.lease.remainingMs() <= 0) {
      this.#end(held, 'release');
      return;
    }
    void this.#runJob(held);
  }

  async #runJob(held: HeldJob): Promise<void> {
    const { lease, job } = held;
    const { queue, run, log, retryDelayMs, maxConcurrentThreads } = this.#options;
    const completion: JobCompletion = { complete: (trx) => queue.complete([job], trx), isCommitted: false };
    try {
      await run(job.thread, lease, completion);
    } catch (error) {
      if (!lease.signal.aborted) {
        log.error({ err: error, thread: job.thread }, 'a run failed; its job will be retried');
        const { maxWaitMs = retryDelayMs } = transientFailure(error) ?? {};
        const pauseMs = Math.min(retryDelayMs, maxWaitMs);
        await sleepUnlessAborted(pauseMs, anySignal([lease.signal, lease.draining]));
      }
      this.#end(held, 'release');
      return;
    }
    if (completion.isCommitted) {
      const wasFull = this.#heldJobs.size >= maxConcurrentThreads;
      this.#forget(held);
      if (wasFull) this.#claims.pollNow();
      return;
    }
    this.#end(held, lease.draining.aborted || lease.signal.aborted ? 'release' : 'complete');
  }

  #forget(held: HeldJob): void {
    // The same job may have come back to this process meanwhile.
    if (this.#heldJobs.get(held.job.id) === held) this.#heldJobs.delete(held.job.id);
  }

  #end(held: HeldJob, how: 'complete' | 'release'): void {
    if (this.#heldJobs.get(held.job.id) !== held) return;
    this.#ended.set(held, how);
    this.#results.pollNow();
  }

  async #settleEnded(): Promise<void> {
    // Runs that end at the same moment join the batch.
    await sleepUnlessAborted(1);
    for (const how of ['complete', 'release'] as const) {
      const batch = [...this.#ended].flatMap(([held, wanted]) => (wanted === how ? [held] : []));
      if (batch.length === 0) continue;
      await this.#options.queue[how](batch.map(({ job }) => job));
      for (const held of batch) {
        this.#ended.delete(held);
        this.#forget(held);
      }
      this.#claims.pollNow();
    }
  }

  /** Renews all held jobs in one call; a job that the answer leaves out is lost. */
  async #renewLeases(): Promise<void> {
    // A run that has lost its job, and does not return, must not keep the job from other processes.
    const asked = [...this.#heldJobs.values()].filter(({ lease }) => !lease.signal.aborted);
    if (asked.length === 0) return;
    const { queue, clocks } = this.#options;
    const since = readClocks(clocks);
    const renewedJobs = await queue.renew(asked.map(({ job }) => job));
    this.#recordContact(since);
    const ownedIds = new Set(renewedJobs.map(({ id }) => id));
    for (const { job, lease } of asked) {
      if (ownedIds.has(job.id)) lease.renew(since);
      else lease.lose('another process has the job');
    }
  }

  #recordContact(since: ClockReading): void {
    this.#contact = since;
    if (this.#isLost) this.#options.log.info('the database is back');
    this.#isLost = false;
  }

  #checkLeases(): void {
    const { clocks, maxRunMs, log } = this.#options;
    if (!this.#isLost && this.#contact !== undefined && elapsedMs(this.#contact, clocks) > LOST_AFTER_MS) {
      this.#isLost = true;
      log.error(this.trouble);
    }
    for (const { lease, started } of this.#heldJobs.values()) {
      if (lease.remainingMs() <= 0) lease.lose('the lease ran out');
      if (elapsedMs(started, clocks) > maxRunMs) lease.drain();
    }
  }

  async #waitUntilEmpty(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (this.#heldJobs.size > 0 && performance.now() < deadline) await sleepUnlessAborted(10);
  }
}
