import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { readText } from '../calls/content-coding.ts';
import { parseJson, valueAt } from '../calls/json.ts';
import { failureCodes } from '../calls/outbound-proxy.ts';
import { isTransientStatus, parseRetryAfter } from '../calls/retries-and-waits.ts';
import {
  type AgentCallOutcome,
  AgentError,
  type AgentErrorCode,
  type AgentErrorDetails,
  AgentNotFoundError,
  AgentRejectedError,
} from './errors.ts';
import { BrokenRequestError, type HttpResponse } from './http-request.ts';
import type { ServiceOptions } from './service-options.ts';

const MAX_ERROR_BODY_BYTES = 64 * 1024;

/** What may be busy in a call's name. To a call that creates or renames something, the same status is a refusal: its name is taken. */
const MAY_BE_BUSY = /\{(?:task|file)_id\}/;

/** S3's codes of what passes, whatever the status: those that its own clients retry, and two of its document. */
const PASSING_STORAGE_CODES =
  /^(?:RequestTimeout(?:Exception)?|Request(?:LimitExceeded|Throttled)|BandwidthLimitExceeded|SlowDown|Throttling(?:Exception)?|PriorRequestNotComplete|TransactionInProgressException|OperationAborted|ConditionalRequestConflict)$/;

/** What a call is called in error sentences and logs, and where it goes. */
export interface CallContext {
  /** Method and path template, or a link's purpose; never an address with a signature. */
  readonly name: string;
  readonly target: 'service' | 'link';
  readonly serviceOptions: ServiceOptions;
  /** The call only tries the key, so its 403 is about the key. */
  readonly isTrial?: boolean | undefined;
  /** The name again, if the call creates something. */
  readonly creates?: string | undefined;
  /** Removes the key from a text from outside. */
  readonly redact: (text: string) => string;
}

/** The error for a response that is not 2xx; reads its body. */
export async function errorForResponse(context: CallContext, response: HttpResponse): Promise<AgentError> {
  const { status } = response;
  const { serviceOptions, target } = context;
  const { text } = await readText(response.body, MAX_ERROR_BODY_BYTES).catch(() => ({ text: '' }));
  const words = context.redact(errorText(text, serviceOptions.errorWords));
  // Logs contain the sentence, so the service's own words are left out, which may repeat people's: only a trial has none.
  const said = context.isTrial === true && words !== '' ? ` It said: ${words}` : '';
  const about = `(${context.name}, status ${status})`;
  const isPassing =
    isTransientStatus(status) ||
    (target === 'link' && PASSING_STORAGE_CODES.test(xmlText(text, 'Code') ?? ''));
  const mayPass = status === 429 || isPassing;
  const pauseMs = parseRetryAfter(response.header('retry-after'), response.header('date'));
  const location = response.header('location') ?? '';
  // It may be the place of what was created, also by http behind a gateway. A page for a sign-in is mostly elsewhere.
  const isOwnPlace = URL.parse(location, response.url.href)?.host === response.url.host;
  const details = (sentence: string): AgentErrorDetails => ({
    ...responseDetails(context, response, outcomeOf(status, isOwnPlace)),
    creates: status >= 400 || isOwnPlace ? context.creates : undefined,
    sentence: `${serverName(target)} ${sentence}${said}`,
    retryAfterMs: mayPass ? pauseMs : undefined,
  });
  const reason = /[\p{L}\p{N}]/u.test(words) ? words : `${status} ${STATUS_CODES[status] ?? ''}`.trim();
  const fail = (code: AgentErrorCode, sentence: string) => new AgentError(code, details(sentence));

  if (status < 400) {
    const { origin } = URL.parse(location) ?? {};
    const redirect = origin === undefined ? 'a redirect' : `a redirect to ${origin}`;
    const sentence = `responded with ${redirect}, which the client does not follow ${about}.`;
    return fail('not_understood', target === 'service' ? `${sentence} Check AGENT_BASE_URL.` : sentence);
  }
  if (target === 'service') {
    if (status === 403 && context.isTrial !== true) {
      const kind = markupReason(text) === undefined ? 'forbidden' : 'blocked';
      return new AgentRejectedError({ ...details(`refused this call ${about}.`), reason }, kind);
    }
    if (serviceOptions.badKeyStatuses.includes(status))
      return fail(
        'bad_key',
        `rejected the API key ${about}. An administrator must set a valid AGENT_API_KEY.`,
      );
    if (status === 404 || status === 410)
      return new AgentNotFoundError(details(`could not find the requested item ${about}.`));
    if (serviceOptions.busyStatuses.includes(status) && MAY_BE_BUSY.test(context.name))
      return fail('busy', `is busy with this item ${about}. Try again when it has finished.`);
  }
  if (status === 429) return fail('rate_limited', `received too many calls ${about}. Try again later.`);
  if (isPassing) return fail('unavailable', `has a problem ${about}. Try again later.`);
  const rejection = { ...details(`${rejectionSentence(status)} ${about}.`), reason };
  const isExpired = target === 'link' && serviceOptions.expiredLinkStatuses.includes(status);
  return new AgentRejectedError(rejection, isExpired ? 'expired_link' : undefined);
}

