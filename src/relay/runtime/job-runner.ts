import type { Logger } from 'pino';
import { askedBy } from '../../calls/askers.ts';
import { type ClockReading, readClocks, SYSTEM_CLOCKS } from '../../calls/clocks.ts';
import { unlessAborted } from '../../calls/retries-and-waits.ts';
import type { Jobs, NextRun } from '../../store/jobs/jobs.ts';
import type { Job } from '../../store/schema.ts';
import { type Lease, RenewableLease } from './lease.ts';
import { Poller } from './poller.ts';
import { isOverdue, transientFailure } from './retry-and-giving-up.ts';

/** Most jobs of a kind that a process runs at a time. */
const MAX_CONCURRENT = 100;
/** How long a claim lasts and how often it is renewed (ms); a lease ends before its claim. */
const CLAIM_MS = 30_000;
const LEASE_MS = 25_000;
const RENEW_INTERVAL_MS = 8_000;
/** How long it is tried to tell of a job that was given up (ms). */
const TELL_FOR_MS = 2 * 24 * 60 * 60_000;
/** How long running jobs may take to end when the process stops (ms). */
const STOP_GRACE_MS = 1_500;

/**
 * `given_up`: the thing is bad, so the job ends, and those whom it concerns were told; `later`: no progress, so the pauses
 * grow; else the job has made progress, and runs again.
 */
export type JobOutcome = 'done' | 'given_up' | 'later' | NextRun;

/** What a kind of jobs does, and its limits. */
export interface JobKind {
  readonly kind: string;
  /** Most of one workspace in one process: others do not wait for its service, or for its Slack. */
  readonly share: number;
  /** How long one run may take (ms): it may hold a place only for so long. */
  readonly timeoutMs: number;
  /** A job without progress for this long (ms) is given up. */
  readonly giveUpAfterMs: number;
  /** Done jobs stay known for some days. */
  readonly isRemembered?: boolean;
  /** Does the work, or a part of it. It may be repeated. The lease ends with the run's time, and drains at a stop. */
  perform(job: Job, lease: Lease): Promise<JobOutcome>;
  /** Tells whom it concerns that the time is over, in place of the next attempt. `counted`: the metric of all jobs is enough. */
  readonly onGivenUp: 'counted' | ((job: Job, lease: Lease) => Promise<void>);
}

export interface JobRunnerDeps {
  store: { jobs: Jobs };
  log: Logger;
  /** Called for each run: it is done, made progress, made none, or was given up. */
  onRun: (kind: string, outcome: 'done' | 'again' | 'failed' | 'given_up') => void;
}

/** A job that this process runs. */
interface Run {
  job: Job;
  lease: RenewableLease;
  ended: Promise<void>;
}

/** Runs the due jobs of all kinds: of each workspace a few at a time, each for a limited time. */
export class JobRunner {
  readonly #deps: JobRunnerDeps;
  readonly #kinds = new Map<string, JobKind>();
  readonly #runs = new Map<string, Run>();
  readonly #poller: Poller;
  readonly #renewals: Poller;

