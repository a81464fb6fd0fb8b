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
    return new SlackAuthError(none, `Add ${scopes} to the app and install it again.`);
  }
  if (DEAD_INSTALLATION_CODES.has(slackCode)) {
    const sentence = 'The token no longer works: install the app again in this workspace.';
    return new SlackAuthError(none, sentence, true);
  }
  if (MESSAGE_GONE_CODES.has(slackCode))
    return new MessageGoneError(none, 'Post a new reply instead of changing this one.');
  if (isChannelGoneCode(slackCode))
    return new ChannelGoneError(none, 'Invite the bot to the channel, or unarchive or unlock it.');
  if (PAYLOAD_CODES.has(slackCode) || slackCode.startsWith('metadata_'))
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

function isChannelGoneCode(slackCode: string): boolean {
  return (
    CHANNEL_GONE_CODES.has(slackCode) ||
    slackCode.startsWith('restricted_action') ||
    /^slack_connect_.*_blocked$/.test(slackCode)
  );
}
