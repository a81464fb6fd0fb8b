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
