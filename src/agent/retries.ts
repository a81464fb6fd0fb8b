import { setTimeout as sleep } from 'node:timers/promises';
import { doubledMs, repeatCall } from '../calls/retries-and-waits.ts';
import { AgentError } from './errors.ts';

export const DEFAULT_RETRY_POLICY = {
  maxAttempts: 5,
  /** Milliseconds from the first attempt after which no other starts. */
  maxTotalMs: 90_000,
  /** The longest first pause (ms); doubles with each attempt. */
  baseDelayMs: 500,
  /** The longest pause (ms), unless the service asks for a longer one. */
  maxDelayMs: 20_000,
};

/** To a call that creates something: what is in its way may go, and nothing was created. */
const CONFLICT = 409;
/** Statuses of what a server cannot do, or of a network that wants a sign-in: a repetition gets the same. */
const LASTING_STATUSES: readonly unknown[] = [501, 505, 507, 511];

export type RetryPolicy = Readonly<typeof DEFAULT_RETRY_POLICY>;

/** The pause (ms) after an attempt, counted from 1: `retryAfterMs` and a little more, or back-off with full jitter. */
export function retryDelay(
  attempt: number,
  retryAfterMs: number | undefined,
  policy: Pick<RetryPolicy, 'baseDelayMs' | 'maxDelayMs'> = DEFAULT_RETRY_POLICY,
  random: () => number = Math.random,
): number {
  if (retryAfterMs !== undefined) return retryAfterMs + random() * policy.baseDelayMs;
  return random() * doubledMs(policy.baseDelayMs, attempt, policy.maxDelayMs);
}

/**
 * Retries a call until it succeeds, fails for good or the policy's limits are reached. Throws the last error with the
 * number of attempts in `attempts`. Of what must not happen twice (not `mayRepeat`), only a creation that was refused for a
 * conflict is retried.
 */
export function retryCall<T>(
  once: (attempt: number) => Promise<T>,
  policy: RetryPolicy,
  signal: AbortSignal | undefined,
  mayRepeat = true,
): Promise<T> {
  const start = performance.now();
  const pauseAfter = (error: unknown, attempt: number) => {
    if (!(error instanceof AgentError)) return undefined;
    error.attempts = attempt;
    const { code, status, retryAfterMs, creates } = error;
    const isTransient = mayRepeat && (code === 'rate_limited' || code === 'unavailable');
    const mayPass = isTransient || (status === CONFLICT && creates !== undefined);
    if (!mayPass || LASTING_STATUSES.includes(status) || attempt >= policy.maxAttempts) return undefined;
    const pauseMs = retryDelay(attempt, retryAfterMs, policy);
    return performance.now() - start + pauseMs > policy.maxTotalMs ? undefined : pauseMs;
  };
  return repeatCall(once, pauseAfter, async (ms, error) => {
    await sleep(ms, undefined, { signal }).catch((cause: unknown) => {
      const sentence = 'The call to the agent service was stopped while it waited for a retry.';
      const outcome = error instanceof AgentError ? error.outcome : 'unknown';
      throw new AgentError('aborted', { sentence, outcome, cause });
    });
  });
}
