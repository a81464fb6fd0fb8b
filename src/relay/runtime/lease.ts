/** Two clocks in milliseconds; the wall clock goes on while the process is stopped or the machine sleeps. */
export interface Clocks {
  wall(): number;
  monotonic(): number;
}

/** The clocks of this process. */
export const SYSTEM_CLOCKS: Clocks = { wall: () => Date.now(), monotonic: () => performance.now() };

/** How long a renewal counts, from when it was asked for: the queue gives the job to others after 10 s. */
export const LEASE_MS = 8_000;

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
export function drainOnUninstall(
  lease: Lease,
  uninstalled: AbortSignal,
): { lease: Lease; dispose: () => void } {
  const drain = new AbortController();
  const follow = () => drain.abort();
  const signals = [lease.draining, uninstalled];
  for (const signal of signals) signal.addEventListener('abort', follow);
  if (signals.some(({ aborted }) => aborted)) follow();
  return {
    lease: { signal: lease.signal, draining: drain.signal, remainingMs: () => lease.remainingMs() },
    dispose: () => {
      for (const signal of signals) signal.removeEventListener('abort', follow);
    },
  };
}

/** When something was, by both clocks. */
export interface ClockReading {
  wall: number;
  monotonic: number;
}

/** Now, by both clocks. */
export function readClocks(clocks: Clocks): ClockReading {
  return { wall: clocks.wall(), monotonic: clocks.monotonic() };
}

/** Milliseconds since then, by the clock that says more: neither a stopped nor a set clock hides time. */
export function elapsedMs(since: ClockReading, clocks: Clocks): number {
  return Math.max(clocks.wall() - since.wall, clocks.monotonic() - since.monotonic);
}

/** The lease of one held job. */
export class RenewableLease implements Lease {
  readonly #clocks: Clocks;
  readonly #lostController = new AbortController();
  readonly #drainController = new AbortController();
  #renewedAt: ClockReading;

  constructor(renewed: ClockReading, clocks: Clocks) {
    this.#renewedAt = renewed;
    this.#clocks = clocks;
  }

  get signal(): AbortSignal {
    return this.#lostController.signal;
  }

  get draining(): AbortSignal {
    return this.#drainController.signal;
  }

  remainingMs(): number {
    return this.signal.aborted ? 0 : LEASE_MS - elapsedMs(this.#renewedAt, this.#clocks);
  }

  /** A renewal that was asked for at `since` has succeeded. */
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
