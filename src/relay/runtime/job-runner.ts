import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { askedBy } from '../../calls/askers.ts';
import { type ClockReading, elapsedMs, readClocks } from '../../calls/clocks.ts';
import { sleepUnlessAborted, within } from '../../calls/retries-and-waits.ts';
import type { JobClaim, Jobs, NextRun } from '../../store/jobs/jobs.ts';
import type { ProcessLock } from '../../store/processes/process-lock.ts';
import type { Job } from '../../store/schema.ts';
import { type Lease, RenewableLease, unlessLost } from './lease.ts';
import { inBackground, Poller } from './poller.ts';
import { isOverdue, transientFailure } from './retry-and-giving-up.ts';

/** What holds where a kind does not say: most jobs that run at a time, and of one workspace, and how long (ms). */
const DEFAULT_LIMITS = { most: 100, share: 2, timeoutMs: 30_000, giveUpAfterMs: 24 * 60 * 60_000 };
const MAX_PER_CLAIM = 500;
/** The pause between two claims (ms): each reads all due jobs, and wake-ups often come together. */
const CLAIM_PAUSE_MS = 20;
/** How long a claim lasts and how often it is renewed (ms); a lease ends before its claim. */
const CLAIM_MS = 10_000;
const RENEW_INTERVAL_MS = 3_000;
const LEASE_CHECK_INTERVAL_MS = 250;
/** The pause after a run that failed, where the pauses do not grow (ms); less after an outage of the database. */
const RETRY_DELAY_MS = 5_000;
/** For how long it is tried again to tell people of a job that was given up (ms). */
const TELL_FOR_MS = 2 * 24 * 60 * 60_000;
/** How long running jobs may take to end when the process stops, if their kind does not say (ms). */
const STOP_GRACE_MS = 1_500;
/** Longest call to the database that a stop waits for (ms). */
const CALL_TIMEOUT_MS = 5_000;
/** Without an answer about jobs for this long (ms), the database counts as lost. */
const LOST_AFTER_MS = 15_000;

/**
 * `given_up`: the thing is bad, so the job ends, and those whom it concerns were told; `later`: no progress, so the pauses
 * grow; `recorded`: what became of it is written down already; `interrupted`: it is due for another process; else the job
 * has made progress, and runs again.
 */
export type JobOutcome = 'done' | 'given_up' | 'later' | 'recorded' | 'interrupted' | NextRun;

/** What became of a run: `waitMs` is the least pause after one that failed. */
type RunOutcome = JobOutcome | { waitMs: number };

/** What a kind of jobs does, and its limits. */
export interface JobKind {
  readonly kind: string;
  /** Most of one workspace in one process: others do not wait for its service, or for its Slack. 2 by default. */
  readonly share?: number;
  /** Most in one process; 100 by default. */
  readonly most?: number;
  /** How long one run may take (ms): it may hold a place only for so long. 30 s by default. */
  readonly timeoutMs?: number;
  /** How long a run may take to hand over when the process stops (ms); 1.5 s by default. */
  readonly drainMs?: number;
  /** A job without progress for this long (ms) is given up, after a day by default. If it never is, its pauses do not grow. */
  readonly giveUpAfterMs?: number;
  /** Done jobs stay known for some days. */
  readonly isRemembered?: boolean;
  /** Does the work, or a part of it. It may be repeated. The lease ends with the run's time, and drains at a stop. */
  perform(job: Job, lease: RenewableLease): Promise<JobOutcome>;
  /** Tells whom it concerns that the time is over, in place of the next attempt. `counted`: the metric of all jobs is enough. */
  readonly onGivenUp: 'counted' | ((job: Job, lease: Lease) => Promise<void>);
}

export interface JobRunnerDeps {
  store: { jobs: Pick<Jobs, 'claim' | 'done' | 'again' | 'failed' | 'release'> };
  /** Where claims are renewed: it waits for no other statement. */
  leaseStore: { jobs: Pick<Jobs, 'renew'> };
  /** Who holds the jobs, as others know it, and whether they may have taken them away. */
  holder?: Pick<ProcessLock, 'id' | 'isHeld' | 'onTaken'>;
  log: Logger;
  /** Called for each run: it is done, made progress, made none, or was given up. */
  onRun: (kind: string, outcome: 'done' | 'again' | 'failed' | 'given_up') => void;
  renewIntervalMs?: number;
}

