import { SlackLeaseError } from './errors.ts';

/** A turn's lease, as calls to Slack need it. `agent` has its own: the two folders never import each other. */
export interface LeaseGuard {
  /** Aborted when the lease is known to be lost. */
  readonly signal: AbortSignal;
  /** Milliseconds until another process may take the thread; at 0 or less nothing is sent. */
  remainingMs(): number;
}

/** Throws SlackLeaseError if the lease has ended. */
export function assertLeaseHeld(method: string, guard: LeaseGuard | undefined): void {
  if (guard === undefined) return;
  if (guard.signal.aborted || guard.remainingMs() <= 0) {
    throw new SlackLeaseError({ method, outcome: 'none', cause: guard.signal.reason });
  }
}
