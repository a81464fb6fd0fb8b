/** A turn's lease, as the calls that must not happen twice need it. */
export interface LeaseGuard {
  /** Aborted when the lease is known to be lost. */
  readonly signal: AbortSignal;
  /** Milliseconds until another process may take the thread; at 0 or less nothing is sent. */
  remainingMs(): number;
}
