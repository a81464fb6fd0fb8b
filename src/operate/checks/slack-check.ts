import { createHmac, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Config } from '../../config.ts';
import { SlackError } from '../../slack/errors.ts';
import { tokenOnlyInstallation } from '../../slack/installation.ts';
import { REQUIRED_SCOPES } from '../../slack/required-scopes.ts';
import { tryParseJson } from '../../slack/safe-json.ts';
import { SlackClient } from '../../slack/slack-client.ts';
import { identifyToken } from '../../slack/token-identity.ts';
import {
  type Check,
  type CheckResult,
  type CheckTools,
  errorMessage,
  failed,
  passed,
} from './check-result.ts';
import { publicUrlUnreachable, publicUrlWrongServer } from './public-url-messages.ts';

const REQUEST_TIMEOUT_MS = 10_000;
const connectionSchema = z.looseObject({ url: z.string() });
const helloSchema = z.looseObject({ type: z.literal('hello') });

/** Checks the bot token and its scopes, and how events arrive. */
export const checkSlack: Check = async (config, tools) => [
  ...(config.SLACK_BOT_TOKEN === undefined
    ? await checkOAuth(config, tools)
    : await checkToken(config, config.SLACK_BOT_TOKEN, tools)),
  ...(config.SLACK_APP_TOKEN === undefined
    ? await checkPublicUrl(config, tools)
    : await checkSocketMode(config, config.SLACK_APP_TOKEN, tools)),
];

/** Slack checks the app's credentials before the code, so the error shows which of them is wrong. */
const INVALID_CODE = { code: 'no-such-code' };

/** Checks the app's OAuth credentials. */
async function checkOAuth(config: Config, { log }: CheckTools): Promise<CheckResult[]> {
  const what = 'Slack OAuth';
  const { SLACK_CLIENT_ID: client_id, SLACK_CLIENT_SECRET: client_secret, PUBLIC_URL = '' } = config;
  const installation = tokenOnlyInstallation();
  const client = new SlackClient({ installation, slackApiUrl: config.SLACK_API_URL, log });
  try {
    await client.call(
      'oauth.v2.access',
      { ...INVALID_CODE, client_id, client_secret },
      { schema: z.looseObject({}) },
    );
  } catch (error) {
    if (!(error instanceof SlackError) || error.code === 'unavailable')
      return [failed(what, describeSlackError('SLACK_CLIENT_SECRET', error))];
    if (error.slackCode !== 'invalid_code')
      return [failed(what, describeSlackError('SLACK_CLIENT_ID or SLACK_CLIENT_SECRET', error))];
  }
  return [
    passed(what, 'SLACK_CLIENT_ID and SLACK_CLIENT_SECRET are accepted'),
    await checkInstallUrl(config, new URL('/slack/install', PUBLIC_URL)),
  ];
}

/** Checks whether the install page redirects to Slack with our client ID. */
async function checkInstallUrl(config: Config, url: URL): Promise<CheckResult> {
  const what = 'install address';
  try {
    const response = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    await response.body?.cancel();
    const query = URL.parse(response.headers.get('location') ?? '')?.searchParams;
    if (response.status !== 302 || query?.get('client_id') === null || query === undefined)
      return failed(what, publicUrlWrongServer(url, response.status));
    if (query.get('client_id') !== config.SLACK_CLIENT_ID)
      return failed(
        what,
        'Taskthread at PUBLIC_URL runs with a different SLACK_CLIENT_ID. Restart it with these settings.',
      );
    if (!isSecure(url, config))
      return failed(what, 'PUBLIC_URL must be https: Slack redirects to nothing else.');
    return passed(what, `workspaces install the app at ${url.href}`);
  } catch {
    return failed(what, publicUrlUnreachable(url));
  }
}

/** Plain http is only for a Slack stand-in, which itself speaks http. */
function isSecure(url: URL, { SLACK_API_URL }: Config): boolean {
  return url.protocol === 'https:' || new URL(SLACK_API_URL).protocol === 'http:';
}

