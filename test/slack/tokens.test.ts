import { expect, test } from 'vitest';
import { identifyToken, isTokenValid, slackTokens } from '../../src/slack/tokens.ts';
import { InMemoryRateLimits } from '../support/in-memory-rate-limits.ts';
import { ScriptedSlack } from '../support/scripted-slack.ts';
import { silentLog } from '../support/silent-log.ts';

test('auth.test returns the installation and the scopes of a token', async () => {
  const slack = await new ScriptedSlack().start();
  slack.on('auth.test', {
    headers: { 'x-oauth-scopes': 'chat:write, files:read' },
    body: {
      ok: true,
      team_id: 'T1',
      team: 'Lab',
      url: 'https://lab.slack.com/',
      user_id: 'UBOT',
      bot_id: 'BBOT',
      enterprise_id: null,
    },
  });
  const identity = await identifyToken({ token: 'xoxb-1', log: silentLog, slackApiUrl: slack.apiUrl });
  expect(identity).toMatchObject({
    installation: { workspace: 'T1', token: 'xoxb-1', botUser: 'UBOT', botId: 'BBOT' },
    name: 'Lab',
    scopes: ['chat:write', 'files:read'],
  });
  await slack.stop();
});

test("a whole organisation's token fails with a SlackAuthError that says what to do", async () => {
  const slack = await new ScriptedSlack().start();
  const body = {
    ok: true,
    team_id: null,
    enterprise_id: 'E1',
    user_id: 'UBOT',
    bot_id: 'BBOT',
  };
  slack.on('auth.test', { body });
  const failed = identifyToken({ token: 'xoxb-1', log: silentLog, slackApiUrl: slack.apiUrl });
  await expect(failed).rejects.toThrow('A whole organisation installs the app by OAuth');
  await slack.stop();
});

test('an invalid token fails with SlackAuthError', async () => {
  const slack = await new ScriptedSlack().start();
  slack.on('auth.test', { body: { ok: false, error: 'invalid_auth' } });
  const failed = identifyToken({ token: 'xoxb-1', log: silentLog, slackApiUrl: slack.apiUrl });
  await expect(failed).rejects.toMatchObject({ code: 'unauthorized', isInstallationDead: true });
  await slack.stop();
});

test('a token counts as dead only where Slack says that the token itself is', async () => {
  const slack = await new ScriptedSlack().start();
  const verdictOn = async (error: string) => {
    slack.on('auth.test', { body: { ok: false, error } });
    const asked = isTokenValid({ token: 'xoxb-1', log: silentLog, slackApiUrl: slack.apiUrl });
    return await asked.catch(() => 'unknown');
  };
  for (const dead of ['token_revoked', 'account_inactive', 'invalid_auth'])
    expect(await verdictOn(dead)).toBe(false);
  const others = ['org_login_required', 'team_added_to_org', 'app_access_restricted', 'ekm_access_denied'];
  others.push('missing_scope', 'access_denied', 'accesslimited', 'two_factor_setup_required');
  for (const other of others) expect([other, await verdictOn(other)]).toEqual([other, 'unknown']);
  slack.on('auth.test', { status: 503, body: '<html>Down for maintenance</html>' });
  const maintained = isTokenValid({ token: 'xoxb-1', log: silentLog, slackApiUrl: slack.apiUrl });
  await expect(maintained).rejects.toMatchObject({ code: 'unavailable' });
  await slack.stop();
});

test.each([
  [3_600, 3_600],
  ['3600', 3_600],
  [undefined, 43_200],
  [null, 43_200],
  ['soon', 43_200],
])('a renewed token is kept where Slack says %j of how long it lasts', async (expires_in, seconds) => {
  const slack = await new ScriptedSlack().start();
  const renewed = { access_token: 'xoxb-2', refresh_token: 'xoxe-2' };
  slack.on('oauth.v2.access', { body: { ok: true, ...renewed, expires_in } });
  const tokens = slackTokens({
    clientId: '1.2',
    clientSecret: 's',
    slackApiUrl: slack.apiUrl,
    log: silentLog,
    rateLimitStore: new InMemoryRateLimits(),
  });
  const before = Date.now();
  const { token, refreshToken, expiresAt } = await tokens.renew('xoxe-1');
  expect([token, refreshToken]).toEqual(['xoxb-2', 'xoxe-2']);
  expect(expiresAt.getTime() - before).toBeGreaterThanOrEqual(seconds * 1_000);
  expect(expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(seconds * 1_000);
  await slack.stop();
});
