import {
  ChannelGoneError,
  MessageGoneError,
  PayloadRefusedError,
  SlackAuthError,
  type SlackError,
  type SlackErrorDetails,
  SlackRateLimitError,
  SlackRefusedError,
  SlackUnavailableError,
} from './errors.ts';

/** The pause (ms) after a rate-limited call if Slack does not say how long. */
export const DEFAULT_RETRY_AFTER_MS = 10_000;

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
  'posting_to_channel_denied',
  'posting_to_general_channel_denied',
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

/** Only these say that the token itself is dead; a network, person or method that is refused does not. */
const DEAD_INSTALLATION_CODES = new Set([
  'invalid_auth',
  'account_inactive',
  'token_revoked',
  'token_expired',
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

export interface SlackErrorResponse {
  /** From the `Retry-After` header, in ms. */
  retryAfterMs?: number | undefined;
  neededScopes?: string | undefined;
  /** What Slack says is wrong, and where. */
  reasons?: readonly string[] | undefined;
  cause?: unknown;
}

/** The error for a response `ok:false` with this code. */
export function errorForCode(
  method: string,
  slackCode: string,
  response: SlackErrorResponse = {},
): SlackError {
  const none: SlackErrorDetails = { method, slackCode, outcome: 'none', cause: response.cause };
  const unknown: SlackErrorDetails = { ...none, outcome: 'unknown' };
  if (RATE_LIMIT_CODES.has(slackCode))
    return new SlackRateLimitError(none, response.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS);
  if (slackCode === 'missing_scope') {
    const scope = response.neededScopes ?? 'the scopes that the manifest lists';
    const sentence = `Add ${scope} to the app and install it again.`;
    return new SlackAuthError(none, sentence, false, response.neededScopes);
  }
  if (DEAD_INSTALLATION_CODES.has(slackCode)) {
    return new SlackAuthError(
      none,
      'The token no longer works: install the app again in this workspace.',
      true,
    );
  }
  if (MESSAGE_GONE_CODES.has(slackCode)) {
    return new MessageGoneError(none, 'Post a new reply instead of changing this one.');
  }
  if (isChannelGoneCode(slackCode)) {
    return new ChannelGoneError(none, 'Invite the bot to the channel, or unarchive or unlock it.');
  }
  if (PAYLOAD_CODES.has(slackCode) || slackCode.startsWith('metadata_')) {
    const details = { ...none, reasons: response.reasons };
    return new PayloadRefusedError(details, 'Send a shorter message, or plain text without blocks.');
  }
  if (UNKNOWN_OUTCOME_CODES.has(slackCode)) {
    return new SlackUnavailableError(
      unknown,
      'Slack failed; look up what happened before you repeat the call.',
    );
  }
  if (TRANSIENT_CODES.has(slackCode))
    return new SlackUnavailableError(none, 'Slack cannot do this right now; try again soon.');
  return new SlackRefusedError(
    none,
    `Look the error up at https://docs.slack.dev/reference/methods/${method}.`,
  );
}

function isChannelGoneCode(slackCode: string): boolean {
  return (
    CHANNEL_GONE_CODES.has(slackCode) ||
    slackCode.startsWith('restricted_action') ||
    /^slack_connect_.*_blocked$/.test(slackCode)
  );
}