async function checkToken(config: Config, botToken: string, { log }: CheckTools): Promise<CheckResult[]> {
  try {
    const { name, scopes } = await identifyToken({
      token: botToken,
      slackApiUrl: config.SLACK_API_URL,
      log,
    });
    const found = passed('Slack token', `the bot is installed in ${name}`);
    // Slack always reports them; a stand-in may not.
    if (scopes.length === 0) return [found, passed('Slack scopes', 'not reported by Slack')];
    const missing = REQUIRED_SCOPES.filter((scope) => !scopes.includes(scope));
    if (missing.length === 0) return [found, passed('Slack scopes', 'all that the manifest requests')];
    const message =
      `SLACK_BOT_TOKEN lacks ${missing.join(', ')}. Add them under "OAuth & Permissions" ` +
      'or update the manifest from manifest.yml, then reinstall the app.';
    return [found, failed('Slack scopes', message)];
  } catch (error) {
    return [failed('Slack token', describeSlackError('SLACK_BOT_TOKEN', error))];
  }
}

function describeSlackError(setting: string, error: unknown): string {
  if (error instanceof SlackError && error.code === 'unavailable')
    return `Could not reach SLACK_API_URL. Check the network, the proxy and DNS. ${error.message}`;
  return `Slack rejects ${setting}. Create a new one at api.slack.com/apps. ${errorMessage(error)}`;
}

async function checkSocketMode(
  config: Config,
  appToken: string,
  { log }: CheckTools,
): Promise<CheckResult[]> {
  const what = 'Slack connection';
  const client = new SlackClient({
    installation: tokenOnlyInstallation(appToken),
    slackApiUrl: config.SLACK_API_URL,
    log,
  });
  let url: string;
  try {
    ({ url } = await client.call('apps.connections.open', {}, { schema: connectionSchema }));
  } catch (error) {
    return [failed(what, describeSlackError('SLACK_APP_TOKEN', error))];
  }
  try {
    await waitForHello(url);
    return [passed(what, 'Socket Mode connects')];
  } catch (error) {
    const message = `SLACK_APP_TOKEN is valid, but the WebSocket does not open (${errorMessage(error)}). Allow wss:// connections to Slack.`;
    return [failed(what, message)];
  }
}

/** Opens a connection and closes it after Slack's hello. Slack resends an event that arrives on it. */
function waitForHello(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    const finish = (error?: Error) => {
      clearTimeout(timer);
      socket.close();
      if (error === undefined) resolve();
      else reject(error);
    };
    const timer = setTimeout(() => finish(new Error('no hello in time')), REQUEST_TIMEOUT_MS);
    socket.addEventListener('message', ({ data }) => {
      if (helloSchema.safeParse(tryParseJson(data)).success) finish();
    });
    socket.addEventListener('error', () => finish(new Error('connection failed')));
    socket.addEventListener('close', () => finish(new Error('closed')));
  });
}

/** Sends PUBLIC_URL the challenge that Slack sends: only Taskthread with the same signing secret returns it. */
async function checkPublicUrl(config: Config, { now }: CheckTools): Promise<CheckResult[]> {
  const what = 'public address';
  const { PUBLIC_URL: address, SLACK_SIGNING_SECRET: secret = '' } = config;
  if (address === undefined)
    return [failed(what, 'PUBLIC_URL is not set. Set it to the https address at which Slack reaches PORT.')];
  const url = new URL('/slack/events', address);
  const challenge = randomUUID();
  const body = JSON.stringify({ type: 'url_verification', challenge });
  const at = String(Math.floor(now() / 1_000));
  const mac = createHmac('sha256', secret).update(`v0:${at}:${body}`).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'x-slack-request-timestamp': at,
    'x-slack-signature': `v0=${mac}`,
  };
  let status: number;
  try {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const response = await fetch(url, { method: 'POST', body, headers, redirect: 'manual', signal });
    status = response.status;
    if (response.ok && (await response.text()).includes(challenge)) {
      const message = `${url.origin} leads to Taskthread; only Slack can tell whether SLACK_SIGNING_SECRET is right`;
      return isSecure(url, config)
        ? [passed(what, message)]
        : [failed(what, 'PUBLIC_URL must be https: Slack sends events to nothing else.')];
    }
  } catch {
    return [failed(what, publicUrlUnreachable(url))];
  }
  if (status === 401) {
    const message =
      'Taskthread at PUBLIC_URL rejects the signature. It runs with a different SLACK_SIGNING_SECRET, or a clock is wrong.';
    return [failed(what, message)];
  }
  return [failed(what, publicUrlWrongServer(url, status))];
}
