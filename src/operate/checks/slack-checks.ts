import { z } from 'zod';
import { parseJson } from '../../calls/json.ts';
import { fetch, openWebSocket } from '../../calls/outbound-proxy.ts';
import type { Config } from '../../config/environment-and-secret-files.ts';
import { errorMessage } from '../../postgres/errors.ts';
import {
  AppManifests,
  hasStep,
  manifestDifferences,
  manifestForHttp,
  manifestWithStep,
  mergeManifests,
} from '../../slack/app-manifest.ts';
import { SlackError } from '../../slack/errors.ts';
import { optional } from '../../slack/field-schemas.ts';
import manifest from '../../slack/manifest.generated.json' with { type: 'json' };
import { missingScopes } from '../../slack/scopes.ts';
import { clientForToken, type SlackClient } from '../../slack/slack-client.ts';
import { identifyToken } from '../../slack/tokens.ts';
import { type Check, type CheckTools, unreachable } from './check-result.ts';

const HELLO_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 10_000;
/** How far our clock may be off Slack's (ms). Requests five minutes old, or a minute ahead, are rejected. */
const MAX_CLOCK_SKEW_MS = 30_000;
const connectionSchema = z.looseObject({ url: z.string() });
const helloSchema = z.looseObject({
  type: z.literal('hello'),
  num_connections: optional(z.number()),
  connection_info: optional(z.looseObject({ app_id: optional(z.string()) })),
});

/** Slack checks the app's credentials before the code, so the error shows which of them is wrong. */
const INVALID_CODE = { code: 'no-such-code' };

export const checkOAuth: Check = async function* (config, tools) {
  const { SLACK_CLIENT_ID: client_id, SLACK_CLIENT_SECRET: client_secret } = config;
  if (client_id === undefined) return;
  try {
    const credentials = { ...INVALID_CODE, client_id, client_secret };
    await slackClient(config, tools).call('oauth.v2.access', credentials, { schema: z.looseObject({}) });
  } catch (error) {
    if (!(error instanceof SlackError) || error.code === 'unavailable')
      throw describeSlackError('SLACK_CLIENT_SECRET', error);
    if (error.slackCode !== 'invalid_code')
      throw describeSlackError('SLACK_CLIENT_ID or SLACK_CLIENT_SECRET', error);
  }
  yield 'SLACK_CLIENT_ID and SLACK_CLIENT_SECRET are accepted';
};

export const checkToken: Check = async function* (config, tools) {
  if (config.SLACK_BOT_TOKEN === undefined) return;
  const { name, scopes } = await identifyBot(config, tools);
  yield `the bot is installed in ${name}`;
  const what = 'Slack scopes';
  const missing = missingScopes(scopes);
  // Slack always reports them; a stand-in may not.
  if (scopes.length === 0) yield { what, ok: true, message: 'not reported by Slack' };
  else if (missing.length === 0) yield { what, ok: true, message: 'all that the manifest requests' };
  else {
    const message =
      `SLACK_BOT_TOKEN lacks ${missing.join(', ')}. Add them under "OAuth & Permissions" ` +
      'or by the doctor with --mend, then reinstall the app.';
    yield { what, ok: false, message };
  }
};

export const checkSocketMode: Check = async function* (config, tools) {
  if (config.SLACK_APP_TOKEN === undefined) return;
  const client = slackClient(config, tools, config.SLACK_APP_TOKEN);
  const opened = client.call('apps.connections.open', {}, { schema: connectionSchema });
  const { url } = await accepted('SLACK_APP_TOKEN', opened);
  const { num_connections: open = 1, connection_info } = await waitForHello(url).catch((error: unknown) => {
    const message = `SLACK_APP_TOKEN is valid, but the WebSocket does not open (${errorMessage(error)}). Allow wss:// connections to Slack.`;
    throw new Error(message);
  });
  const app = connection_info?.app_id;
  // What is wrong with the bot token is reported by its own check.
  const bot = config.SLACK_BOT_TOKEN && (await identifyBot(config, tools).catch(() => undefined));
  if (bot && bot.appId !== undefined && app !== undefined && bot.appId !== app)
    throw new Error(
      `SLACK_APP_TOKEN belongs to the app ${app}, and SLACK_BOT_TOKEN to ${bot.appId}. Create an app-level token of that app.`,
    );
  yield open <= 1
    ? 'Socket Mode connects'
    : `Socket Mode connects, beside ${open - 1} more. Those of no Taskthread process here are another program's, which gets part of the events.`;
};

/** Whose bot token the settings hold. Throws what `describeSlackError` says. */
function identifyBot({ SLACK_BOT_TOKEN: token = '', SLACK_API_URL }: Config, { log }: CheckTools) {
  return accepted('SLACK_BOT_TOKEN', identifyToken({ token, slackApiUrl: SLACK_API_URL, log }));
}

function slackClient({ SLACK_API_URL }: Config, { log }: CheckTools, token?: string): SlackClient {
  return clientForToken(token, { slackApiUrl: SLACK_API_URL, log });
}

