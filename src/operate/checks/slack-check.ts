import { createHmac, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Config } from '../../config.ts';
import { SlackError } from '../../slack/errors.ts';
import { REQUIRED_SCOPES } from '../../slack/required-scopes.ts';
import { SlackClient, tokenOnlyInstallation } from '../../slack/slack-client.ts';
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

/** The bot's token and its scopes, and the way on which events come. */
export const checkSlack: Check = async (config, instruments) => [
  ...(config.SLACK_BOT_TOKEN === undefined
    ? await checkOAuth(config, instruments)
    : await checkToken(config, config.SLACK_BOT_TOKEN, instruments)),
  ...(config.SLACK_APP_TOKEN === undefined
    ? await checkPublicUrl(config, instruments)
    : await checkSocketMode(config, config.SLACK_APP_TOKEN, instruments)),
];

/** Refused codes and secrets tell the app's credentials apart: Slack looks at those before it looks at the code. */
const INVALID_CODE = { code: 'no-such-code' };

/** The app's own credentials, with which workspaces install it. */
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

/** Opens the page at which workspaces install the app: it leads to Slack's question, for our client id. */
async function checkInstallUrl(config: Config, url: URL): Promise<CheckResult> {
  const what = 'install address';
  try {
    const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
    await answer.body?.cancel();
    const asked = URL.parse(answer.headers.get('location') ?? '')?.searchParams;
    if (answer.status !== 302 || asked?.get('client_id') === null || asked === undefined)
      return failed(what, publicUrlWrongServer(url, answer.status));
    if (asked.get('client_id') !== config.SLACK_CLIENT_ID)
      return failed(
        what,
        'Taskthread at PUBLIC_URL has another SLACK_CLIENT_ID: it was started with other settings.',
      );
    if (!isSecure(url, config))
      return failed(what, 'PUBLIC_URL is not https: Slack sends nobody back to anything else.');
    return passed(what, `workspaces install the app at ${url.href}`);
  } catch {
    return failed(what, publicUrlUnreachable(url));
  }
}

/** Plain http is for trying only, with a Slack on this machine. */
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
    // Slack always tells; a stand-in may not.
    if (scopes.length === 0) return [found, passed('Slack scopes', 'Slack does not tell them')];
    const missing = REQUIRED_SCOPES.filter((scope) => !scopes.includes(scope));
    if (missing.length === 0) return [found, passed('Slack scopes', 'all that the manifest asks for')];
    const says =
      `SLACK_BOT_TOKEN lacks ${missing.join(', ')}: add them under "OAuth & Permissions", ` +
      'or paste manifest.yml anew, and install the app again.';
    return [found, failed('Slack scopes', says)];
  } catch (error) {
    return [failed('Slack token', describeSlackError('SLACK_BOT_TOKEN', error))];
  }
}

function describeSlackError(setting: string, error: unknown): string {
  if (error instanceof SlackError && error.code === 'unavailable')
    return `SLACK_API_URL cannot be reached: check the network, a proxy and DNS. ${error.message}`;
  return `${setting} is not accepted: make a new one at api.slack.com/apps. ${errorMessage(error)}`;
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
    const says = `SLACK_APP_TOKEN is good, but the WebSocket does not open (${errorMessage(error)}): let wss:// through to Slack.`;
    return [failed(what, says)];
  }
}

/** Opens a connection and closes it when Slack has greeted. An event that meets it is sent again by Slack. */
function waitForHello(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    const finish = (error?: Error) => {
      clearTimeout(timer);
      socket.close();
      if (error === undefined) resolve();
      else reject(error);
    };
    const timer = setTimeout(() => finish(new Error('no greeting in time')), REQUEST_TIMEOUT_MS);
    socket.addEventListener('message', ({ data }) => {
      if (helloSchema.safeParse(tryParseJson(data)).success) finish();
    });
    socket.addEventListener('error', () => finish(new Error('refused or cut')));
    socket.addEventListener('close', () => finish(new Error('closed')));
  });
}

function tryParseJson(data: unknown): unknown {
  try {
    return JSON.parse(String(data));
  } catch {
    return undefined;
  }
}

/** Asks our own address what Slack asks a new one: only a Taskthread with the same signing secret gives it back. */
async function checkPublicUrl(config: Config, { now }: CheckTools): Promise<CheckResult[]> {
  const what = 'public address';
  const { PUBLIC_URL: address, SLACK_SIGNING_SECRET: secret = '' } = config;
  if (address === undefined)
    return [failed(what, 'PUBLIC_URL is not set: set it to the https address at which Slack reaches PORT.')];
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
    const answer = await fetch(url, { method: 'POST', body, headers, redirect: 'manual', signal });
    status = answer.status;
    if (answer.ok && (await answer.text()).includes(challenge)) {
      const says = `${url.origin} leads to Taskthread; whether SLACK_SIGNING_SECRET is right, Slack alone knows`;
      return isSecure(url, config)
        ? [passed(what, says)]
        : [failed(what, 'PUBLIC_URL is not https: Slack sends to nothing else.')];
    }
  } catch {
    return [failed(what, publicUrlUnreachable(url))];
  }
  if (status === 401) {
    const says =
      'Taskthread at PUBLIC_URL refuses the signature: SLACK_SIGNING_SECRET differs there, or a clock is wrong.';
    return [failed(what, says)];
  }
  return [failed(what, publicUrlWrongServer(url, status))];
}
