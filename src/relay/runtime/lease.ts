import { type ClockReading, elapsedMs } from '../../calls/clocks.ts';
import { type LeaseGuard, unlessAborted, within } from '../../calls/retries-and-waits.ts';
import { Interruption } from './turn-exceptions.ts';

/** How long (ms) a renewal counts from its request: another process may claim the job after 10 s. */
export const LEASE_MS = 8_000;

/** The right to work on a job: checked before each call that must not happen twice. */
export interface Lease extends LeaseGuard {
  /** Aborted when the turn is to hand over before its next step. */
  readonly draining: AbortSignal;
}

/** A lease that lasts for LEASE_MS from its last renewal, and is worth nothing while `isHeld` is false. */
export class RenewableLease implements Lease {
  readonly #isHeld: () => boolean;
  readonly #lostController = new AbortController();
  readonly #drainController = new AbortController();
  readonly signal = this.#lostController.signal;
  readonly draining = this.#drainController.signal;
  #renewedAt: ClockReading;

  constructor(renewed: ClockReading, isHeld: () => boolean) {
    this.#renewedAt = renewed;
    this.#isHeld = isHeld;
  }

  remainingMs(): number {
    return this.signal.aborted || !this.#isHeld() ? 0 : LEASE_MS - elapsedMs(this.#renewedAt);
  }

  /** A renewal that was requested at `since` has succeeded. */
  renew(since: ClockReading): void {
    this.#renewedAt = since;
  }

  lose(reason: string): void {
    if (!this.signal.aborted) this.#lostController.abort(new Error(reason));
  }

  drain(): void {
    this.#drainController.abort();
  }
}

/** Throws if the turn must not continue here: an Interruption while draining, the lease's reason once it is lost. */
export function throwIfInterrupted(lease: Lease): void {
  lease.signal.throwIfAborted();
  if (lease.draining.aborted) throw new Interruption('hand_over');
}

/** Sleeps, unless `wake` ends the wait. Wakes and throws like `throwIfInterrupted` if the lease is lost or drains. */
export function sleepWithLease(ms: number, lease: Lease, wake?: AbortSignal): Promise<void> {
  const begin = (end: () => void) => {
    const timer = setTimeout(end, ms);
    return () => clearTimeout(timer);
  };
  return waitWithLease(lease, begin, wake);
}

/**
 * Waits until `begin` calls its `end`, or `wake` is aborted, and then calls the `cleanUp` that `begin` has returned. Ends
 * early and throws like `throwIfInterrupted` if the lease is lost or drains.
 */
export function waitWithLease(
  lease: Lease,
  begin: (end: () => void) => () => void,
  wake?: AbortSignal,
): Promise<void> {
  if (lease.signal.aborted || lease.draining.aborted)
    return Promise.resolve().then(() => throwIfInterrupted(lease));
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  const cleanUp = begin(end);
  const signals = [lease.signal, lease.draining];
  if (wake?.aborted === false) signals.push(wake);
  for (const signal of signals) {
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
  }
  // Thousands wait here at the same time, and the frame of an async function takes more memory.
  return promise.then(() => {
    cleanUp();
    for (const signal of signals) signal.removeEventListener('abort', end);
    throwIfInterrupted(lease);
  });
}

/** How long work may take to end once its lease is lost (ms). */
const ABORT_GRACE_MS = 1_000;

/** What `work` returns. If its lease is lost, throws the lease's reason, after a moment for the work to end. */
export function unlessLost<T>(work: Promise<T>, lost: AbortSignal): Promise<T> {
  return unlessAborted(work, lost).catch(async (error: unknown) => {
    const ended = work.catch(() => undefined);
    if (lost.aborted) await within(ABORT_GRACE_MS, ended, undefined);
    throw error;
  });
}
