import { setTimeout as sleep } from 'node:timers/promises';

/** The longest Retry-After that is honoured (ms): a timer of over 24 days would fire at once. */
export const MAX_RETRY_AFTER_MS = 60 * 60_000;

/** Milliseconds of a Retry-After header (seconds or an HTTP date), an hour at most; undefined if it is neither. */
export function parseRetryAfter(
  header: string | null | undefined,
  now: number = Date.now(),
): number | undefined {
  const text = header?.trim() ?? '';
  const isSeconds = /^\d+(\.\d+)?$/.test(text);
  const date = !isSeconds && /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  const ms = isSeconds ? Math.ceil(Number(text) * 1000) : date - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS);
}

/** A pause (ms) that doubles with each attempt, counted from 1, up to a limit. */
export function doubledMs(firstMs: number, attempt: number, maxMs: number): number {
  return Math.min(maxMs, firstMs * 2 ** Math.min(attempt - 1, 30));
}

/** Repeats a call until it succeeds or `pauseAfter` an error, of attempt 1 and so on, gives no pause (ms). */
export async function repeatCall<T>(
  call: (attempt: number) => Promise<T>,
  pauseAfter: (error: unknown, attempt: number) => number | undefined,
  wait: (ms: number, error: unknown) => Promise<unknown> = (ms) => sleep(ms),
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call(attempt);
    } catch (error) {
      const pauseMs = pauseAfter(error, attempt);
      if (pauseMs === undefined) throw error;
      await wait(pauseMs, error);
    }
  }
}
