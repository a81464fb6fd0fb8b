import { SlackLeaseError } from './errors.ts';

/** The lease of a turn as this folder sees it: what must not happen twice is not sent once it has ended. */
export interface LeaseGuard {
  /** Aborted when the lease is known to be lost. */
  readonly signal: AbortSignal;
  /** Milliseconds of lease that are left; at 0 or less nothing may be sent. */
  remainingMs(): number;
}

/** Throws LeaseEnded where the method must not be called any more; nothing was sent then. */
export function assertLeaseHeld(method: string, guard: LeaseGuard | undefined): void {
  if (guard === undefined) return;
  if (guard.signal.aborted || guard.remainingMs() <= 0) {
    throw new SlackLeaseError({ method, outcome: 'none', cause: guard.signal.reason });
  }
}