interface Run {
  kind: JobKind & typeof DEFAULT_LIMITS;
  job: Job;
  lease: RenewableLease;
  ended: Promise<void>;
}

/** Runs the due jobs of all kinds: of each workspace a few at a time, each for a limited time. */
export class JobRunner {
  readonly #deps: JobRunnerDeps;
  readonly #kinds = new Map<string, JobKind & typeof DEFAULT_LIMITS>();
  readonly #runs = new Map<string, Run>();
  readonly #claims: Poller;
  readonly #renewals: Poller;
  #leaseCheck: NodeJS.Timeout | undefined;
  /** The jobs that are handed back together, and the call that does it. */
  #toRelease: Pick<Job, 'claim_id'>[] = [];
  #releasing: Promise<void> | undefined;
  /** When the database last answered about jobs, whether it counts as lost since, and its last error. */
  #contact: ClockReading;
  #isLost = false;
  #failure: unknown;

  constructor(deps: JobRunnerDeps) {
    this.#deps = deps;
    this.#contact = readClocks();
    this.#claims = new Poller({
      poll: () => this.#claimDue(),
      onError: (error) => deps.log.warn({ err: error }, 'could not claim jobs; trying again'),
    });
    this.#renewals = new Poller({
      intervalMs: deps.renewIntervalMs ?? RENEW_INTERVAL_MS,
      poll: () => this.#renewClaims(),
      onError: (error) => deps.log.warn({ err: error }, 'could not renew the held jobs; trying again'),
    });
  }

  add(kind: JobKind): void {
    this.#kinds.set(kind.kind, { ...DEFAULT_LIMITS, ...kind });
  }

  /** How many jobs of a kind this process runs, of a workspace or of all. */
  count(kind: string, workspace?: string): number {
    const isCounted = ({ job }: Run) => job.kind === kind && (workspace ?? job.workspace) === job.workspace;
    return [...this.#runs.values()].filter(isCounted).length;
  }

  /** Why no work is done: the database has not answered about jobs for a while. */
  get trouble(): string | undefined {
    return this.#isLost ? `no job could be claimed or renewed for ${LOST_AFTER_MS / 1_000} s` : undefined;
  }

  start(): void {
    this.#contact = readClocks();
    this.#deps.holder?.onTaken(() => {
      for (const { lease } of this.#runs.values()) lease.lose('another process has taken over');
    });
    this.#renewals.start();
    this.#leaseCheck = setInterval(() => this.#checkLeases(), LEASE_CHECK_INTERVAL_MS);
    this.runDue();
  }

  /** Begins the jobs that are due, once the runner has started. */
  runDue(): void {
    if (this.#leaseCheck !== undefined) this.#claims.pollNow();
  }

  /** Has `write` record a job of this kind, with a claim if this process has room: a job that got the claim begins at once. */
  async record<Recorded extends { job: Job | undefined }>(
    kind: string,
    write: (claim: JobClaim | undefined) => Promise<Recorded>,
  ): Promise<Recorded> {
    const isClaiming = this.#leaseCheck !== undefined && !this.#claims.signal.aborted && this.#isHolder();
    const hasRoom = this.count(kind) < (this.#kinds.get(kind)?.most ?? 0);
    const claimedAt = readClocks();
    const claim = { id: randomUUID(), holder: this.#deps.holder?.id, holdMs: CLAIM_MS };
    const recorded = await write(isClaiming && hasRoom ? claim : undefined).catch((error: unknown) => {
      // It may be recorded all the same, with the claim.
      const released = this.#release({ claim_id: claim.id }).then(() => this.runDue());
      inBackground(released, this.#deps.log, 'could not release a job that may be recorded');
      throw error;
    });
    const { job } = recorded;
    if (job !== undefined && this.#claims.signal.aborted) await this.#release(job).catch(() => undefined);
    // What waits for the record goes on first.
    else if (job !== undefined) setImmediate(() => this.#begin(job, claimedAt));
    return recorded;
  }

  /** The database has answered what was asked at `since`. */
  recordContact(since: ClockReading): void {
    this.#contact = since;
    if (this.#isLost) this.#deps.log.info('the database is back');
    this.#isLost = false;
    this.#failure = undefined;
  }

  /** Due work could not be looked for; once the database has not answered for a while, the log says why. */
  recordFailure(error: unknown): void {
    this.#failure = error;
    this.#deps.log.debug({ err: error }, 'could not look for due work; trying again');
  }

  /** Starts no more jobs. Those under way may end or hand over in their time; the others are due at once, for another process. */
  async stop(): Promise<void> {
    // A call that hangs must not hold up the stop.
    const claimed = within(CALL_TIMEOUT_MS, this.#claims.stop(), undefined);
    for (const { lease } of this.#runs.values()) lease.drain();
    await claimed;
    const runs = [...this.#runs.values()];
    const ends = runs.map(async ({ kind: { drainMs = STOP_GRACE_MS }, lease, ended }) => {
      using _grace = setTimeout(() => endLease(lease), drainMs);
      await within(drainMs + CALL_TIMEOUT_MS, ended, undefined);
    });
    await Promise.all(ends);
    clearInterval(this.#leaseCheck);
    void this.#renewals.stop();
  }

  /** Whether what this process holds is surely still its own. */
  readonly #isHolder = () => this.#deps.holder?.isHeld ?? true;

  /** Claims and begins the due jobs for which this process has room, and then once more if that was not all. */
  async #claimDue(): Promise<void> {
    if (!this.#isHolder()) return sleepUnlessAborted(LEASE_CHECK_INTERVAL_MS, this.#claims.signal);
    const { store, holder } = this.#deps;
    const claimedAt = readClocks();
    const running = Map.groupBy(this.#runs.values(), ({ kind }) => kind);
    const rooms = [...this.#kinds.values()].map((kind) => ({
      kind: kind.kind,
      share: kind.share,
      room: Math.max(0, Math.min(kind.most - (running.get(kind)?.length ?? 0), MAX_PER_CLAIM)),
      isUnpaced: !Number.isFinite(kind.giveUpAfterMs),
    }));
    // A kind whose share is all that it may have needs no count.
    const held = [...this.#runs].flatMap(([claim, { kind }]) => (kind.share < kind.most ? [claim] : []));
    const claimed = await store.jobs.claim(rooms, held, CLAIM_MS, holder?.id);
    this.recordContact(claimedAt);
    for (const job of claimed) this.#begin(job, claimedAt);
    const isFull = rooms.some(
      ({ kind, room }) => room > 0 && claimed.filter((job) => job.kind === kind).length >= room,
    );
    if (isFull) this.#claims.pollNow();
    else await sleepUnlessAborted(CLAIM_PAUSE_MS, this.#claims.signal);
  }

  /** Renews the leases of running jobs; ends the lease of a job that this process no longer has. */
  async #renewClaims(): Promise<void> {
    // A run that has lost its job, and does not return, must not keep the job from other processes.
    const runs = [...this.#runs].filter(([, { lease }]) => !lease.signal.aborted);
    if (runs.length === 0) return;
    const renewedAt = readClocks();
    const claims = runs.map(([claim]) => claim);
    const ours = await this.#deps.leaseStore.jobs.renew(claims, CLAIM_MS);
    this.recordContact(renewedAt);
    const renewed = new Map(ours.map(({ claim_id, isRenewed }) => [claim_id, isRenewed]));
    for (const [claim, { lease }] of runs) {
      if (renewed.get(claim) === true) lease.renew(renewedAt);
      if (!renewed.has(claim)) lease.lose('another process has the job');
    }
  }

  #checkLeases(): void {
    if (!this.#isLost && elapsedMs(this.#contact) > LOST_AFTER_MS) {
      this.#isLost = true;
      this.#deps.log.error({ err: this.#failure }, this.trouble);
    }
    for (const { lease } of this.#runs.values())
      if (lease.remainingMs() <= 0) lease.lose('the lease ran out');
  }

  #begin(job: Job, claimedAt: ClockReading): void {
    const kind = this.#kinds.get(job.kind);
    const { claim_id: claim } = job;
    if (kind === undefined || claim === null) throw new Error(`no job of this kind can run: ${job.kind}`);
    const lease = new RenewableLease(claimedAt, this.#isHolder);
    // Without its lease, the run ends at once and hands the job back.
    if (this.#claims.signal.aborted || lease.remainingMs() <= 0) endLease(lease);
    const ended = this.#run(kind, job, lease).finally(() => {
      const wasFull = this.count(job.kind) >= kind.most || this.count(job.kind, job.workspace) >= kind.share;
      this.#runs.delete(claim);
      if (wasFull) this.#claims.pollNow();
    });
    this.#runs.set(claim, { kind, job, lease, ended });
  }

  /** Runs a job and records the outcome. Where that fails, the claim ends by itself. */
  async #run(kind: Run['kind'], job: Job, lease: RenewableLease): Promise<void> {
    const { timeoutMs } = kind;
    const end = () => lease.lose('the job takes too long');
    using _timeout = Number.isFinite(timeoutMs) ? setTimeout(end, timeoutMs) : undefined;
    try {
      await this.#recordOutcome(kind, job, await this.#outcomeOf(kind, job, lease));
    } catch (error) {
      this.#deps.log.warn({ ...labelsOf(job), err: error }, 'could not record a job');
    }
  }

  /** Runs a job or, if its time is over, tells that it is given up. Returns the outcome to record. */
  async #outcomeOf(kind: Run['kind'], job: Job, lease: RenewableLease): Promise<RunOutcome> {
    const { log } = this.#deps;
    const { giveUpAfterMs } = kind;
    const triedSince = job.tried_since ?? new Date();
    const isOver = isOverdue(triedSince, giveUpAfterMs);
    try {
      lease.signal.throwIfAborted();
      const perform = () => askedBy(job.person || kind.kind, () => kind.perform(job, lease));
      if (!isOver) return await unlessLost(perform(), lease.signal);
      log.warn(labelsOf(job), 'gave up a job');
      if (kind.onGivenUp !== 'counted') await unlessLost(kind.onGivenUp(job, lease), lease.signal);
      return 'given_up';
    } catch (error) {
      if (lease.draining.aborted) return 'interrupted';
      const outage = transientFailure(error);
      log[outage === undefined ? 'warn' : 'info']({ ...labelsOf(job), err: error }, 'a job failed');
      // In an outage, or where it took too long, nobody was told: it is tried again.
      const mayPass = outage !== undefined || lease.signal.aborted;
      const isTelling = mayPass && !isOverdue(triedSince, giveUpAfterMs + TELL_FOR_MS);
      if (isOver && !isTelling) return 'given_up';
      const { waitMs = 0, maxWaitMs = RETRY_DELAY_MS } = outage ?? {};
      return { waitMs: Number.isFinite(giveUpAfterMs) ? waitMs : Math.min(RETRY_DELAY_MS, maxWaitMs) };
    }
  }

  async #recordOutcome(kind: JobKind, job: Job, outcome: RunOutcome): Promise<void> {
    const { store, onRun } = this.#deps;
    if (outcome === 'recorded') return onRun(kind.kind, 'done');
    if (outcome === 'interrupted') return await this.#release(job);
    if (outcome === 'done' || outcome === 'given_up') {
      await store.jobs.done(job, kind.isRemembered === true);
      onRun(kind.kind, outcome);
    } else if (outcome === 'later' || 'waitMs' in outcome) {
      await store.jobs.failed(job, outcome === 'later' ? 0 : outcome.waitMs);
      onRun(kind.kind, 'failed');
    } else {
      await store.jobs.again(job, outcome);
      if (outcome.inMs === 0) this.#claims.pollNow();
      onRun(kind.kind, 'again');
    }
  }

  /** Hands a job back, with those of the same moment. */
  async #release(job: Pick<Job, 'claim_id'>): Promise<void> {
    this.#toRelease.push(job);
    this.#releasing ??= sleepUnlessAborted(1).then(async () => {
      const jobs = this.#toRelease;
      this.#toRelease = [];
      this.#releasing = undefined;
      await this.#deps.store.jobs.release(jobs);
    });
    await this.#releasing;
  }
}

function endLease(lease: RenewableLease): void {
  lease.drain();
  lease.lose('the process is stopping');
}

function labelsOf({ kind: job, workspace, channel, thread_ts, key }: Job) {
  return { job, workspace, channel, thread_ts, key };
}
