import { z } from 'zod';
import { listOf } from '../calls/json.ts';
import { valueIf } from '../calls/retries-and-waits.ts';
import { retryTransient, SlackAuthError, SlackRateLimitError } from './errors.ts';
import { nextPageSchema, optional, pagesOf } from './field-schemas.ts';
import type { PermitStore } from './permit-queue.ts';
import { RATE_LIMITS, RateLimiter } from './rate-limits.ts';
import { noteScopes } from './scopes.ts';
import {
  anyResponseSchema,
  clientForToken,
  type Installation,
  type SlackClientOptions,
} from './slack-client.ts';

export type TokenOptions = Omit<SlackClientOptions, 'installation'> & { token: string };

export interface TokenIdentity {
  installation: Installation;
  /** The workspace's name. */
  name: string;
  /** The app's id (`A…`), if Slack says it. */
  appId: string | undefined;
  /** The granted scopes; empty if Slack does not say. */
  scopes: readonly string[];
}

const authTestSchema = z.looseObject({
  /** Null for a whole organisation's token. */
  team_id: z.string().nullable(),
  is_enterprise_install: optional(z.boolean()),
  team: optional(z.string()),
  user_id: z.string(),
  bot_id: z.string(),
  app_id: optional(z.string()),
});

/** Asks Slack whose bot token this is, and retries while Slack is unavailable. Throws a SlackError, also for a person's or organisation's token. */
export async function identifyToken(options: TokenOptions): Promise<TokenIdentity> {
  const { token } = options;
  const client = clientForToken(token, options);
  const response = await retryTransient(() => client.call('auth.test', {}, { schema: authTestSchema }));
  const { team_id: workspace, user_id: botUser, bot_id: botId } = response;
  if (workspace === null || response.is_enterprise_install === true) {
    const call = { method: 'auth.test', slackCode: 'is_enterprise_install', outcome: 'none' } as const;
    throw new SlackAuthError(call, 'A whole organisation installs the app by OAuth, as in docs/install.md.');
  }
  const installation = { workspace, token, botUser, botId };
  const { grantedScopes: scopes } = client;
  noteScopes(installation, options.log, scopes);
  return {
    installation,
    name: response.team ?? workspace,
    appId: response.app_id,
    scopes,
  };
}

/** Short (ms), because an event may wait for the check, and Slack waits 3 s for the event. */
const TOKEN_CHECK_TIMEOUT_MS = 1_500;

/** Whether a token is valid. Throws a SlackError if Slack does not say. */
export async function isTokenValid(options: TokenOptions): Promise<boolean> {
  const client = clientForToken(options.token, { timeoutMs: TOKEN_CHECK_TIMEOUT_MS, ...options });
  const isDead = (error: unknown) => error instanceof SlackAuthError && error.isInstallationDead;
  const tested = client.call('auth.test', {}, { schema: anyResponseSchema });
  return await tested.then(() => true).catch(valueIf(false, isDead));
}

const teamsPageSchema = z.looseObject({
  teams: listOf(z.looseObject({ id: z.string() })),
  response_metadata: nextPageSchema,
});

const TEAMS_PAGE_SIZE = 1_000;
const MAX_TEAMS_PAGES = 10;

/** The workspaces (`T…`) that an organisation's token can access. Throws a SlackError. */
export async function workspacesOfToken(options: TokenOptions): Promise<ReadonlySet<string>> {
  const client = clientForToken(options.token, { timeoutMs: TOKEN_CHECK_TIMEOUT_MS, ...options });
  const workspaces = new Set<string>();
  const pages = pagesOf(MAX_TEAMS_PAGES, (at) =>
    client.call('auth.teams.list', { limit: TEAMS_PAGE_SIZE, ...at }, { schema: teamsPageSchema }),
  );
  for await (const page of pages) for (const { id } of page?.teams ?? []) workspaces.add(id);
  return workspaces;
}

/** https://docs.slack.dev/authentication/using-token-rotation */
const TOKEN_LIFETIME_S = 12 * 60 * 60;

const tokenResponseSchema = z.looseObject({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1),
  /** Seconds. A token of which Slack does not say it is kept: its refresh token cannot be had again. */
  expires_in: z.coerce.number().positive().catch(TOKEN_LIFETIME_S),
});

/** Time limit of the call (ms): its answer holds the only refresh token that is valid then. */
const RENEWAL_TIMEOUT_MS = 45_000;

export interface SlackTokensOptions extends Pick<SlackClientOptions, 'slackApiUrl' | 'log' | 'onCall'> {
  clientId: string;
  clientSecret: string;
  rateLimitStore: PermitStore;
  /** How many times as fast as Slack's limits tokens are renewed. */
  pace?: number | undefined;
}

export type SlackTokens = ReturnType<typeof slackTokens>;

const RENEWAL_METHOD = 'oauth.v2.access';

/** What Slack does with the tokens of workspaces that install the app. Each throws a SlackError if Slack does not answer. */
export function slackTokens(options: SlackTokensOptions) {
  const { clientId, clientSecret, slackApiUrl, log, pace, rateLimitStore: store } = options;
  const at = { slackApiUrl, log };
  // It belongs to no workspace.
  const rateLimiter = new RateLimiter({ workspace: '', store, rateLimits: RATE_LIMITS, pace, log });
  const renewals = clientForToken(undefined, { ...options, timeoutMs: RENEWAL_TIMEOUT_MS });
  return {
    isValid: (token: string) => isTokenValid({ ...at, token }),
    /** Waits for the right to renew one token, as long as it takes. Rejects with the signal's reason. */
    renewalPermit: (signal: AbortSignal) => rateLimiter.permit(RENEWAL_METHOD, { signal }),
    /**
     * Renews an expiring token, with a permit; the old one stays valid until it expires. After a refusal of the rate limit,
     * no process gets a permit for as long as Slack says.
     */
    renew: async (refreshToken: string) => {
      const app = { client_id: clientId, client_secret: clientSecret };
      const args = { grant_type: 'refresh_token', ...app, refresh_token: refreshToken };
      const requestedAt = Date.now();
      const renewed = await renewals
        .call(RENEWAL_METHOD, args, { schema: tokenResponseSchema })
        .catch((error: unknown) => {
          if (error instanceof SlackRateLimitError) rateLimiter.backOff(RENEWAL_METHOD, error.retryAfterMs);
          throw error;
        });
      return {
        token: renewed.access_token,
        /** Valid once, for the next renewal. */
        refreshToken: renewed.refresh_token,
        expiresAt: new Date(requestedAt + renewed.expires_in * 1_000),
      };
    },
    revoke: async (token: string) => {
      await clientForToken(token, at).call('auth.revoke', {}, { schema: anyResponseSchema });
    },
    workspacesOf: (token: string) => workspacesOfToken({ ...at, token }),
  };
}
