const sourcesOf = new WeakMap<AbortSignal, readonly AbortSignal[]>();

/**
 * A signal that is aborted with the first of these. As `AbortSignal.any`, which in Node from 24.16 on misses the abort
 * of a source that is collected before anybody looks (https://github.com/nodejs/node/issues/65995): here the sources
 * live as long as the signal.
 */
export function anySignal(sources: readonly (AbortSignal | undefined)[]): AbortSignal {
  const given = sources.filter((source) => source !== undefined);
  // oxlint-disable-next-line eslint/no-restricted-properties
  const signal = AbortSignal.any(given);
  sourcesOf.set(signal, given);
  return signal;
}

/** A turn's lease, as the calls that must not happen twice need it. */
export interface LeaseGuard {
  /** Aborted when the lease is known to be lost. */
  readonly signal: AbortSignal;
  /** Milliseconds until another process may take the thread; at 0 or less nothing is sent. */
  remainingMs(): number;
}
