/**
 * The effect of a failed call.
 * - `not_sent`: no byte was sent, so the call had no effect. It is safe to send it again.
 * - `refused`: the service responded that it did not carry the call out. Sending it again unchanged may fail again.
 * - `unknown`: the call may have taken effect. Look up what happened before you send it again.
 */
export type AgentCallOutcome = 'not_sent' | 'refused' | 'unknown';

export type AgentErrorCode =
  /** 401, or 403 whatever is called: an admin must replace the key. */
  | 'bad_key'
  | 'not_found'
  /** 409: the task or file is in a state that does not allow this call now. */
  | 'busy'
  | 'rejected'
  /** 429: too many calls under this key. */
  | 'rate_limited'
  /** 5xx, a broken connection or a timeout. */
  | 'unavailable'
  /** A response that is not JSON or not of the documented shape, or a redirect or link that the client does not follow. */
  | 'not_understood'
  /** The lease on the thread ended, so another process may have taken the thread. */
  | 'lease_lost'
  /** The caller's signal ended the call. */
  | 'aborted'
  /** A file had more or fewer bytes than announced; nothing was finalized. */
  | 'wrong_size';

/** Characters of a request id, which every logged error carries. */
const MAX_REQUEST_ID_LENGTH = 200;

export interface AgentErrorDetails {
  /** For people: what happened and what to do. Never contains the key or a signed link. */
  readonly sentence: string;
  readonly outcome: AgentCallOutcome;
  readonly status?: number | undefined;
  /** The service's id of the request, for its support team. */
  readonly requestId?: string | undefined;
  /** Milliseconds that the service asks us to wait, if it says so. */
  readonly retryAfterMs?: number | undefined;
  /** The response exceeds the limits of response-limits.ts: a list can be read in smaller pages. */
  readonly isTooLarge?: boolean;
  /** The call (method and path template), if it creates something: after `unknown`, it may have. */
  readonly creates?: string | undefined;
  readonly cause?: unknown;
}

/** Any failure of a call to the service or to one of its signed links. */
export class AgentError extends Error {
  readonly code: AgentErrorCode;
  readonly outcome: AgentCallOutcome;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly isTooLarge: boolean;
  readonly creates: string | undefined;
  /** The number of attempts before the client gave up. */
  attempts = 1;

  constructor(code: AgentErrorCode, details: AgentErrorDetails) {
    super(details.sentence, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.code = code;
    this.outcome = details.outcome;
    this.status = details.status;
    this.requestId = details.requestId?.slice(0, MAX_REQUEST_ID_LENGTH);
    this.retryAfterMs = details.retryAfterMs;
    this.isTooLarge = details.isTooLarge === true;
    this.creates = details.creates;
  }

  /** The call, if it has created something and its response cannot be read. */
  get unreadCreation(): string | undefined {
    return this.code === 'not_understood' && this.outcome === 'unknown' ? this.creates : undefined;
  }
}

/** 404: the service does not know the id, or the skill of a message. */
export class AgentNotFoundError extends AgentError {
  constructor(details: AgentErrorDetails) {
    super('not_found', details);
  }
}

/** The result of a call; undefined if the service does not know what it asks for. */
export async function undefinedIfNotFound<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof AgentNotFoundError) return undefined;
    throw error;
  }
}

/** Any other 4xx: the service rejects this request. */
export class AgentRejectedError extends AgentError {
  readonly #reason: string;
  /**
   * `forbidden`: 403, although the key is valid. `blocked`: the same with a gateway's page, as for what looks like an attack.
   * `expired_link`: another link can be asked for.
   */
  readonly kind: 'forbidden' | 'blocked' | 'expired_link' | undefined;

  constructor(details: AgentErrorDetails & { readonly reason: string }, kind?: AgentRejectedError['kind']) {
    super('rejected', details);
    this.#reason = details.reason;
    this.kind = kind;
  }

  /** The service's own reason, or what its status means. Untrusted text that may repeat the request: never log it. */
  get reason(): string {
    return this.#reason;
  }
}

/** Whether the key is valid and may not use what the call asked for. */
export function isForbidden(error: unknown): error is AgentRejectedError {
  return error instanceof AgentRejectedError && error.kind === 'forbidden';
}

/** Whether the state of the task or file does not allow the call now. */
export function isBusy(error: unknown): error is AgentError {
  return error instanceof AgentError && error.code === 'busy';
}

/** Whether a response is above the limits of response-limits.ts. */
export function isTooLarge(error: unknown): error is AgentError {
  return error instanceof AgentError && error.isTooLarge;
}
