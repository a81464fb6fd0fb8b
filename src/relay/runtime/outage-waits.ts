import { AgentError } from '../../agent/errors.ts';
import { doubledMs } from '../../calls/retry.ts';
import { FileUnavailableError } from '../../slack/downloadable-files.ts';
import { SlackAuthError, SlackError, SlackRateLimitError } from '../../slack/errors.ts';
import { StoreError } from '../../store/errors.ts';
import type { Lease } from './lease.ts';
import { HandOver } from './turn-interruptions.ts';

/** The cause of a wait, so that the thread can name it. */
export type WaitCause = 'service_unreachable' | 'service_busy' | 'service_key' | 'slack' | 'file' | 'store';

/** The errors of the service that may pass. */
const SERVICE_CAUSES: Partial<Record<AgentError['code'], WaitCause>> = {
  unavailable: 'service_unreachable',
  rate_limited: 'service_busy',
  busy: 'service_busy',
  bad_key: 'service_key',
};

const INITIAL_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;
/** Our own database is not spared like a service of others: the work continues soon after it is back (ms). */
const STORE_RETRY_MAX_DELAY_MS = 2_000;

/** Whether this many milliseconds have passed since then. */
export function isOverdue(since: Date, ms: number): boolean {
  return Date.now() - since.getTime() > ms;
}

/** The cause of a failure that may pass without our doing, and the shortest and longest wait (ms). */
export interface TransientFailure {
  cause: WaitCause;
  waitMs?: number;
  maxWaitMs?: number;
}

/** The failure that may pass without our doing; undefined for a permanent error. How often a rejected key is tried is up to its gate. */
export function transientFailure(error: unknown): TransientFailure | undefined {
  if (error instanceof AgentError) {
    const waitMs = 'retryAfterMs' in error && typeof error.retryAfterMs === 'number' ? error.retryAfterMs : 0;
    const cause = SERVICE_CAUSES[error.code];
    return cause && { cause, waitMs };
  }
  if (error instanceof SlackRateLimitError) return { cause: 'slack', waitMs: error.retryAfterMs };
  if (error instanceof SlackAuthError && error.isInstallationDead) return { cause: 'slack' };
  if (error instanceof FileUnavailableError) return { cause: 'file' };
  if (error instanceof SlackError && error.code === 'unavailable') return { cause: 'slack' };
  if (error instanceof StoreError) return { cause: 'store', maxWaitMs: STORE_RETRY_MAX_DELAY_MS };
  return undefined;
}

/** The pause (ms) after attempt number `attempt` (from 1): doubles up to half a minute, with jitter. */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const maxMs = doubledMs(INITIAL_DELAY_MS, attempt, MAX_DELAY_MS);
  return maxMs / 2 + (maxMs / 2) * random();
}

/** Throws if the turn must not continue here: HandOver while draining, the lease's reason once it is lost. */
export function throwIfInterrupted(lease: Lease): void {
  lease.signal.throwIfAborted();
  if (lease.draining.aborted) throw new HandOver();
}

/** Sleeps, unless `wake` ends the wait. Wakes and throws like `throwIfInterrupted` if the lease is lost or drains. */
export async function sleepWithLease(ms: number, lease: Lease, wake?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  const timer = setTimeout(end, ms);
  const signals = [lease.signal, lease.draining];
  if (wake?.aborted === false) signals.push(wake);
  for (const signal of signals) {
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
  }
  await promise;
  clearTimeout(timer);
  for (const signal of signals) signal.removeEventListener('abort', end);
  throwIfInterrupted(lease);
}

/**
 * Runs a step until it succeeds or fails for good. `onWait` gets the cause of each wait, and undefined after the last one.
 * `wake` ends a wait early. `judge` says how to wait after an error, in place of `transientFailure`, and throws what ends
 * the step.
 */
export async function withRetry<T>(
  lease: Lease,
  step: () => Promise<T>,
  onWait: (cause: WaitCause | undefined, error?: unknown) => void,
  {
    wake,
    judge = async (error) => transientFailure(error),
  }: {
    wake?: AbortSignal;
    judge?: (error: unknown) => Promise<TransientFailure | undefined>;
  } = {},
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    throwIfInterrupted(lease);
    try {
      const value = await step();
      if (attempt > 1) onWait(undefined);
      return value;
    } catch (error) {
      if (lease.signal.aborted) throw error;
      const wait = await judge(error);
      if (wait === undefined) {
        if (attempt > 1) onWait(undefined);
        throw error;
      }
      onWait(wait.cause, error);
      const waitMs = Math.min(wait.maxWaitMs ?? MAX_DELAY_MS, backoffMs(attempt));
      await sleepWithLease(Math.max(wait.waitMs ?? 0, waitMs), lease, wake);
    }
  }
}

/** Waits until all of these have settled, and throws the first error among them. */
export async function allSettledOrThrow(promises: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(promises);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
