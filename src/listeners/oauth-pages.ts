import { createHash, hkdfSync } from 'node:crypto';
import type { RequestListener, ServerResponse } from 'node:http';
import { HTTPReceiver, type Installation } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import { InstallRefused } from '../relay/installations/oauth-installations.ts';
import type { GrantedInstallation } from '../relay/installations/token-rotation.ts';
import { htmlPage } from '../render/text-format.ts';
import { optional } from '../slack/field-schemas.ts';
import { createSlackLogger, packageErrorSchema, webClientOptions } from '../slack/slack-client.ts';

const INSTALL_PATH = '/slack/install';
const REDIRECT_PATH = '/slack/oauth_redirect';
const START_AGAIN = `<a href="${INSTALL_PATH}">Start again</a>`;
const TOKEN_EXCHANGE_TIMEOUT_MS = 10_000;

export interface OAuthPagesDeps {
  clientId: string;
  clientSecret: string;
  scopes: readonly string[];
  /** Where browsers reach this process. */
  publicUrl: string;
  slackApiUrl: string;
  /** States are signed with a key made from it. */
  secretKey: string;
  /** Marks a state as used; false if it was used before. */
  markStateUsed: (state: string) => Promise<boolean>;
  /** Saves an installation. Throws InstallRefused. */
  saveInstallation: (granted: GrantedInstallation) => Promise<void>;
}

const namedEntity = optional(z.looseObject({ id: z.string(), name: optional(z.string()) }));
const installationSchema = z.looseObject({
  team: namedEntity,
  enterprise: namedEntity,
  isEnterpriseInstall: optional(z.boolean()),
  bot: z.looseObject({
    token: z.string().min(1),
    refreshToken: z.string().min(1).nullish(),
    /** Seconds since 1970. */
    expiresAt: z.number().nullish(),
    id: z.string(),
    userId: z.string(),
  }),
  user: z.looseObject({ id: z.string() }),
});

/** Bolt's pages; all else goes to `fallback`. A receiver of their own: Bolt allows no installer beside `authorize`. */
export function createOAuthPages(
  deps: OAuthPagesDeps,
  fallback: RequestListener | undefined,
  log: Logger,
): RequestListener {
  const { clientId, clientSecret, publicUrl, secretKey, slackApiUrl } = deps;
  const stateKey = hkdfSync('sha256', secretKey, '', 'taskthread install states', 32);
  const { requestListener } = new HTTPReceiver({
    signingSecret: '',
    signatureVerification: false,
    endpoints: [],
    logger: createSlackLogger(log),
    clientId,
    clientSecret,
    scopes: [...deps.scopes],
    redirectUri: new URL(REDIRECT_PATH, publicUrl).href,
    // Bolt's states are valid for ten minutes, in the browser that has their cookie.
    stateSecret: Buffer.from(stateKey).toString('hex'),
    installationStore: {
      storeInstallation: async (installation) => deps.saveInstallation(toGranted(installation)),
      fetchInstallation: () => Promise.reject(new Error('Bolt must not read installations.')),
    },
    installerOptions: {
      installPath: INSTALL_PATH,
      redirectUriPath: REDIRECT_PATH,
      directInstall: true,
      authorizationUrl: new URL('/oauth/v2/authorize', slackApiUrl).href,
      clientOptions: { ...webClientOptions(slackApiUrl), timeout: TOKEN_EXCHANGE_TIMEOUT_MS },
      callbackOptions: {
        beforeInstallation: async (_options, request, response) => {
          const state = URL.parse(request.url ?? '', publicUrl)?.searchParams.get('state') ?? '';
          if (await deps.markStateUsed(createHash('sha256').update(state).digest('base64url'))) return true;
          // As when somebody loads the page of a success again.
          const next = `If you have just installed Taskthread, it is ready. If not: ${START_AGAIN}`;
          sendPage(response, 400, 'This link was already used, or has expired', next);
          return false;
        },
        success: (installation, _options, _request, response) => showSuccess(installation, response),
        failure: (error, _options, request, response) => showFailure(error, request.url ?? '', response),
      },
    },
  });
  return (request, response) => {
    const path = URL.parse(request.url ?? '/', 'http://localhost')?.pathname;
    const isOAuthPath = path === INSTALL_PATH || path === REDIRECT_PATH;
    if (isOAuthPath) addSameSite(response);
    (isOAuthPath || fallback === undefined ? requestListener : fallback)(request, response);
  };
}

