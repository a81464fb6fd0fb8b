import type { AgentClient } from '../../agent/agent-client.ts';
import { AgentError, AgentNotFoundError, AgentRejectedError } from '../../agent/errors.ts';
import { NO_TASK_ID } from '../../agent/forbidden-or-bad-key.ts';
import { databaseNow } from '../../calls/clocks.ts';
import { doubledMs } from '../../calls/retries-and-waits.ts';
import { RELAY_LIMITS, type RelayLimits } from '../../limits.ts';
import { FileUnavailableError } from '../../slack/downloadable-files.ts';
import {
  SlackAuthError,
  SlackError,
  SlackLeaseError,
  SlackRateLimitError,
  SlackUnavailableError,
} from '../../slack/errors.ts';
import { StoreError } from '../../store/errors.ts';
import type { ThreadWork } from './deps.ts';
import { sleepWithLease, throwIfInterrupted } from './lease.ts';
import { ThreadGivenUp } from './unreachable-threads.ts';

/** The cause of a wait, so that the thread can name it. */
export type WaitCause = 'service_unreachable' | 'service_busy' | 'service_key' | 'slack' | 'file' | 'store';

/** The errors of the service that may pass. */
const SERVICE_CAUSES: Partial<Record<AgentError['code'], WaitCause>> = {
  unavailable: 'service_unreachable',
  rate_limited: 'service_busy',
  busy: 'service_busy',
  bad_key: 'service_key',
};

const MAX_DELAY_MS = 30_000;
/** Our own database is not spared like a service of others: the work continues soon after it is back (ms). */
const STORE_RETRY_MAX_DELAY_MS = 2_000;

/** Whether this many milliseconds have passed since a time of the database. */
export function isOverdue(since: Date, ms: number): boolean {
  return databaseNow() - since.getTime() > ms;
}

/** The cause of a failure that may pass without our doing, and the shortest and longest wait (ms). */
interface TransientFailure {
  cause: WaitCause;
  waitMs?: number;
  maxWaitMs?: number;
}

/** The failure that may pass without our doing; undefined for a permanent error. How often a rejected key is tried is up to its gate. */
export function transientFailure(error: unknown): TransientFailure | undefined {
  if (error instanceof AgentError) {
    const cause = SERVICE_CAUSES[error.code];
    return cause && { cause, waitMs: error.retryAfterMs ?? 0 };
  }
  if (error instanceof SlackRateLimitError) return { cause: 'slack', waitMs: error.retryAfterMs };
  if (error instanceof SlackAuthError && error.isInstallationDead) return { cause: 'slack' };
  if (error instanceof FileUnavailableError) return { cause: 'file' };
  if (error instanceof SlackError && error.code === 'unavailable') return { cause: 'slack' };
  if (error instanceof StoreError) return { cause: 'store', maxWaitMs: STORE_RETRY_MAX_DELAY_MS };
  return undefined;
}

/** The pause (ms) after attempt number `attempt` (from 1): doubles up to half a minute, with jitter. */
export function backoffMs(attempt: number): number {
  const maxMs = doubledMs(RELAY_LIMITS.retryMs, attempt, MAX_DELAY_MS);
  return maxMs / 2 + (maxMs / 2) * Math.random();
}

/** How a step is repeated. */
export interface Retrying<T> {
  /** What the step is about, for the log. */
  about: Record<string, string>;
  /** Gets the cause of each wait. */
  onWait?: (cause: WaitCause) => void;
  /** Called when it has succeeded. */
  onSuccess?: () => void;
  /** Ends a wait early. */
  wake?: AbortSignal;
  /** Says how to wait after an error that may be false, or of the service; undefined if the error ends the step. */
  doubt?: (error: unknown) => Promise<TransientFailure | undefined>;
  /** Stands in for what Slack refuses for good, or what is given up there. */
  orElse?: (error: SlackError) => T | Promise<T>;
}

/**
 * Runs a step until it succeeds or fails for good. Throws an Interruption, the lease's reason, and the step's last error; or
 * ThreadGivenUp once Slack has failed at it, but not at a file, for `badThingMs` while other calls succeeded.
 */
export async function withRetry<T>(
  { lease, deps, workspace }: ThreadWork,
  step: () => Promise<T>,
  { about, onWait, onSuccess, wake, doubt, orElse }: Retrying<T>,
): Promise<T> {
  let failing: FailingTime | undefined;
  throwIfInterrupted(lease);
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const value = await step();
        onSuccess?.();
        return value;
      } catch (error) {
        if (lease.signal.aborted) throw error;
        const failure = transientFailure(error);
        if (error instanceof SlackUnavailableError && failure?.cause !== 'file') {
          failing ??= new FailingTime();
          const failedMs = await failing.count((at) => workspace.wasThereAfter(at));
          if (failedMs >= deps.settings.badThingMs) throw new ThreadGivenUp(error);
        }
        const isInDoubt = failure === undefined || failure.cause === 'service_unreachable';
        const wait = isInDoubt && doubt !== undefined ? await doubt(error) : failure;
        if (wait === undefined) throw error;
        deps.log.warn({ ...about, err: error, cause: wait.cause }, 'waiting to repeat a step');
        onWait?.(wait.cause);
        const pauseMs = Math.min(wait.maxWaitMs ?? MAX_DELAY_MS, backoffMs(attempt));
        await sleepWithLease(Math.max(wait.waitMs ?? 0, pauseMs), lease, wake);
      }
    }
  } catch (error) {
    const isOurs = lease.remainingMs() > 0 && !(error instanceof SlackLeaseError);
    if (orElse === undefined || !isOurs || !(error instanceof SlackError)) throw error;
    deps.log.warn({ ...about, err: error }, 'giving up a step in Slack');
    return await orElse(error);
  }
}

