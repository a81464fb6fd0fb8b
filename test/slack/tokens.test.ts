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
    installation: { workspace: 'T1', token: 'xoxb-1', botUser: 'UBOT', botId: 'BBOT', enterprise: undefined },
    name: 'Lab',
    scopes: ['chat:write', 'files:read'],
  });
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

test('renewals of tokens share a rate limit, and wait for as long as Slack says', async () => {
  const slack = await new ScriptedSlack().start();
  const options = { clientId: '1.2', clientSecret: 's', slackApiUrl: slack.apiUrl, log: silentLog };
  const rateLimitStore = new InMemoryRateLimits();
  const [one, other] = [1, 2].map(() => slackTokens({ ...options, rateLimitStore }));
  const { signal } = new AbortController();
  const permitted = async (by: typeof one) => (await by?.renewalPermit(100, signal)) !== undefined;
  let granted = 0;
  while (await permitted(granted % 2 === 0 ? one : other)) granted += 1;
  expect(granted).toBe(15);
  slack.on('oauth.v2.access', { status: 429, headers: { 'retry-after': '30' }, body: {} });
  await expect(one?.renew('refresh')).rejects.toMatchObject({ code: 'throttled', retryAfterMs: 30_000 });
  for (const by of [one, other]) expect(await by?.renewalPermit(20_000, signal)).toBeUndefined();
  await slack.stop();
});