  constructor(deps: JobRunnerDeps) {
    this.#deps = deps;
    this.#poller = new Poller({
      poll: () => this.#claimDue(),
      onError: (error) => deps.log.warn({ err: error }, 'could not read the due jobs'),
    });
    this.#renewals = new Poller({
      intervalMs: RENEW_INTERVAL_MS,
      poll: () => this.#renewClaims(),
      onError: (error) => deps.log.debug({ err: error }, 'could not renew the claims of jobs'),
    });
  }

  /** Runs this kind of jobs, too. */
  add(kind: JobKind): void {
    this.#kinds.set(kind.kind, kind);
  }

  start(): void {
    this.#renewals.start();
  }

  /** Begins the jobs that are due. */
  runDue(): void {
    this.#poller.pollNow();
  }

  /** Starts no more jobs. Those under way may end; the others are due at once, for another process. */
  async stop(): Promise<void> {
    await this.#poller.stop();
    const runs = [...this.#runs.values()];
    for (const { lease } of runs) lease.drain();
    const giveUp = setTimeout(() => {
      for (const { lease } of runs) endLease(lease);
    }, STOP_GRACE_MS);
    await Promise.all(runs.map(({ ended }) => ended));
    clearTimeout(giveUp);
    await this.#renewals.stop();
  }

  async #claimDue(): Promise<void> {
    const claimedAt = readClocks(SYSTEM_CLOCKS);
    const rooms = [...this.#kinds.values()].map(({ kind, share }) => {
      return { kind, share, room: MAX_CONCURRENT - this.#count(kind) };
    });
    const claimed = await this.#deps.store.jobs.claim(rooms, [...this.#runs.keys()], CLAIM_MS);
    for (const job of claimed) this.#begin(job, claimedAt);
  }

  async #renewClaims(): Promise<void> {
    const renewedAt = readClocks(SYSTEM_CLOCKS);
    const runs = [...this.#runs];
    if (runs.length === 0) return;
    const claims = runs.map(([claim]) => claim);
    const renewed = new Set(await this.#deps.store.jobs.renew(claims, CLAIM_MS));
    for (const [claim, { lease }] of runs) {
      if (renewed.has(claim)) lease.renew(renewedAt);
      else lease.lose('another process may have the job');
    }
  }

  /** How many jobs of a kind this process runs, of a workspace or of all. */
  #count(kind: string, workspace?: string): number {
    const isCounted = ({ job }: Run) => job.kind === kind && (workspace ?? job.workspace) === job.workspace;
    return [...this.#runs.values()].filter(isCounted).length;
  }

  #begin(job: Job, claimedAt: ClockReading): void {
    const kind = this.#kinds.get(job.kind);
    const { claim_id: claim } = job;
    if (kind === undefined || claim === null) throw new Error(`no job of this kind can run: ${job.kind}`);
    const lease = new RenewableLease(claimedAt, SYSTEM_CLOCKS, LEASE_MS);
    if (this.#poller.signal.aborted) endLease(lease);
    const ended = this.#run(kind, job, lease).finally(() => {
      const wasFull =
        this.#count(job.kind) >= MAX_CONCURRENT || this.#count(job.kind, job.workspace) >= kind.share;
      this.#runs.delete(claim);
      if (wasFull) this.#poller.pollNow();
    });
    this.#runs.set(claim, { job, lease, ended });
  }

  /** Runs a job and records the outcome. Where that fails, the claim ends by itself. */
  async #run(kind: JobKind, job: Job, lease: RenewableLease): Promise<void> {
    const timeout = AbortSignal.timeout(kind.timeoutMs);
    timeout.addEventListener('abort', () => lease.lose('the job takes too long'));
    try {
      await this.#record(kind, job, await this.#outcomeOf(kind, job, lease));
    } catch (error) {
      this.#deps.log.warn({ ...labelsOf(job), err: error }, 'could not record a job');
    }
  }

  async #outcomeOf(kind: JobKind, job: Job, lease: Lease): Promise<RunOutcome> {
    const { log } = this.#deps;
    const triedSince = job.tried_since ?? new Date();
    const isOver = isOverdue(triedSince, kind.giveUpAfterMs);
    const perform = () => askedBy(kind.kind, () => kind.perform(job, lease));
    try {
      lease.signal.throwIfAborted();
      if (!isOver) return await unlessAborted(perform(), lease.signal);
      log.warn(labelsOf(job), 'gave up a job');
      if (kind.onGivenUp !== 'counted') await unlessAborted(kind.onGivenUp(job, lease), lease.signal);
      return 'given_up';
    } catch (error) {
      if (lease.draining.aborted) return 'interrupted';
      const outage = transientFailure(error);
      log[outage === undefined ? 'warn' : 'info']({ ...labelsOf(job), err: error }, 'a job failed');
      // In an outage, or where it took too long, nobody was told: it is tried again.
      const mayPass = outage !== undefined || lease.signal.aborted;
      const isTelling = mayPass && !isOverdue(triedSince, kind.giveUpAfterMs + TELL_FOR_MS);
      if (isOver && !isTelling) return 'given_up';
      return { waitMs: outage?.waitMs ?? 0 };
    }
  }

  async #record(kind: JobKind, job: Job, outcome: RunOutcome): Promise<void> {
    const { store, onRun } = this.#deps;
    if (outcome === 'interrupted') return await store.jobs.release(job);
    if (outcome === 'done' || outcome === 'given_up') {
      await store.jobs.done(job, kind.isRemembered === true);
      onRun(kind.kind, outcome);
    } else if (outcome === 'later' || 'waitMs' in outcome) {
      await store.jobs.failed(job, outcome === 'later' ? 0 : outcome.waitMs);
      onRun(kind.kind, 'failed');
    } else {
      await store.jobs.again(job, outcome);
      onRun(kind.kind, 'again');
    }
  }
}

function endLease(lease: RenewableLease): void {
  lease.drain();
  lease.lose('the process is stopping');
}

type RunOutcome = JobOutcome | 'interrupted' | { waitMs: number };

/** What a job is called in the log. */
function labelsOf({ kind: job, workspace, channel, thread_ts, key }: Job) {
  return { job, workspace, channel, thread_ts, key };
}
