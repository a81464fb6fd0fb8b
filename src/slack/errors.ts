import { type LeaseGuard, MAX_RETRY_AFTER_MS, repeatCall } from '../calls/retries-and-waits.ts';

/**
 * The effect of a failed call: with `none` it certainly had no effect; with `unknown` it may have taken effect, so look
 * up what happened before you repeat it.
 */
export type SlackCallOutcome = 'none' | 'unknown';

export interface SlackErrorDetails {
  /** Slack's method, such as `chat.update`. */
  method: string;
  /** Slack's error code, or our own if Slack gave none. */
  slackCode: string;
  outcome: SlackCallOutcome;
  /** What Slack says is wrong, and where, such as `[ERROR] … [json-pointer:/blocks/0/text]`; for the log. */
  reasons?: readonly string[] | undefined;
  cause?: unknown;
}

/** Any failure of a call to Slack. The message says how to fix it. */
export abstract class SlackError extends Error {
  abstract readonly code: string;
  readonly method: string;
  readonly slackCode: string;
  readonly outcome: SlackCallOutcome;
  /** For the log, never for people. */
  readonly reasons: readonly string[] | undefined;

  constructor(call: SlackErrorDetails, sentence: string) {
    super(`${call.method}: ${call.slackCode}. ${sentence}`, { cause: call.cause });
    this.name = new.target.name;
    this.method = call.method;
    this.slackCode = call.slackCode;
    this.outcome = call.outcome;
    this.reasons = call.reasons;
  }
}

/** The pause (ms) after a rate-limited call if Slack does not say how long. */
const DEFAULT_RETRY_AFTER_MS = 10_000;

/** Slack's rate limit: a 429, or an `ok:false` that means the same. The call had no effect. */
export class SlackRateLimitError extends SlackError {
  readonly code = 'throttled';
  /** Milliseconds to pause this method in this workspace. */
  readonly retryAfterMs: number;

  constructor(call: Omit<SlackErrorDetails, 'outcome'>, requestedMs = DEFAULT_RETRY_AFTER_MS) {
    const retryAfterMs = Math.min(requestedMs, MAX_RETRY_AFTER_MS);
    super(
      { ...call, outcome: 'none' },
      `Slack's rate limit is reached; wait ${retryAfterMs} ms before the next call.`,
    );
    this.retryAfterMs = retryAfterMs;
  }
}

/** The bot cannot reach or write to this channel or thread. */
export class ChannelGoneError extends SlackError {
  readonly code = 'channel_gone';
}

/** The message, or the thread's root, is gone or can no longer be changed. */
export class MessageGoneError extends SlackError {
  readonly code = 'message_gone';
}

/** For `catch`: there is nothing where a message is gone. Throws any other error. */
export function undefinedIfGone(error: unknown): undefined {
  if (!(error instanceof MessageGoneError)) throw error;
}

/** Slack refuses this content: post something shorter or plainer. */
export class PayloadRefusedError extends SlackError {
  readonly code = 'payload_refused';
}

/** The token does not allow the call. */
export class SlackAuthError extends SlackError {
  readonly code = 'unauthorized';
  /** False if only a scope is missing: other calls of the installation still work. */
  readonly isInstallationDead: boolean;
  /** The scopes that Slack misses, separated by commas. */
  readonly neededScopes: string | undefined;

  constructor(call: SlackErrorDetails, sentence: string, isInstallationDead = false, neededScopes?: string) {
    super(call, sentence);
    this.isInstallationDead = isInstallationDead;
    this.neededScopes = neededScopes;
  }
}

/** Whether an organisation's token works, but not in the workspace that the call is about, until its admins grant that. */
export function isAccessNotGranted(error: unknown): boolean {
  return error instanceof SlackAuthError && error.slackCode === 'team_access_not_granted';
}

/** The network or Slack itself failed, and may work again soon. */
export class SlackUnavailableError extends SlackError {
  readonly code = 'unavailable';
}

/** Whether Slack itself failed at this call: outside of an outage, perhaps because of what the call contains. */
export function isSlackFault(error: unknown): error is SlackUnavailableError {
  if (!(error instanceof SlackUnavailableError)) return false;
  return error.slackCode === 'internal_error' || error.slackCode === 'fatal_error';
}

/** The turn's lease ended: another process may have taken over. */
export class SlackLeaseError extends SlackError {
  readonly code = 'lease_ended';

  constructor(call: Omit<SlackErrorDetails, 'slackCode'>) {
    super(
      { ...call, slackCode: 'lease_ended' },
      call.outcome === 'none'
        ? 'Nothing was sent; leave the turn to the process that now holds it.'
        : 'The call was cut off; the process that now holds the turn must look up what happened.',
    );
  }
}

/** Throws SlackLeaseError if the lease has ended. */
export function assertLeaseHeld(method: string, guard: LeaseGuard | undefined): void {
  if (guard === undefined) return;
  if (guard.signal.aborted || guard.remainingMs() <= 0) {
    throw new SlackLeaseError({ method, outcome: 'none', cause: guard.signal.reason });
  }
}

/** Slack refuses the call for any other reason. */
export class SlackRefusedError extends SlackError {
  readonly code = 'refused';
}

/** Whether Slack refuses a call with such a code. */
export function isRefusedWith(codes: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof SlackRefusedError && codes.test(error.slackCode);
}

/** Whether Slack will refuse this call for a while, although other calls of the installation work. */
export function isPermanentRefusal(error: unknown): boolean {
  return error instanceof SlackRefusedError || (error instanceof SlackAuthError && !error.isInstallationDead);
}

const MAX_ATTEMPTS = 4;
/** The pause before the second attempt (ms); it grows with each one. */
const RETRY_PAUSE_MS = 500;

/** Repeats a call that may be repeated, while Slack is unavailable or limits it. Throws the last error. */
export async function retryTransient<T>(call: () => Promise<T>): Promise<T> {
  return await repeatCall(call, (error, attempt) => {
    if (attempt >= MAX_ATTEMPTS) return undefined;
    if (error instanceof SlackRateLimitError) return error.retryAfterMs;
    // The response to a person's token, for example, always has another shape.
    const isTransient = error instanceof SlackUnavailableError && error.slackCode !== 'unreadable_answer';
    return isTransient ? RETRY_PAUSE_MS * attempt : undefined;
  });
}
