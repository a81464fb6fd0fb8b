import { expect, test } from 'vitest';
import { errorForCode } from '../../src/slack/error-mapping.ts';

test.each([
  ['ratelimited', 'throttled', 'none'],
  ['rate_limited', 'throttled', 'none'],
  ['message_limit_exceeded', 'throttled', 'none'],
  ['channel_not_found', 'channel_gone', 'none'],
  ['is_archived', 'channel_gone', 'none'],
  ['restricted_action_thread_locked', 'channel_gone', 'none'],
  ['restricted_action_read_only_channel', 'channel_gone', 'none'],
  ['message_not_found', 'message_gone', 'none'],
  ['edit_window_closed', 'message_gone', 'none'],
  ['msg_too_long', 'payload_refused', 'none'],
  ['invalid_blocks', 'payload_refused', 'none'],
  ['metadata_too_large', 'payload_refused', 'none'],
  ['slack_connect_file_link_sharing_blocked', 'payload_refused', 'none'],
  ['slack_connect_blocked_file_type', 'payload_refused', 'none'],
  ['posting_to_channel_denied', 'payload_refused', 'none'],
  ['unable_to_share_files', 'payload_refused', 'none'],
  ['token_revoked', 'unauthorized', 'none'],
  ['team_access_not_granted', 'unauthorized', 'none'],
  ['missing_scope', 'unauthorized', 'none'],
  ['internal_error', 'unavailable', 'unknown'],
  ['fatal_error', 'unavailable', 'unknown'],
  ['service_unavailable', 'unavailable', 'unknown'],
  ['request_timeout', 'unavailable', 'unknown'],
  ['team_added_to_org', 'unavailable', 'none'],
  ['org_login_required', 'unavailable', 'none'],
  ['ekm_access_denied', 'unavailable', 'none'],
  ['streaming_state_conflict', 'unavailable', 'none'],
  ['app_access_restricted', 'refused', 'none'],
  ['access_denied', 'refused', 'none'],
  ['accesslimited', 'refused', 'none'],
  ['two_factor_setup_required', 'refused', 'none'],
  ['user_not_found', 'refused', 'none'],
])('%s is %s with outcome %s', (slackCode, code, outcome) => {
  expect(errorForCode('chat.update', slackCode)).toMatchObject({
    slackCode,
    code,
    outcome,
    method: 'chat.update',
  });
});

test.each([
  ['files.completeUploadExternal', 'slack_connect_file_upload_sharing_blocked'],
  ['files.completeUploadExternal', 'posting_to_channel_denied'],
  ['files.info', 'slack_connect_canvas_sharing_blocked'],
])('what %s says by %s is about the file, and not about its channel', (method, slackCode) => {
  expect(errorForCode(method, slackCode)).toMatchObject({ code: 'refused', outcome: 'none' });
});

test('only a token that no longer works makes an installation dead', () => {
  for (const slackCode of ['account_inactive', 'team_access_not_granted'])
    expect(errorForCode('auth.test', slackCode)).toMatchObject({ isInstallationDead: true });
  expect(errorForCode('auth.test', 'missing_scope', { neededScopes: 'users:read' })).toMatchObject({
    isInstallationDead: false,
    message: expect.stringContaining('Add users:read to the app'),
  });
});

test('every error keeps its cause and names the method and the code', () => {
  const cause = new Error('below');
  const error = errorForCode('chat.delete', 'cant_delete_message', { cause });
  expect(error.cause).toBe(cause);
  expect(error.message).toMatch(/^chat\.delete: cant_delete_message\. \S/);
  expect(error.name).toBe('MessageGoneError');
});
