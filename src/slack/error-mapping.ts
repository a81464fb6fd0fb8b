import { z } from 'zod';
import { listOf, parseJson } from '../calls/json.ts';
import { failureCodes } from '../calls/outbound-proxy.ts';
import { isTransientStatus, type LeaseGuard } from '../calls/retries-and-waits.ts';
import {
  ChannelGoneError,
  MessageGoneError,
  PayloadRefusedError,
  SlackAuthError,
  SlackError,
  type SlackErrorDetails,
  SlackLeaseError,
  SlackRateLimitError,
  SlackRefusedError,
  SlackUnavailableError,
} from './errors.ts';
import { optional } from './field-schemas.ts';

/** Socket errors before a byte of the request is written. */
const NEVER_SENT_CODES =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|UND_ERR_PRX_TLS|PROXY_\d+|ERR_TLS_.*|CERT_.*|.*SELF_SIGNED.*|UNABLE_TO_.*)$/;

const successSchema = z.looseObject({ ok: z.literal(true) });
const texts = listOf(z.string()).catch([]);
const platformErrorSchema = z.looseObject({
  error: z.string().regex(/^\w{1,100}$/),
  needed: optional(z.string()),
  errors: texts,
  response_metadata: z.looseObject({ messages: texts }).catch({ messages: [] }),
});
/** The most that is kept of what Slack says about one refused call. */
const MAX_REASONS = 10;
const MAX_REASON_LENGTH = 300;

/** The error for a response that does not match its schema. */
export function unreadableResponse(method: string, cause: unknown): SlackUnavailableError {
  return new SlackUnavailableError(
    { method, slackCode: 'unreadable_answer', outcome: 'unknown', cause },
    "Slack's response could not be read; check SLACK_API_URL and any proxy.",
  );
}