/** Bolt's cookie for the state names no SameSite. It is Lax, because Slack's redirect back must send it. */
function addSameSite(response: ServerResponse): void {
  const setHeader = response.setHeader.bind(response);
  const asLax = (cookie: string) => `${cookie}; SameSite=Lax`;
  response.setHeader = (name, value) => {
    if (name.toLowerCase() !== 'set-cookie' || typeof value === 'number') return setHeader(name, value);
    return setHeader(name, typeof value === 'string' ? asLax(value) : value.map(asLax));
  };
}

/** What Slack granted. Throws a ZodError if that includes no bot. */
function toGranted(installation: Installation): GrantedInstallation {
  const { team, enterprise, isEnterpriseInstall, bot, user } = installationSchema.parse(installation);
  const organisation = isEnterpriseInstall === true;
  const installedIn = organisation ? enterprise : team;
  if (installedIn === undefined) throw new TypeError('The installation names no workspace.');
  const { token, refreshToken, expiresAt } = bot;
  return {
    workspace: installedIn.id,
    enterprise_id: enterprise?.id ?? null,
    is_enterprise_install: organisation,
    name: installedIn.name ?? installedIn.id,
    bot_user_id: bot.userId,
    bot_id: bot.id,
    tokens: { bot: { token, ...(refreshToken && { refreshToken }) } },
    installer: user.id,
    token_expires_at: expiresAt == null ? null : new Date(expiresAt * 1_000),
  };
}

/** An organisation's admin still has to add the app to workspaces: until then, nobody sees it. */
function showSuccess(
  { appId = '', team, enterprise }: Pick<Installation<'v1' | 'v2', boolean>, 'appId' | 'team' | 'enterprise'>,
  response: ServerResponse,
): void {
  const id = (team ?? enterprise)?.id ?? '';
  const [url, text] = team
    ? [`https://slack.com/app_redirect?app=${appId}&team=${id}`, 'Open it in Slack']
    : [
        `https://app.slack.com/manage/${id}/integrations/profile/${appId}/workspaces/add`,
        'Add it to workspaces',
      ];
  const isLinked = [appId, id].every((one) => /^[A-Z0-9]+$/.test(one));
  const next = isLinked ? `<a href="${url}">${text}</a>` : text;
  sendPage(response, 200, 'Taskthread is installed', `${next}, invite it to a channel, and mention it there`);
}

function showFailure(error: Error, url: string, response: ServerResponse): void {
  if (error instanceof InstallRefused) {
    const isId = /^[A-Z0-9]+$/.test(error.workspace);
    const who = isId ? `This workspace (${error.workspace})` : 'This workspace';
    const why = `${who} is not on the list of workspaces that may install Taskthread. Ask the operator to add it. Nothing was saved`;
    sendPage(response, 403, 'Taskthread is not installed', why);
    return;
  }
  const reasons: Record<string, string> = {
    slack_oauth_invalid_state: `This page was opened in a different browser, or too late. ${START_AGAIN}`,
    slack_oauth_missing_state: `This page was not opened from Slack. ${START_AGAIN}`,
    slack_oauth_missing_code: `Slack sent no authorization code. ${START_AGAIN}`,
    access_denied: `The installation was cancelled. ${START_AGAIN} if that was a mistake`,
    cannot_install_an_org_installed_app: 'Ask an admin of your organisation to add it to your workspace',
  };
  const code =
    URL.parse(url, 'http://localhost')?.searchParams.get('error') ??
    packageErrorSchema.safeParse(error).data?.data.error ??
    ('code' in error ? String(error.code) : '');
  const reason = Object.hasOwn(reasons, code) ? reasons[code] : undefined;
  const why = reason ?? `Slack did not complete the installation. ${START_AGAIN}`;
  sendPage(response, 400, 'Taskthread is not installed', why);
}

/** `text` is trusted HTML. */
function sendPage(response: ServerResponse, status: number, title: string, text: string): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' });
  response.end(htmlPage(title, `${text}.`));
}
