import { setTimeout as sleep } from 'node:timers/promises';

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

/** Why a wait ends that is no longer needed: an error of its own for each would take long to make. */
export const NO_LONGER_NEEDED = new DOMException('This is no longer needed.', 'AbortError');

/** A turn's lease, as the calls that must not happen twice need it. */
export interface LeaseGuard {
  /** Aborted when the lease is known to be lost. */
  readonly signal: AbortSignal;
  /** Milliseconds until another process may take the thread; at 0 or less nothing is sent. */
  remainingMs(): number;
}

/** Sleeps (ms), or returns early once the signal is aborted. */
export async function sleepUnlessAborted(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** The result, or `late` if it takes longer (ms). Keeps no process alive. */
export async function within<T, Late>(ms: number, result: Promise<T>, late: Late): Promise<T | Late> {
  const { promise, resolve } = Promise.withResolvers<Late>();
  const timer = setTimeout(() => resolve(late), ms).unref();
  return await Promise.race([result, promise]).finally(() => clearTimeout(timer));
}

/** The result; rejects with the signal's reason once it is aborted. Others may still wait for the same result. */
export async function unlessAborted<T>(result: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await result;
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  return await Promise.race([result, promise]).finally(() => signal.removeEventListener('abort', onAbort));
}