/** What Slack answers to a call with the token of `setting`. Throws what `describeSlackError` says. */
async function accepted<T>(setting: string, call: Promise<T>): Promise<T> {
  return call.catch((error: unknown) => {
    throw describeSlackError(setting, error);
  });
}

/** The failure that an error of Slack means; `setting` holds the token. */
function describeSlackError(setting: string, error: unknown): Error {
  if (!(error instanceof SlackError)) return new Error(errorMessage(error));
  const { code, slackCode } = error;
  // A status is an answer of something before Slack.
  if (code === 'unavailable' || slackCode.startsWith('http_'))
    return unreachable('SLACK_API_URL', error.cause, slackCode);
  if (slackCode === 'is_enterprise_install') return new Error(error.message);
  return new Error(
    code === 'throttled'
      ? "Slack's rate limit is reached. Run the doctor again in a minute."
      : `Slack rejects ${setting} (${slackCode}). Create a new one at api.slack.com/apps.`,
  );
}

/** Opens a connection and closes it after Slack's hello. Slack resends an event that arrives on it. */
async function waitForHello(url: string): Promise<z.output<typeof helloSchema>> {
  const { promise, resolve, reject } = Promise.withResolvers<z.output<typeof helloSchema>>();
  const socket = openWebSocket(url);
  using _timeout = setTimeout(() => reject(new Error('no hello in time')), HELLO_TIMEOUT_MS);
  socket.addEventListener('message', ({ data }) => {
    const { data: hello } = helloSchema.safeParse(parseJson(data));
    if (hello !== undefined) resolve(hello);
  });
  socket.addEventListener('error', () => reject(new Error('connection failed')));
  socket.addEventListener('close', () => reject(new Error('closed')));
  return await promise.finally(() => socket.close());
}

/** Compares the app at Slack with this release's manifest, and updates it there if asked to. */
export const checkApp: Check = async function* (config, tools) {
  const { log, mend } = tools;
  const { SLACK_CONFIG_TOKEN: token, SLACK_BOT_TOKEN: botToken, SLACK_API_URL: slackApiUrl } = config;
  if (mend && token === undefined)
    throw new Error(
      'SLACK_CONFIG_TOKEN is not set, and --mend needs it to update the app. Create one at api.slack.com/apps, "Your App Configuration Tokens".',
    );
  if (mend && botToken === undefined)
    throw new Error(
      'SLACK_BOT_TOKEN is not set, and --mend finds the app by it. Update the manifest at api.slack.com/apps.',
    );
  if (token === undefined || botToken === undefined)
    return yield "not compared with this release's manifest, for which the doctor needs SLACK_CONFIG_TOKEN and SLACK_BOT_TOKEN";
  const { appId } = await identifyBot(config, tools);
  if (appId === undefined) throw new Error('Slack does not say to which app SLACK_BOT_TOKEN belongs.');
  const { PUBLIC_URL, SLACK_APP_TOKEN } = config;
  const isHttp = SLACK_APP_TOKEN === undefined && PUBLIC_URL !== undefined;
  const transportManifest = isHttp ? manifestForHttp(manifest, PUBLIC_URL, false) : manifest;
  const apps = new AppManifests({ token, slackApiUrl, log });
  const atSlack = await accepted('SLACK_CONFIG_TOKEN', apps.read(appId));
  const ours = hasStep(atSlack) ? manifestWithStep(transportManifest) : transportManifest;
  const differences = manifestDifferences(atSlack, ours).join('; ');
  if (differences === '') yield "has everything of this release's manifest";
  else if (!mend)
    throw new Error(`The app at Slack differs: ${differences}. Run the doctor with --mend to update it.`);
  else if (await apps.update(appId, mergeManifests(atSlack, ours)))
    throw new Error(
      `Updated: ${differences}. Its permissions have changed: install it again at https://api.slack.com/apps/${appId}/install-on-team.`,
    );
  else yield `updated at Slack: ${differences}`;
  if (hasStep(atSlack)) yield 'offers the step "Ask the agent" in Workflow Builder';
};

export const checkClock: Check = async function* (config, { now }) {
  const before = now();
  const response = await fetch(new URL('api.test', config.SLACK_API_URL), {
    method: 'POST',
    redirect: 'manual',
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw unreachable('SLACK_API_URL', error, errorMessage(error));
  });
  await response.body?.cancel();
  const slackTime = Date.parse(response.headers.get('date') ?? '');
  if (Number.isNaN(slackTime))
    throw new Error('SLACK_API_URL sends no date. Check that it is the address of the Web API.');
  // Compared with the middle of the request; the header has whole seconds.
  const skew = Math.abs(slackTime + 500 - (before + now()) / 2);
  if (skew <= MAX_CLOCK_SKEW_MS) return yield 'in step with Slack';
  const message = `Our clock and Slack's (SLACK_API_URL) are ${Math.round(skew / 1_000)} s apart. Synchronize ours by NTP.`;
  throw new Error(message);
};
