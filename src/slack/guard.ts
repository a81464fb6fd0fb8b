/** The lease of a turn as this folder sees it: what must not happen twice is not sent once it has ended. */
export interface Guard {
  /** Aborted when the lease is known to be lost. */
  readonly signal: AbortSignal;
  /** Milliseconds of lease that are left; at 0 or less nothing may be sent. */
  remainingMs(): number;
}