/** The error for a call without a readable response. An AgentError and an error of the body stay as they are. */
export function errorForBrokenRequest(
  context: CallContext,
  error: unknown,
  endedBy: 'lease' | 'caller' | 'timeout' | undefined,
): unknown {
  const isBroken = error instanceof BrokenRequestError && error.kind !== 'unread_body';
  const wasStarted = !isBroken || error.kind === 'started';
  const cause = isBroken ? error.cause : error;
  if (cause instanceof AgentError || cause instanceof BrokenRequestError) return cause;
  const outcome: AgentCallOutcome = wasStarted ? 'unknown' : 'not_sent';
  const effect = wasStarted ? 'It may have arrived.' : 'Nothing was sent.';
  const details = (sentence: string): AgentErrorDetails => ({
    sentence: `${sentence} ${effect}`,
    outcome,
    cause,
    creates: context.creates,
  });

  if (endedBy === 'lease') return leaseLostError(context.name, outcome);
  if (endedBy === 'caller')
    return new AgentError('aborted', details(`The call was stopped (${context.name}).`));
  const server = serverName(context.target);
  if (endedBy === 'timeout') {
    return new AgentError('unavailable', details(`${server} did not respond in time (${context.name}).`));
  }
  const connection = `${server} could not be reached, or the connection broke`;
  const about = [context.name, ...failureCodes(cause).slice(-1)].join(', ');
  return new AgentError('unavailable', details(`${connection} (${about}).`));
}

/** The error for a call whose lease had ended. */
export function leaseLostError(name: string, outcome: AgentCallOutcome): AgentError {
  const sentence = `This process stopped because another one may have taken over the thread (${name}).`;
  return new AgentError('lease_lost', { sentence, outcome });
}

/** The error for a 2xx response above the limits; `maxDescription` names them. */
export function responseSizeError(
  context: CallContext,
  response: HttpResponse,
  maxDescription: string,
): AgentError {
  const sentence =
    `The agent service's response is too large to read (${context.name}, at most ${maxDescription}). ` +
    'Continue in a new thread, and ask for long answers as files.';
  const details = { ...responseDetails(context, response, 'unknown'), sentence, isTooLarge: true };
  return new AgentError('not_understood', details);
}

/** The error for a 2xx response that does not match the schema. */
export function unreadableResponseError(
  context: CallContext,
  response: HttpResponse,
  problem: string,
): AgentError {
  const sentence =
    `The agent service's response ${problem} (${context.name}, status ${response.status}). ` +
    'Check that AGENT_BASE_URL is the address of the service.';
  return new AgentError('not_understood', { ...responseDetails(context, response, 'unknown'), sentence });
}

/** The error for a call that has created something, which its response does not tell; without a `status`, not even its head. */
export function unreadCreationError(context: CallContext, error: AgentError, status?: number): AgentError {
  const { message: sentence, requestId, cause } = error;
  const details = { sentence, status, requestId, cause, creates: context.creates };
  return new AgentError('not_understood', { ...details, outcome: 'unknown' });
}

function responseDetails(context: CallContext, response: HttpResponse, outcome: AgentCallOutcome) {
  const requestId = response.header(context.serviceOptions.requestIdHeader);
  return { outcome, status: response.status, requestId };
}

function serverName(target: CallContext['target']): string {
  return target === 'service' ? 'The agent service' : "The agent service's file storage";
}

/** A gateway's 5xx or 408 may hide a call that took effect; the service sends 529 and other 4xx before it acts. */
function outcomeOf(status: number, isOwnPlace: boolean): AgentCallOutcome {
  const mayHaveMoved = status === 303 || (status === 302 && isOwnPlace);
  return mayHaveMoved || status === 408 || (status >= 500 && status !== 529) ? 'unknown' : 'refused';
}

function rejectionSentence(status: number): string {
  if (status === 402) return 'needs its account or credit to be settled first';
  if (status === 413) return 'rejected this request because it is too large';
  return 'rejected this request';
}

const MAX_REASON_LENGTH = 500;

const detailItemsSchema = z
  .array(z.looseObject({ loc: z.array(z.unknown()).optional(), msg: z.string() }))
  .min(1);

/** The first text, or list of `{loc, msg}`, at one of `paths`; else what the body says, which may repeat the request. */
export function errorText(body: string, paths: readonly string[]): string {
  const parsed = parseJson(body);
  for (const path of paths) {
    const reason = detailText(valueAt(parsed, path));
    if (reason !== undefined) return shorten(reason);
  }
  return shorten(markupReason(body) ?? body);
}

function detailText(value: unknown): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  const items = detailItemsSchema.safeParse(value);
  if (!items.success) return undefined;
  return items.data
    .map(({ loc, msg }) => (loc === undefined ? msg : `${loc.map(String).join('.')}: ${msg}`))
    .join('; ');
}

/** Storage responds in XML: its code and message hold no secrets, the rest may. Of a gateway's page, its title. */
function markupReason(body: string): string | undefined {
  if (!/^\s*<(?:html|!doctype|\?xml|Error)\b/i.test(body)) return undefined;
  const said = [xmlText(body, 'Code'), xmlText(body, 'Message')].filter((part) => part !== undefined);
  return said.length > 0 ? said.join(': ') : (/<title>([^<]*)</i.exec(body)?.[1] ?? '');
}

function xmlText(body: string, element: 'Code' | 'Message'): string | undefined {
  return new RegExp(`<${element}>([^<]*)</${element}>`).exec(body)?.[1];
}

function shorten(text: string): string {
  const flat = text.replaceAll(/\s+/g, ' ').trim();
  return flat.length <= MAX_REASON_LENGTH
    ? flat
    : `${flat.slice(0, MAX_REASON_LENGTH).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
