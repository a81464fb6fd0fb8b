import { AgentError } from '../agent/errors.ts';
import { SlackError, Throttled, Unauthorized } from '../slack/errors.ts';
import { StoreError } from '../store/errors.ts';
import { HandOver } from './interruption.ts';
import type { Lease } from './lease.ts';

/** Who is to blame for a wait, so that the thread can say it. */
export type Trouble = 'service_unreachable' | 'service_busy' | 'service_key' | 'slack' | 'store';

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
/** A key or token that is not accepted is tried again so often (ms): somebody must mend it first. */
const mendPauseMs = 10_000;

/** Whether something has been tried for so long (ms) that it is given up. */
export function isOverdue(since: Date, ms: number): boolean {
  return Date.now() - since.getTime() > ms;
}

/** What an error that passes by itself is about; undefined for one that does not pass. */
export function passing(error: unknown): { trouble: Trouble; waitMs?: number } | undefined {
  if (error instanceof AgentError) {
    const waitMs = 'retryAfterMs' in error && typeof error.retryAfterMs === 'number' ? error.retryAfterMs : 0;
    switch (error.code) {
      case 'unavailable':
        return { trouble: 'service_unreachable', waitMs };
      case 'rate_limited':
      case 'busy':
        return { trouble: 'service_busy', waitMs };
      case 'bad_key':
        return { trouble: 'service_key', waitMs: mendPauseMs };
      default:
        return undefined;
    }
  }
  if (error instanceof Throttled) return { trouble: 'slack', waitMs: error.retryAfterMs };
  if (error instanceof Unauthorized && error.dead) return { trouble: 'slack', waitMs: mendPauseMs };
  if (error instanceof SlackError && error.code === 'unavailable') return { trouble: 'slack' };
  if (error instanceof StoreError) return { trouble: 'store' };
  return undefined;
}

/** The pause before try number `attempt` (from 1): doubling up to half a minute, with jitter. In ms. */
export function pauseMs(attempt: number, random: () => number = Math.random): number {
  const most = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(attempt - 1, 10));
  return most / 2 + (most / 2) * random();
}

/** Throws where the turn must not go on here: HandOver while draining, the lease's reason once it is lost. */
export function checkpoint(lease: Lease): void {
  lease.signal.throwIfAborted();
  if (lease.draining.aborted) throw new HandOver();
}

/** A wait that others can end early: `end` is there while it goes on. */
export interface Wait {
  end: (() => void) | undefined;
}

/**
 * Sleeps, but not past the end of the lease or the beginning of a drain; then it throws like `checkpoint`. `wake` ends
 * it early, where it comes meanwhile.
 */
export async function pause(ms: number, lease: Lease, wake?: AbortSignal | Wait): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  const timer = setTimeout(end, ms);
  const signals = [lease.signal, lease.draining];
  if (wake instanceof AbortSignal) {
    if (!wake.aborted) signals.push(wake);
  } else if (wake !== undefined) wake.end = end;
  for (const signal of signals) {
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
  }
  await promise;
  clearTimeout(timer);
  if (wake !== undefined && 'end' in wake) wake.end = undefined;
  for (const signal of signals) signal.removeEventListener('abort', end);
  checkpoint(lease);
}

/**
 * Runs a step until it succeeds or fails for good; `onTrouble` hears of each wait, and undefined at its end. `wake`
 * ends a wait early. What has not passed after `mostMs` is thrown.
 */
export async function patiently<T>(
  lease: Lease,
  step: () => Promise<T>,
  onTrouble: (trouble: Trouble | undefined, error?: unknown) => void,
  { wake, mostMs = Number.POSITIVE_INFINITY }: { wake?: AbortSignal; mostMs?: number | undefined } = {},
): Promise<T> {
  const since = new Date();
  for (let attempt = 1; ; attempt += 1) {
    checkpoint(lease);
    try {
      const value = await step();
      if (attempt > 1) onTrouble(undefined);
      return value;
    } catch (error) {
      if (lease.signal.aborted) throw error;
      const wait = passing(error);
      if (wait === undefined || isOverdue(since, mostMs)) throw error;
      onTrouble(wait.trouble, error);
      await pause(Math.max(wait.waitMs ?? 0, pauseMs(attempt)), lease, wake);
    }
  }
}

/** Waits until all of these are over, and throws the first error among them. */
export async function allOver(works: readonly Promise<unknown>[]): Promise<void> {
  const ended = await Promise.allSettled(works);
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}