/** Slack's `ok:true` in the body of a response; throws the SlackError for any other. */
export function successIn(
  body: string,
  { method, status, retryAfterMs }: { method: string; status: number; retryAfterMs: number | undefined },
): unknown {
  if (status === 429) throw new SlackRateLimitError({ method, slackCode: 'ratelimited' }, retryAfterMs);
  const isOk = status >= 200 && status <= 299;
  const response = isTransientStatus(status) ? undefined : parseJson(body);
  if (isOk && successSchema.safeParse(response).success) return response;
  const { data } = platformErrorSchema.safeParse(response);
  if (data === undefined) throw isOk ? unreadableResponse(method, undefined) : errorForStatus(method, status);
  throw errorForCode(method, data.error, {
    retryAfterMs,
    neededScopes: data.needed,
    reasons: reasonsIn(data.response_metadata.messages, data.errors),
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

function errorForStatus(method: string, status: number): SlackError {
  const call = { method, slackCode: `http_${status}` };
  if (!isTransientStatus(status))
    return new SlackRefusedError({ ...call, outcome: 'none' }, 'Check SLACK_API_URL and any proxy.');
  const sentence = 'Slack or a proxy failed; look at status.slack.com and at any proxy.';
  return new SlackUnavailableError({ ...call, outcome: 'unknown' }, sentence);
}

/** The error for anything that a request to Slack threw. */
export function toSlackError(
  { method, guard, signal }: { method: string; guard: LeaseGuard | undefined; signal: AbortSignal },
  cause: unknown,
): SlackError {
  if (cause instanceof SlackError) return cause;
  const codes = failureCodes(cause);
  const outcome = codes.some((code) => NEVER_SENT_CODES.test(code)) ? 'none' : 'unknown';
  if (guard?.signal.aborted) return new SlackLeaseError({ method, outcome, cause });
  const check = 'check the network, SLACK_API_URL and any proxy.';
  const unavailable = (slackCode: string, sentence: string) =>
    new SlackUnavailableError({ method, slackCode, outcome, cause }, `${sentence}; ${check}`);
  if (signal.aborted) return unavailable('timed_out', 'Slack did not respond in time');
  const code = codes.at(-1);
  return unavailable('network', `The connection to Slack failed${code === undefined ? '' : ` (${code})`}`);
}

const RATE_LIMIT_CODES = new Set(['ratelimited', 'rate_limited', 'message_limit_exceeded']);

const CHANNEL_GONE_CODES = new Set([
  'channel_not_found',
  'is_archived',
  'is_inactive',
  'not_in_channel',
  'thread_locked',
  'non_threadable_channel',
  'cannot_reply_to_message',
  'messages_tab_disabled',
  'channel_type_not_supported',
  'user_not_in_channel',
]);

const MESSAGE_GONE_CODES = new Set([
  'message_not_found',
  'cant_update_message',
  'cant_delete_message',
  'edit_window_closed',
  'thread_not_found',
  'invalid_thread_ts',
]);

const PAYLOAD_CODES = new Set([
  'msg_too_long',
  'msg_blocks_too_long',
  'msg_blocks_too_many',
  'invalid_blocks',
  'invalid_blocks_format',
  'markdown_text_conflict',
  'no_text',
  'too_many_attachments',
  'invalid_attachments',
  'block_mismatch',
  'parameter_validation_failed',
]);

/** A message's files, and what else it shares, that admins keep out of a channel; it may go without them. */
const SHARING_CODES = /^slack_connect_|^posting_to_|(?:^|_)files?(?:_|$)/;

/**
 * Only these say that the token is dead, the last one in one workspace of its organisation; a network, person or method
 * that is refused does not.
 */
const DEAD_INSTALLATION_CODES = new Set([
  'invalid_auth',
  'account_inactive',
  'token_revoked',
  'token_expired',
  'invalid_refresh_token',
  'app_uninstalled',
  'not_authed',
  'team_access_not_granted',
]);

/** Slack failed during the call: some part of it may have taken effect. */
const UNKNOWN_OUTCOME_CODES = new Set([
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
  // chat.postMessage has seen our client_msg_id before but cannot return the message.
  'duplicate_message_not_found',
]);

/** Among them a workspace that moves into an organisation, and posting that admins have suspended. */
const TRANSIENT_CODES = new Set([
  'team_added_to_org',
  'org_login_required',
  'ekm_access_denied',
  'external_channel_migrating',
  'update_failed',
  // A message that is streamed cannot be edited: its stream is stopped first, and ends by itself after five minutes.
  'streaming_state_conflict',
]);

export interface SlackErrorResponse extends Pick<SlackErrorDetails, 'reasons' | 'cause'> {
  /** From the `Retry-After` header, in ms. */
  retryAfterMs?: number | undefined;
  neededScopes?: string | undefined;
}

/** The error for a response `ok:false` with this code. */
export function errorForCode(
  method: string,
  slackCode: string,
  { retryAfterMs, neededScopes, reasons, cause }: SlackErrorResponse = {},
): SlackError {
  const none: SlackErrorDetails = { method, slackCode, outcome: 'none', reasons, cause };
  if (RATE_LIMIT_CODES.has(slackCode)) return new SlackRateLimitError(none, retryAfterMs);
  if (slackCode === 'missing_scope') {
    const scopes = neededScopes ?? 'the scopes that the manifest lists';
    return new SlackAuthError(none, `Add ${scopes} to the app and install it again.`, false, neededScopes);
  }
  if (DEAD_INSTALLATION_CODES.has(slackCode)) {
    const sentence = 'The token no longer works: install the app again in this workspace.';
    return new SlackAuthError(none, sentence, true);
  }
  if (MESSAGE_GONE_CODES.has(slackCode))
    return new MessageGoneError(none, 'Post a new reply instead of changing this one.');
  if (CHANNEL_GONE_CODES.has(slackCode) || slackCode.startsWith('restricted_action'))
    return new ChannelGoneError(none, 'Invite the bot to the channel, or unarchive or unlock it.');
  const isSharing = method.startsWith('chat.') && SHARING_CODES.test(slackCode);
  if (PAYLOAD_CODES.has(slackCode) || slackCode.startsWith('metadata_') || isSharing)
    return new PayloadRefusedError(none, 'Send a shorter message, or plain text without blocks.');
  if (UNKNOWN_OUTCOME_CODES.has(slackCode)) {
    const sentence = 'Slack failed; look at status.slack.com.';
    return new SlackUnavailableError({ ...none, outcome: 'unknown' }, sentence);
  }
  if (TRANSIENT_CODES.has(slackCode))
    return new SlackUnavailableError(none, 'Slack cannot do this right now; try again soon.');
  const page = `https://docs.slack.dev/reference/methods/${method}`;
  return new SlackRefusedError(none, `Look the error up at ${page}.`);
}
