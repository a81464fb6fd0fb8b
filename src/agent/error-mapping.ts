import { parseRetryAfter } from './call-retry.ts';
import { errorText, reasonInBody } from './error-body.ts';
import {
  AgentAbortedError,
  AgentBusyError,
  type AgentCallOutcome,
  AgentError,
  type AgentErrorDetails,
  AgentKeyError,
  AgentLeaseError,
  AgentNotFoundError,
  AgentRateLimitError,
  AgentRejectedError,
  AgentResponseError,
  AgentUnavailableError,
} from './errors.ts';
import { BrokenRequestError, type HttpResponse, readText } from './http-request.ts';
import type { ServiceOptions } from './service-options.ts';

/** Bytes of an error body that are read at most. */
const MAX_ERROR_BODY_BYTES = 64 * 1024;

/** Who a call goes to and what it is called in sentences and logs. */
export interface CallContext {
  /** Method and path template, or a link's purpose; never an address with a signature. */
  readonly name: string;
  readonly target: 'service' | 'link';
  readonly serviceOptions: ServiceOptions;
  /** Takes the key out of a text from outside. */
  readonly redact: (text: string) => string;
}

/** What had ended the call when it broke. */
export interface EndReason {
  readonly timedOut: boolean;
  readonly aborted: boolean;
  readonly leaseLost: boolean;
}

/** The error for an answer that is not 2xx; reads its body. */
export async function errorForResponse(context: CallContext, answer: HttpResponse): Promise<AgentError> {
  const { status } = answer;
  const { serviceOptions } = context;
  const { text } = await readText(answer.body, MAX_ERROR_BODY_BYTES).catch(() => ({ text: '' }));
  // Logs have the sentence: what may repeat people's words is left out of it.
  const reason = context.redact(reasonInBody(text, serviceOptions.errorWords) ?? '');
  const said = reason === '' ? '' : ` It said: ${reason}`;
  const who = context.target === 'service' ? 'The agent service' : "The agent service's file storage";
  const about = `(${context.name}, status ${status})`;
  const details = (sentence: string): AgentErrorDetails => ({
    sentence: `${who} ${sentence}${said}`,
    outcome: outcomeOf(status),
    status,
    requestId: answer.header(serviceOptions.requestIdHeader),
  });
  const wait = { retryAfterMs: parseRetryAfter(answer.header('retry-after')) };

  if (status < 400)
    return new AgentResponseError(details(`answered with a redirect, not followed ${about}.`));
  if (context.target === 'service') {
    if (serviceOptions.badKeyStatuses.includes(status)) {
      return new AgentKeyError(
        details(`does not accept the API key ${about}. An administrator must set a valid AGENT_API_KEY.`),
      );
    }
    if (status === 404) return new AgentNotFoundError(details(`does not know what was asked for ${about}.`));
    if (serviceOptions.busyStatuses.includes(status)) {
      return new AgentBusyError(details(`cannot take this now ${about}. Try again when it has finished.`));
    }
  }
  if (status === 429) {
    return new AgentRateLimitError({ ...details(`gets too many calls ${about}. Try again later.`), ...wait });
  }
  if (status >= 500) {
    return new AgentUnavailableError({ ...details(`has a problem ${about}. Try again later.`), ...wait });
  }
  const words = context.redact(errorText(text, serviceOptions.errorWords));
  return new AgentRejectedError({ ...details(`${rejectionSentence(status)} ${about}.`), words });
}

/** The error for a call that broke without a readable answer. Errors of a request's own body come back. */
export function errorForBrokenRequest(context: CallContext, error: unknown, ending: EndReason): unknown {
  const started = !(error instanceof BrokenRequestError) || error.wasStarted;
  const cause = error instanceof BrokenRequestError ? error.cause : error;
  if (cause instanceof AgentError || cause instanceof RequestBodyError) return cause;
  const outcome: AgentCallOutcome = started ? 'unknown' : 'not_sent';
  const whether = started ? 'It may have arrived.' : 'Nothing was sent.';
  const details = (sentence: string): AgentErrorDetails => ({
    sentence: `${sentence} ${whether}`,
    outcome,
    cause,
  });

  if (ending.leaseLost) return leaseLostError(context.name, outcome);
  if (ending.aborted) return new AgentAbortedError(details(`The call was stopped (${context.name}).`));
  const who = context.target === 'service' ? 'The agent service' : "The agent service's file storage";
  if (ending.timedOut) {
    return new AgentUnavailableError(details(`${who} did not answer in time (${context.name}).`));
  }
  return new AgentUnavailableError(
    details(`${who} could not be reached or broke off (${context.name}${codeOf(cause)}).`),
  );
}

/** The error for a call whose lease had ended. */
export function leaseLostError(name: string, outcome: AgentCallOutcome): AgentLeaseError {
  return new AgentLeaseError({
    sentence: `Another process may hold this thread by now, so this one stopped (${name}).`,
    outcome,
  });
}

/** A request's body could not be read from its source; `cause` is the source's own error. */
export class RequestBodyError extends Error {
  constructor(cause: unknown) {
    super('The body could not be read', { cause });
  }
}

/** A gateway's 5xx may hide a call that took effect; 529 and 4xx come from the service before it acts. */
function outcomeOf(status: number): AgentCallOutcome {
  if (status === 303 || (status >= 500 && status !== 529)) return 'unknown';
  return 'refused';
}

function rejectionSentence(status: number): string {
  if (status === 402) return 'wants its account or credit to be put in order first';
  if (status === 413) return 'finds this too large';
  return 'does not accept this request';
}

function codeOf(cause: unknown): string {
  if (typeof cause !== 'object' || cause === null || !('code' in cause)) return '';
  return typeof cause.code === 'string' ? `, ${cause.code}` : '';
}
