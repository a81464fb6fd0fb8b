/** Two clocks in milliseconds; the wall clock goes on while the process is stopped or the machine sleeps. */
export interface Clocks {
  wall(): number;
  monotonic(): number;
}

/** The clocks of this process. */
export const systemClocks: Clocks = { wall: () => Date.now(), monotonic: () => performance.now() };

/** How long a renewal counts, from when it was asked for: the queue gives the job to others after 10 s. */
export const leaseMs = 8_000;

/** What a turn must ask before each call that must not happen twice. */
export interface Lease {
  /** Aborted when the job is not ours any more. */
  readonly signal: AbortSignal;
  /** Aborted when the turn should hand over at its next step's border. */
  readonly draining: AbortSignal;
  /** Milliseconds until others may have the job; 0 or less: it must be left alone. */
  remainingMs(): number;
}

/** The same lease, whose turn also hands over when `gone` says that it cannot go on here; `leave` ends that. */
export function untilGone(lease: Lease, gone: AbortSignal): { lease: Lease; leave: () => void } {
  const either = new AbortController();
  const follow = () => either.abort();
  const both = [lease.draining, gone];
  for (const signal of both) signal.addEventListener('abort', follow);
  if (both.some(({ aborted }) => aborted)) follow();
  return {
    lease: { signal: lease.signal, draining: either.signal, remainingMs: () => lease.remainingMs() },
    leave: () => {
      for (const signal of both) signal.removeEventListener('abort', follow);
    },
  };
}

/** When something was, by both clocks. */
export interface Instant {
  wall: number;
  monotonic: number;
}

/** Now, by both clocks. */
export function instant(clocks: Clocks): Instant {
  return { wall: clocks.wall(), monotonic: clocks.monotonic() };
}

/** Milliseconds since then, by the clock that says more: neither a stopped nor a set clock hides time. */
export function elapsedMs(since: Instant, clocks: Clocks): number {
  return Math.max(clocks.wall() - since.wall, clocks.monotonic() - since.monotonic);
}

/** The lease of one held job. */
export class HeldLease implements Lease {
  readonly #clocks: Clocks;
  readonly #lost = new AbortController();
  readonly #drain = new AbortController();
  #renewed: Instant;

  constructor(renewed: Instant, clocks: Clocks) {
    this.#renewed = renewed;
    this.#clocks = clocks;
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  get draining(): AbortSignal {
    return this.#drain.signal;
  }

  remainingMs(): number {
    return this.signal.aborted ? 0 : leaseMs - elapsedMs(this.#renewed, this.#clocks);
  }

  /** A renewal that was asked for at `since` has succeeded. */
  renew(since: Instant): void {
    this.#renewed = since;
  }

  lose(reason: string): void {
    if (!this.signal.aborted) this.#lost.abort(new Error(reason));
  }

  drain(): void {
    this.#drain.abort();
  }
}
