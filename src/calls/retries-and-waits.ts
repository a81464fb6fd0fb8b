import { setTimeout as sleep } from 'node:timers/promises';

const sourcesOf = new WeakMap<AbortSignal, readonly AbortSignal[]>();

/**
 * A signal that is aborted with the first of these. As `AbortSignal.any`, which in Node from 24.16 on misses the abort
 * of a source that is collected before anybody looks (https://github.com/nodejs/node/issues/65995): here the sources
 * live as long as the signal. Nor does that Node ever collect one with a time limit that is a source of another: here
 * its own sources stand in for it.
 */
export function anySignal(sources: readonly (AbortSignal | undefined)[]): AbortSignal {
  const given = sources
    .filter((source) => source !== undefined)
    .flatMap((source) => sourcesOf.get(source) ?? [source]);
  const [only] = given;
  if (only !== undefined && given.length === 1) return only;
  // oxlint-disable-next-line eslint/no-restricted-properties
  const signal = AbortSignal.any(given);
  sourcesOf.set(signal, given);
  return signal;
}

/**
 * Aborts the controller once the source is, until the returned function is called. `AbortSignal.any` leaves a kilobyte behind
 * for each signal, until all memory is collected: too much for what is done each second.
 */
export function abortWith(controller: AbortController, source: AbortSignal | undefined): () => void {
  const abort = () => controller.abort(source?.reason);
  if (source?.aborted === true) abort();
  source?.addEventListener('abort', abort);
  return () => source?.removeEventListener('abort', abort);
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

/** A wait has so many parts. While this process stands still, it hears nothing: that counts for two of them at most. */
const WAIT_PARTS = 16;

/** The result, or `late` if it takes longer (ms). Keeps no process alive. */
export async function within<T, Late>(ms: number, result: Promise<T>, late: Late): Promise<T | Late> {
  const { promise, resolve } = Promise.withResolvers<Late>();
  let timer: NodeJS.Timeout;
  const partMs = ms / WAIT_PARTS;
  const wait = (leftMs: number): void => {
    const began = performance.now();
    const next = () => {
      const passedMs = Math.max(performance.now() - began, partMs);
      const still = leftMs - Math.min(passedMs, 2 * partMs);
      // Timers come before what has arrived meanwhile.
      if (still > 1) wait(still);
      else setImmediate(() => resolve(late));
    };
    timer = setTimeout(next, Math.min(leftMs, partMs)).unref();
  };
  wait(ms);
  return await Promise.race([result, promise]).finally(() => clearTimeout(timer));
}

/** A signal that is aborted after this time (ms), of which a standstill of this process counts for little. */
export function timeLimit(ms: number): AbortSignal {
  const controller = new AbortController();
  const end = () => controller.abort(new DOMException('The answer took too long.', 'TimeoutError'));
  void within(ms, new Promise<never>(() => undefined), undefined).then(end);
  return controller.signal;
}

/** The result; `onLate` is called once if it takes longer (ms). */
export async function toldIfLate<T>(ms: number, result: Promise<T>, onLate: () => void): Promise<T> {
  const timer = setTimeout(onLate, ms);
  return result.finally(() => clearTimeout(timer));
}

/** The result; rejects with the signal's reason once it is aborted. Others may still wait for the same result. */
export function unlessAborted<T>(result: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return result;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    void result.then(resolve, reject).then(() => signal.removeEventListener('abort', onAbort));
  });
}

/** A call that has been silent for so long (ms) may be on a dead connection, which swallows what is sent. */
export const DEAD_CONNECTION_MS = 5_000;

/**
 * Makes a call that only reads, and makes it once more beside the first if that is silent for so long (ms): it has neither
 * ended nor `heard` anything. The first result counts; the controller of the other call is aborted. Rejects with the error of
 * the first call if both fail.
 */
export async function withSecondCall<T>(
  call: (ends: AbortController, heard: () => void) => Promise<T>,
  silentMs = DEAD_CONNECTION_MS,
): Promise<T> {
  const [one, other] = [new AbortController(), new AbortController()];
  const { promise: isHeard, resolve: heard } = Promise.withResolvers<boolean>();
  const make = async (own: AbortController, rival: AbortController) => {
    const result = await call(own, () => heard(true));
    rival.abort(NO_LONGER_NEEDED);
    return result;
  };
  const first = make(one, other);
  const isSettled = first.then(
    () => true,
    () => true,
  );
  if (await within(silentMs, Promise.race([isSettled, isHeard]), false)) return await first;
  return await Promise.any([first, make(other, one)]).catch(() => first);
}

/** The longest Retry-After that is honoured (ms): a timer of over 24 days would fire at once. */
export const MAX_RETRY_AFTER_MS = 60 * 60_000;

/** Milliseconds of a Retry-After header (seconds, or a date by the server's clock), an hour at most; undefined if it is neither. */
export function parseRetryAfter(header?: string | null, date?: string | null): number | undefined {
  const now = Date.parse(date ?? '') || Date.now();
  const text = header?.trim() ?? '';
  const isSeconds = /^\d+(\.\d+)?$/.test(text);
  const until = !isSeconds && /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  const ms = isSeconds ? Math.ceil(Number(text) * 1000) : until - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS);
}

/** Whether a server is in trouble, or asks for the same request again; to 421, over another connection. */
export function isTransientStatus(status: number): boolean {
  return status >= 500 || status === 408 || status === 421 || status === 425;
}

/** A pause (ms) that doubles with each attempt, counted from 1, up to a limit. */
export function doubledMs(firstMs: number, attempt: number, maxMs: number): number {
  return Math.min(maxMs, firstMs * 2 ** Math.min(attempt - 1, 30));
}

/** Repeats a call until it succeeds or `pauseAfter` an error, of attempt 1 and so on, gives no pause (ms). */
export async function repeatCall<T>(
  call: (attempt: number) => Promise<T>,
  pauseAfter: (error: unknown, attempt: number) => number | undefined | Promise<number | undefined>,
  wait: (ms: number, error: unknown) => Promise<unknown> = (ms) => sleep(ms),
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call(attempt);
    } catch (error) {
      const pauseMs = await pauseAfter(error, attempt);
      if (pauseMs === undefined) throw error;
      await wait(pauseMs, error);
    }
  }
}

/** For `catch`: the value that stands for an error of this kind. Throws any other error. */
export function valueIf<T>(value: T, isMeant: (error: unknown) => boolean): (error: unknown) => T {
  return (error) => {
    if (isMeant(error)) return value;
    throw error;
  };
}
