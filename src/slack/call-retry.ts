import { setTimeout as sleep } from 'node:timers/promises';
import { SlackRateLimitError, SlackUnavailableError } from './errors.ts';

const MAX_ATTEMPTS = 4;
/** The pause before the second attempt (ms); it grows with each one. */
const RETRY_PAUSE_MS = 500;

/** Repeats a call that may be repeated, while Slack is unavailable or limits it. Throws the last error. */
export async function retryCall<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      const limitMs = error instanceof SlackRateLimitError ? error.retryAfterMs : undefined;
      // The response to a person's token, for example, always has another shape.
      const isTransient = error instanceof SlackUnavailableError && error.slackCode !== 'unreadable_answer';
      if (attempt >= MAX_ATTEMPTS || (limitMs === undefined && !isTransient)) throw error;
      await sleep(limitMs ?? RETRY_PAUSE_MS * attempt);
    }
  }
}
