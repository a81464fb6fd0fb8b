/**
 * What is known about a call that failed.
 * `not_sent`: nothing left this process. `refused`: the service answered that it did not do it.
 * `unknown`: it may have taken effect; look before sending it again.
 */
export type AgentCallOutcome = 'not_sent' | 'refused' | 'unknown';

/** The closed set of kinds of failure. */
export type AgentErrorCode =
  | 'bad_key'
  | 'not_found'
  | 'busy'
  | 'rejected'
  | 'rate_limited'
  | 'unavailable'
  | 'not_understood'
  | 'lease_lost'
  | 'aborted'
  | 'wrong_size';

/** A request id is logged with each error (characters). */
const MAX_REQUEST_ID_LENGTH = 200;

/** What every error of this folder is made of. */
export interface AgentErrorDetails {
  /** For a human: what happened and what to do. Never holds the key or a signed link. */
  readonly sentence: string;
  readonly outcome: AgentCallOutcome;
  /** HTTP status, where there was an answer. */
  readonly status?: number | undefined;
  /** The service's id of the request, for its support. */
  readonly requestId?: string | undefined;
  readonly cause?: unknown;
}

/** Any failure of a call to the service or to one of its signed links. */
export abstract class AgentError extends Error {
  abstract readonly code: AgentErrorCode;
  readonly sentence: string;
  readonly outcome: AgentCallOutcome;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  /** How many times the call was sent before this error was given up to the caller. */
  attempts = 1;

  constructor(details: AgentErrorDetails) {
    super(details.sentence, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.sentence = details.sentence;
    this.outcome = details.outcome;
    this.status = details.status;
    this.requestId = details.requestId?.slice(0, MAX_REQUEST_ID_LENGTH);
  }
}

/** 401 or 403: an administrator must mend the key. */
export class AgentKeyError extends AgentError {
  readonly code = 'bad_key';
}

/** 404: the id, or the skill of a message, is unknown to the service. */
export class AgentNotFoundError extends AgentError {
  readonly code = 'not_found';
}

/** 409: the task or file is in a state in which it does not take this call now. */
export class AgentBusyError extends AgentError {
  readonly code = 'busy';
}

/** Any other 4xx: the service does not want this request as it is; `words` is its reason. */
export class AgentRejectedError extends AgentError {
  readonly code = 'rejected';
  readonly #words: string;

  constructor(details: AgentErrorDetails & { readonly words: string }) {
    super(details);
    this.#words = details.words;
  }

  /** The service's own words, or '' where it gave none. Untrusted text, and in no log: it may repeat what was sent. */
  get words(): string {
    return this.#words;
  }
}

/** 429: too many calls under this key. */
export class AgentRateLimitError extends AgentError {
  readonly code = 'rate_limited';
  /** Milliseconds that the service asked us to wait, where it said so. */
  readonly retryAfterMs: number | undefined;

  constructor(details: AgentErrorDetails & { readonly retryAfterMs?: number | undefined }) {
    super(details);
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** 5xx, a broken connection or a time-out. */
export class AgentUnavailableError extends AgentError {
  readonly code = 'unavailable';
  /** Milliseconds that the service asked us to wait, where it said so. */
  readonly retryAfterMs: number | undefined;

  constructor(details: AgentErrorDetails & { readonly retryAfterMs?: number | undefined }) {
    super(details);
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** An answer that is not JSON, not of the documented shape, or a redirect that we do not follow. */
export class AgentResponseError extends AgentError {
  readonly code = 'not_understood';
}

/** An answer that is larger than is read (see answer-bounds.ts). A list may be asked for in smaller pages. */
export class AgentResponseSizeError extends AgentResponseError {}

/** Another process may hold this thread's lease by now, so the call was not made. */
export class AgentLeaseError extends AgentError {
  readonly code = 'lease_lost';
}

/** The caller's signal ended the call. */
export class AgentAbortedError extends AgentError {
  readonly code = 'aborted';
}

/** A file's bytes were more or fewer than promised; nothing was finalized. */
export class AgentFileSizeError extends AgentError {
  readonly code = 'wrong_size';
}
