import { WebAPIHTTPError, WebAPIPlatformError, WebAPIRequestError } from '@slack/web-api';
import { z } from 'zod';
import type { LeaseGuard } from '../calls/lease.ts';
import { errorForCode } from './error-codes.ts';
import {
  SlackError,
  SlackLeaseError,
  SlackRateLimitError,
  SlackRefusedError,
  SlackUnavailableError,
} from './errors.ts';
import { listOf, optional } from './field-schemas.ts';

export interface InFlightRequest {
  method: string;
  guard: LeaseGuard | undefined;
  signal: AbortSignal;
  isSent: boolean;
  status?: number;
  retryAfterMs?: number | undefined;
}

/** Socket errors before a byte of the request is written. */
const NEVER_SENT_CODES =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_.*|CERT_.*|.*SELF_SIGNED.*|UNABLE_TO_.*)$/;

const texts = listOf(z.string()).catch([]);
const platformErrorSchema = z.looseObject({
  error: z.string(),
  needed: optional(z.string()),
  errors: texts,
  response_metadata: z.looseObject({ messages: texts }).catch({ messages: [] }),
});
/** The most that is kept of what Slack says about one refused call. */
const MAX_REASONS = 10;
const MAX_REASON_LENGTH = 300;
const socketErrorSchema = z.looseObject({ code: z.string() });

/** The error for a response that does not match its schema. */
export function unreadableResponse(method: string, cause: unknown): SlackUnavailableError {
  return new SlackUnavailableError(
    { method, slackCode: 'unreadable_answer', outcome: 'unknown', cause },
    "Slack's response could not be read; check SLACK_API_URL and any proxy.",
  );
}

/** The error for anything that a request to Slack threw. */
export function toSlackError(request: InFlightRequest, error: unknown): SlackError {
  const { method } = request;
  if (error instanceof SlackError) return error;
  if (error instanceof WebAPIRequestError && error.original instanceof SlackError) return error.original;
  if (request.status === 429) {
    return new SlackRateLimitError({ method, slackCode: 'ratelimited', cause: error }, request.retryAfterMs);
  }
  if (error instanceof WebAPIPlatformError) return fromPlatformError(request, error);
  if (error instanceof WebAPIHTTPError) return fromHttpStatus(method, error);
  return fromNetworkError(request, error);
}

function fromPlatformError(request: InFlightRequest, cause: WebAPIPlatformError): SlackError {
  const data = platformErrorSchema.safeParse(cause.data);
  // WebClient puts a body that is not JSON, such as a proxy's page, in the place of the code.
  if (!data.success || !/^\w{1,100}$/.test(data.data.error)) return unreadableResponse(request.method, cause);
  const { error, needed, errors, response_metadata } = data.data;
  return errorForCode(request.method, error, {
    retryAfterMs: request.retryAfterMs,
    neededScopes: needed,
    reasons: reasonsIn(response_metadata.messages, errors),
    cause,
  });
}

/** What Slack says, without the people's text and links that it may quote. */
function reasonsIn(messages: readonly string[], errors: readonly string[]): string[] {
  const others = errors.filter((error) => !messages.some((message) => message.endsWith(error)));
  return [...messages, ...others]
    .filter((reason) => reason !== '')
    .slice(0, MAX_REASONS)
    .map((reason) => reason.replaceAll(/"[^"]*"?|https?:[^\s\]]+/g, '…').slice(0, MAX_REASON_LENGTH));
}

function fromHttpStatus(method: string, cause: WebAPIHTTPError): SlackError {
  const status = cause.statusCode;
  const slackCode = `http_${status}`;
  if (status >= 500 || status === 408) {
    return new SlackUnavailableError(
      { method, slackCode, outcome: 'unknown', cause },
      'Slack or a proxy failed; look at status.slack.com and at any proxy.',
    );
  }
  return new SlackRefusedError(
    { method, slackCode, outcome: 'none', cause },
    'Check SLACK_API_URL and any proxy.',
  );
}

function fromNetworkError(request: InFlightRequest, cause: unknown): SlackError {
  const { method } = request;
  const codes = codesOf(cause);
  const outcome = request.isSent && !codes.some((code) => NEVER_SENT_CODES.test(code)) ? 'unknown' : 'none';
  if (request.guard?.signal.aborted) return new SlackLeaseError({ method, outcome, cause });
  if (request.signal.aborted) {
    return new SlackUnavailableError(
      { method, slackCode: 'timed_out', outcome, cause },
      'Slack did not respond in time; check the network, SLACK_API_URL and any proxy.',
    );
  }
  if (request.status === 200) return unreadableResponse(method, cause);
  const code = codes.at(-1);
  return new SlackUnavailableError(
    { method, slackCode: 'network', outcome, cause },
    `The connection to Slack failed${code === undefined ? '' : ` (${code})`}; check the network, SLACK_API_URL and any proxy.`,
  );
}

/** The codes of an error and of what caused it, such as ECONNREFUSED. */
function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  for (let at = error, depth = 0; at instanceof Error && depth < 6; at = at.cause, depth += 1) {
    const { data } = socketErrorSchema.safeParse(at);
    if (data !== undefined) codes.push(data.code);
  }
  return codes;
}
