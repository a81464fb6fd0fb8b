import { setTimeout as sleep } from 'node:timers/promises';
import { AgentError } from './errors.ts';

export const DEFAULT_RETRY_POLICY = {
  maxAttempts: 5,
  /** Milliseconds from the first attempt after which no other starts. */
  maxTotalMs: 90_000,
  /** The longest first pause (ms); doubles with each attempt. */
  baseDelayMs: 500,
  /** The longest pause (ms), unless the service asks for a longer one. */
  maxDelayMs: 20_000,
  /** Statuses that are retried. Broken connections and timeouts always are. */
  retryStatuses: [429, 502, 503, 504, 529],
};

export type RetryPolicy = Readonly<typeof DEFAULT_RETRY_POLICY>;

/** The pause (ms) after an attempt, counted from 1: `retryAfterMs` and a little more, or back-off with full jitter. */
export function retryDelay(
  attempt: number,
  retryAfterMs: number | undefined,
  policy: Pick<RetryPolicy, 'baseDelayMs' | 'maxDelayMs'> = DEFAULT_RETRY_POLICY,
  random: () => number = Math.random,
): number {
  if (retryAfterMs !== undefined) return retryAfterMs + random() * policy.baseDelayMs;
  return random() * Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** Math.min(attempt - 1, 30));
}

/**
 * Retries a call until it succeeds, fails for good or the policy's limits are reached. Throws the last error with the
 * number of attempts in `attempts`. Without a `maxAttempts` of 1, never pass a call that creates or sends something.
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
      if (!isTransient(error) || attempt >= policy.maxAttempts) throw error;
      if (error.status !== undefined && !policy.retryStatuses.includes(error.status)) throw error;
      const pause = retryDelay(attempt, error.retryAfterMs, policy);
      if (performance.now() - start + pause > policy.maxTotalMs) throw error;
      await wait(pause, signal, error);
    }
  }
}

async function wait(ms: number, signal: AbortSignal | undefined, lastError: AgentError): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (cause) {
    throw new AgentError('aborted', {
      sentence: 'The call to the agent service was stopped while it waited for a retry.',
      outcome: lastError.outcome,
      cause,
    });
  }
}

function isTransient(error: unknown): error is AgentError {
  return error instanceof AgentError && (error.code === 'rate_limited' || error.code === 'unavailable');
}
