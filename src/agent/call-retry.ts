import { setTimeout as sleep } from 'node:timers/promises';
import { AgentAbortedError, AgentError, AgentRateLimitError, AgentUnavailableError } from './errors.ts';

/** How often and how long a call that may be repeated is tried. */
export interface RetryPolicy {
  /** Times that the call is sent at most. */
  readonly attempts: number;
  /** Milliseconds from the first try after which no further one starts. */
  readonly totalMs: number;
  /** Milliseconds of the first pause at most; doubles with each try. */
  readonly baseMs: number;
  /** Milliseconds of any pause at most, unless the service asks for more. */
  readonly capMs: number;
  /** Statuses after which the same call may succeed later; broken connections and time-outs always may. */
  readonly statuses: readonly number[];
}

/** What holds where a client is given no other. */
export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  attempts: 5,
  totalMs: 90_000,
  baseMs: 500,
  capMs: 20_000,
  statuses: [429, 502, 503, 504, 529],
};

/**
 * Milliseconds to wait after try number `attempt` (from 1). With `retryAfterMs` never less than that, and at
 * most `baseMs` more; else a full-jitter share of a doubling pause that stays under `capMs`.
 */
export function retryDelay(
  attempt: number,
  retryAfterMs: number | undefined,
  policy: Pick<RetryPolicy, 'baseMs' | 'capMs'> = DEFAULT_RETRY_POLICY,
  random: () => number = Math.random,
): number {
  if (retryAfterMs !== undefined) return retryAfterMs + random() * policy.baseMs;
  return random() * Math.min(policy.capMs, policy.baseMs * 2 ** Math.min(attempt - 1, 30));
}

/** The longest pause that a service is granted (ms): beyond 24 days a timer would end at once. */
const MAX_RETRY_AFTER_MS = 60 * 60_000;

/** Milliseconds of a Retry-After header (seconds or an HTTP date), an hour at most; undefined where it says neither. */
export function parseRetryAfter(header: string | undefined, now: number = Date.now()): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const isSeconds = /^\d+(\.\d+)?$/.test(text);
  const date = !isSeconds && /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  const ms = isSeconds ? Math.ceil(Number(text) * 1000) : date - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS);
}

/** Whether the same call may succeed after this error. */
function isTransient(
  error: unknown,
  statuses: readonly number[],
): error is AgentRateLimitError | AgentUnavailableError {
  if (!(error instanceof AgentRateLimitError || error instanceof AgentUnavailableError)) return false;
  return error.status === undefined || statuses.includes(error.status);
}

/**
 * Makes a call that may be repeated until it succeeds, fails for good or the policy's tries are used up, and
 * throws the last error with the number of tries in `attempts`. Must not be given a creation or a send.
 */
export async function retryCall<T>(
  once: (attempt: number) => Promise<T>,
  policy: RetryPolicy,
  signal: AbortSignal | undefined,
): Promise<T> {
  const start = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await once(attempt);
    } catch (error) {
      if (error instanceof AgentError) error.attempts = attempt;
      if (!isTransient(error, policy.statuses) || attempt >= policy.attempts) throw error;
      const pause = retryDelay(attempt, error.retryAfterMs, policy);
      if (performance.now() - start + pause > policy.totalMs) throw error;
      await wait(pause, signal, error);
    }
  }
}

async function wait(ms: number, signal: AbortSignal | undefined, last: AgentError): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (cause) {
    throw new AgentAbortedError({
      sentence: 'The call to the agent service was stopped while it waited to be tried again.',
      outcome: last.outcome,
      cause,
    });
  }
}
