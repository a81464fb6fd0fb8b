import type { Dialect } from './dialect.ts';
import { errorWords, reasonIn } from './error-words.ts';
import {
  AgentAbortedError,
  AgentAnswerError,
  AgentBusyError,
  AgentError,
  type AgentErrorDetails,
  AgentKeyError,
  AgentLeaseError,
  AgentNotFoundError,
  AgentRateLimitError,
  AgentRejectedError,
  AgentUnavailableError,
  type Outcome,
} from './errors.ts';
import { type Answer, BrokenExchange, readText } from './exchange.ts';
import { retryAfter } from './retry.ts';

/** Bytes of an error body that are read at most. */
const mostErrorBytes = 64 * 1024;

/** Who a call goes to and what it is called in sentences and logs. */
export interface Called {
  /** Method and path template, or a link's purpose; never an address with a signature. */
  readonly name: string;
  readonly to: 'service' | 'link';
  readonly dialect: Dialect;
  /** Takes the key out of a text from outside. */
  readonly redact: (text: string) => string;
}

/** What had ended the call when it broke. */
export interface Ending {
  readonly timedOut: boolean;
  readonly aborted: boolean;
  readonly leaseLost: boolean;
}

/** The error for an answer that is not 2xx; reads its body. */
export async function refusal(called: Called, answer: Answer): Promise<AgentError> {
  const { status } = answer;
  const { dialect } = called;
  const { text } = await readText(answer.body, mostErrorBytes).catch(() => ({ text: '' }));
  // Logs have the sentence: what may repeat people's words is left out of it.
  const reason = called.redact(reasonIn(text, dialect.errorWords) ?? '');
  const said = reason === '' ? '' : ` It said: ${reason}`;
  const who = called.to === 'service' ? 'The agent service' : "The agent service's file storage";
  const about = `(${called.name}, status ${status})`;
  const details = (sentence: string): AgentErrorDetails => ({
    sentence: `${who} ${sentence}${said}`,
    outcome: outcomeOf(status),
    status,
    requestId: answer.header(dialect.requestIdHeader),
  });
  const wait = { retryAfterMs: retryAfter(answer.header('retry-after')) };

  if (status < 400) return new AgentAnswerError(details(`answered with a redirect, not followed ${about}.`));
  if (called.to === 'service') {
    if (dialect.badKeyStatuses.includes(status)) {
      return new AgentKeyError(
        details(`does not accept the API key ${about}. An administrator must set a valid AGENT_API_KEY.`),
      );
    }
    if (status === 404) return new AgentNotFoundError(details(`does not know what was asked for ${about}.`));
    if (dialect.busyStatuses.includes(status)) {
      return new AgentBusyError(details(`cannot take this now ${about}. Try again when it has finished.`));
    }
  }
  if (status === 429) {
    return new AgentRateLimitError({ ...details(`gets too many calls ${about}. Try again later.`), ...wait });
  }
  if (status >= 500) {
    return new AgentUnavailableError({ ...details(`has a problem ${about}. Try again later.`), ...wait });
  }
  const words = called.redact(errorWords(text, dialect.errorWords));
  return new AgentRejectedError({ ...details(`${refusedFor(status)} ${about}.`), words });
}

/** The error for a call that broke without a readable answer. Errors of a request's own body come back. */
export function breakdown(called: Called, error: unknown, ending: Ending): unknown {
  const started = !(error instanceof BrokenExchange) || error.started;
  const cause = error instanceof BrokenExchange ? error.cause : error;
  if (cause instanceof AgentError || cause instanceof BodyFailure) return cause;
  const outcome: Outcome = started ? 'unknown' : 'not_sent';
  const whether = started ? 'It may have arrived.' : 'Nothing was sent.';
  const details = (sentence: string): AgentErrorDetails => ({
    sentence: `${sentence} ${whether}`,
    outcome,
    cause,
  });

  if (ending.leaseLost) return leaseLost(called.name, outcome);
  if (ending.aborted) return new AgentAbortedError(details(`The call was stopped (${called.name}).`));
  const who = called.to === 'service' ? 'The agent service' : "The agent service's file storage";
  if (ending.timedOut) {
    return new AgentUnavailableError(details(`${who} did not answer in time (${called.name}).`));
  }
  return new AgentUnavailableError(
    details(`${who} could not be reached or broke off (${called.name}${codeOf(cause)}).`),
  );
}

/** The error for a call whose lease had ended. */
export function leaseLost(name: string, outcome: Outcome): AgentLeaseError {
  return new AgentLeaseError({
    sentence: `Another process may hold this thread by now, so this one stopped (${name}).`,
    outcome,
  });
}

/** A request's body could not be read from its source; `cause` is the source's own error. */
export class BodyFailure extends Error {
  constructor(cause: unknown) {
    super('The body could not be read', { cause });
  }
}

/** A gateway's 5xx may hide a call that took effect; 529 and 4xx come from the service before it acts. */
function outcomeOf(status: number): Outcome {
  if (status === 303 || (status >= 500 && status !== 529)) return 'unknown';
  return 'refused';
}

function refusedFor(status: number): string {
  if (status === 402) return 'wants its account or credit to be put in order first';
  if (status === 413) return 'finds this too large';
  return 'does not accept this request';
}

function codeOf(cause: unknown): string {
  if (typeof cause !== 'object' || cause === null || !('code' in cause)) return '';
  return typeof cause.code === 'string' ? `, ${cause.code}` : '';
}