/**
 * How long one thing has failed in a row while other calls under the same key, token or database succeeded. In an outage
 * it stands still: a limit of time for a bad thing must not end what only waits for the outage to pass.
 */
export class FailingTime {
  #ms = 0;
  #lastFailureAt: number | undefined;

  /** Counts a failure; returns the ms so far. The time since the failure before counts only if another call `hasSucceededAfter` that. */
  async count(hasSucceededAfter: (at: number) => boolean | Promise<boolean>): Promise<number> {
    const previous = this.#lastFailureAt;
    const now = performance.now();
    this.#lastFailureAt = now;
    if (previous !== undefined && (await hasSucceededAfter(previous))) this.#ms += now - previous;
    return this.#ms;
  }
}

const MAX_PAUSE_MS = 15_000;

/** Nobody can look up whether this call had its effect: the pauses between its repeats are longer (ms). */
const UNLISTED = { call: 'POST /projects', maxPauseMs: 120_000 };

type DoubtedAgent = Pick<AgentClient, 'getTask' | 'presence' | 'hasSucceededAfter'>;

/**
 * Doubts answers that a thing is gone, refused or unreadable: they may be those of a gateway, or of a service that is
 * being replaced. Each is believed after a time of nothing else in which the service itself was there: `refusalMs`, or
 * `badThingMs` where something is gone or refused although the task of the message still answers. What fails as in an
 * outage is given up after `badThingMs` in which other calls succeed. What the service creates, and answers unreadably, is
 * created twice at most; a project that it may have created, each time after a pause as long as all before, up to a limit.
 * This is about a turn, which ends when it is believed; `filePatience` asks it about one file, with half of these times.
 */
export class RefusalDoubt {
  readonly #limits: Pick<RelayLimits, 'refusalMs' | 'badThingMs'>;
  #failing: FailingTime | undefined;
  #unavailable: FailingTime | undefined;
  /** When (`performance.now()`) the service last said that it has no task of no id. */
  #answeredAt = Number.NEGATIVE_INFINITY;
  /** The calls that have created something in vain. */
  readonly #unreadCreations = new Set<string>();

  constructor(limits: Pick<RelayLimits, 'refusalMs' | 'badThingMs'>) {
    this.#limits = limits;
  }

  /** The service has answered. */
  clear(): void {
    this.#failing = undefined;
    this.#unavailable = undefined;
  }

  /** How to wait before asking again; undefined if the error is no such answer, or ends the wait. `sentTo`: the message's task. */
  async waitAfter(
    error: unknown,
    agent: () => DoubtedAgent,
    sentTo: string | undefined,
  ): Promise<TransientFailure | undefined> {
    const isUnavailable = error instanceof AgentError && error.code === 'unavailable';
    if (!isUnavailable && !isDoubtful(error, sentTo !== undefined)) return undefined;
    const client = agent();
    if (error.unreadCreation !== undefined) {
      // A gateway in its place creates nothing, as far as its answers are HTTP.
      const isCreated = error.status === undefined || (await client.presence.isThere());
      if (isCreated && this.#unreadCreations.has(error.unreadCreation)) return undefined;
      if (isCreated) this.#unreadCreations.add(error.unreadCreation);
    }
    if (isUnavailable) return this.#waitForAnswer(error, client, sentTo);
    return this.#waitInDoubt(error, client, sentTo);
  }

  /** How to wait after a call that failed as in an outage. */
  async #waitForAnswer(error: AgentError, client: DoubtedAgent, sentTo: string | undefined) {
    const mayBeUnlisted = error.outcome === 'unknown' && error.creates === UNLISTED.call;
    this.#unavailable ??= new FailingTime();
    const hasAnsweredAfter = (at: number) => client.hasSucceededAfter(at) || this.#answeredAt >= at;
    const failedMs = await this.#unavailable.count(hasAnsweredAfter);
    // Nothing else may be called until the next failure. What succeeds only now may be the end of an outage.
    const task = sentTo ?? (mayBeUnlisted ? NO_TASK_ID : undefined);
    const missing: unknown = task && (await client.getTask(task).catch((failure: unknown) => failure));
    if (task === NO_TASK_ID && missing instanceof AgentNotFoundError) this.#answeredAt = performance.now();
    const leftMs = this.#limits.badThingMs - failedMs;
    if (leftMs <= 0) return undefined;
    const doublingMs = mayBeUnlisted ? Math.min(failedMs, leftMs, UNLISTED.maxPauseMs) : 0;
    return { cause: 'service_unreachable', waitMs: Math.max(error.retryAfterMs ?? 0, doublingMs) } as const;
  }

  /** How to wait after an answer that may be false: longer while the task of the message still answers. */
  async #waitInDoubt({ code }: AgentError, client: DoubtedAgent, sentTo: string | undefined) {
    const task = sentTo === undefined || code === 'not_understood' ? undefined : client.getTask(sentTo);
    const isTaskThere = await task?.then(
      () => true,
      (failure: unknown) => !isDoubtful(failure, true),
    );
    this.#failing ??= new FailingTime();
    const failedMs = await this.#failing.count((at) => client.presence.wasThereAfter(at));
    if (failedMs >= (isTaskThere ? this.#limits.badThingMs : this.#limits.refusalMs)) return undefined;
    return { cause: 'service_unreachable', maxWaitMs: MAX_PAUSE_MS } as const;
  }
}

/** Whether `RefusalDoubt` doubts an error. A rejection of an unsent message is about what the message says. */
function isDoubtful(error: unknown, isSent: boolean): error is AgentError {
  if (!(error instanceof AgentError) || error.outcome === 'not_sent' || error.isTooLarge) return false;
  if (error instanceof AgentRejectedError) return isSent;
  return error.code === 'not_found' || error.code === 'not_understood';
}
