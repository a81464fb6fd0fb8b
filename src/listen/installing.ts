import type { RequestListener, ServerResponse } from 'node:http';
import { HTTPReceiver, type Installation } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import { InstallRefused } from '../relay/installing/tenancy.ts';
import type { Granted } from '../relay/installing/tokens.ts';
import { boltLogger } from './bolt-logger.ts';
import { InstallStates, StateRefused } from './install-states.ts';

const installPath = '/slack/install';
const redirectPath = '/slack/oauth_redirect';
/** The longest that Slack may take to give tokens for a code (ms). */
const exchangeMs = 10_000;

/** What installing by OAuth needs. */
export interface InstallingParts {
  clientId: string;
  clientSecret: string;
  /** The scopes of the bot. */
  scopes: readonly string[];
  /** Where browsers reach us. */
  publicUrl: string;
  slackApiUrl: string;
  /** They sign the states; the first is for new ones. */
  secretKeys: readonly string[];
  /** Uses a state up; false where it was used before. */
  spend: (state: string) => Promise<boolean>;
  /** Writes an installation down. Throws InstallRefused. */
  installed: (granted: Granted) => Promise<void>;
}

type Options = ConstructorParameters<typeof HTTPReceiver>[0];

const named = z.looseObject({ id: z.string(), name: z.string().optional() });
const installationShape = z.looseObject({
  team: named.nullish(),
  enterprise: named.nullish(),
  isEnterpriseInstall: z.boolean().optional(),
  bot: z.looseObject({
    token: z.string().min(1),
    refreshToken: z.string().min(1).optional(),
    /** Seconds since 1970. */
    expiresAt: z.number().optional(),
    id: z.string(),
    userId: z.string(),
  }),
  user: z.looseObject({ id: z.string(), token: z.string().min(1).nullish() }),
});

function installingOptions(parts: InstallingParts): Omit<Options, 'signingSecret'> {
  const scopes = [...parts.scopes];
  const redirectUri = new URL(redirectPath, parts.publicUrl).href;
  const { secretKeys, spend, slackApiUrl } = parts;
  return {
    clientId: parts.clientId,
    clientSecret: parts.clientSecret,
    scopes,
    redirectUri,
    installationStore: {
      storeInstallation: async (installation) => parts.installed(grantedBy(installation)),
      fetchInstallation: () => Promise.reject(new Error('Installations are asked for elsewhere.')),
    },
    installerOptions: {
      installPath,
      redirectUriPath: redirectPath,
      directInstall: true,
      stateStore: new InstallStates({ secretKeys, spend, options: { scopes, redirectUri } }),
      authorizationUrl: new URL('/oauth/v2/authorize', slackApiUrl).href,
      clientOptions: {
        slackApiUrl,
        allowAbsoluteUrls: false,
        retryConfig: { retries: 0 },
        rejectRateLimitedCalls: true,
        timeout: exchangeMs,
      },
      callbackOptions: {
        success: (installation, _options, _request, response) => succeeded(installation, response),
        failure: (error, _options, _request, response) => failed(error, response),
      },
    },
  };
}

/**
 * Bolt's pages at `/slack/install` and `/slack/oauth_redirect`; everything else goes to `others`. They are a receiver of
 * their own: Bolt takes no installer beside an `authorize`, and with Socket Mode there is no other.
 */
export function installingPages(
  parts: InstallingParts,
  others: RequestListener | undefined,
  log: Logger,
): RequestListener {
  const { requestListener } = new HTTPReceiver({
    ...installingOptions(parts),
    signingSecret: '',
    signatureVerification: false,
    endpoints: [],
    logger: boltLogger(log),
  });
  return (request, response) => {
    const path = URL.parse(request.url ?? '/', 'http://localhost')?.pathname;
    const ours = path === installPath || path === redirectPath;
    (ours || others === undefined ? requestListener : others)(request, response);
  };
}

/** What Slack has granted. Throws a ZodError where it holds no bot. */
function grantedBy(installation: Installation): Granted {
  const { team, enterprise, isEnterpriseInstall, bot, user } = installationShape.parse(installation);
  const organisation = isEnterpriseInstall === true;
  const place = organisation ? enterprise : team;
  if (place === null || place === undefined) throw new TypeError('An installation of no workspace.');
  const { token, refreshToken, expiresAt } = bot;
  const userToken = user.token ?? undefined;
  return {
    workspace: place.id,
    enterprise: enterprise?.id,
    organisation,
    name: place.name ?? place.id,
    botUser: bot.userId,
    botId: bot.id,
    tokens: {
      bot: { token, ...(refreshToken !== undefined && { refreshToken }) },
      ...(userToken !== undefined && { user: { id: user.id, token: userToken } }),
    },
    installer: user.id,
    expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt * 1_000),
  };
}

function succeeded({ appId, team }: Installation, response: ServerResponse): void {
  const isId = (id: string | undefined) => id !== undefined && /^[A-Z0-9]+$/.test(id);
  const link =
    isId(appId) && isId(team?.id) ? `https://slack.com/app_redirect?app=${appId}&team=${team?.id}` : '';
  const open = link === '' ? 'Open Slack' : `<a href="${link}">Open it in Slack</a>`;
  page(response, 200, 'Taskthread is installed', `${open}, invite it to a channel, and mention it there.`);
}

function failed(error: Error, response: ServerResponse): void {
  if (error instanceof InstallRefused) {
    const isId = /^[A-Z0-9]+$/.test(error.workspace);
    const who = isId ? `This workspace (${error.workspace})` : 'This workspace';
    const why = `${who} is not on the list of workspaces that may install Taskthread. Ask its operator to add it. Nothing was kept`;
    page(response, 403, 'Taskthread is not installed', why);
    return;
  }
  const again = `<a href="${installPath}">Begin again</a>`;
  const reasons: Record<string, string> = {
    slack_oauth_invalid_state: `This page was opened in another browser, or too late. ${again}`,
    slack_oauth_missing_state: `This page was not opened from Slack. ${again}`,
    slack_oauth_missing_code: `Slack gave no code. ${again}`,
    access_denied: `The installation was cancelled. ${again} if that was a mistake`,
  };
  const code = 'code' in error ? String(error.code) : '';
  const why =
    error instanceof StateRefused
      ? `This page was opened already, or too late. ${again}`
      : (reasons[code] ?? `Slack did not complete the installation. ${again}`);
  page(response, 400, 'Taskthread is not installed', why);
}

/** `text` is HTML of ours. */
function page(response: ServerResponse, status: number, title: string, text: string): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' });
  response.end(
    `<!doctype html>\n<html lang="en"><title>${title}</title>\n<h1>${title}</h1>\n<p>${text}.</p>\n`,
  );
}
