import { resolverLookup } from '../agent/network-address.ts';
import { WORKSPACE_RESPONSE_LIMITS } from '../agent/response-limits.ts';
import { CredentialGate } from '../calls/credential-gate.ts';
import type { Config } from '../config/environment-and-secret-files.ts';
import { openRegistry } from '../relay/installations/oauth-installations.ts';
import { ServiceAccounts } from '../relay/installations/service-accounts.ts';
import { isAcceptedPost } from '../slack/posting.ts';
import type { TokenIdentity } from '../slack/tokens.ts';
import { SharedRateLimits } from '../store/slack/shared-rate-limits.ts';
import type { Keyring } from '../store/workspaces/encryption.ts';
import type { AppContext, Storage } from './storage.ts';

/** The settings that hold the credentials of the app itself. */
export const CREDENTIAL_SETTINGS = { token: 'SLACK_BOT_TOKEN', key: 'AGENT_API_KEY' } as const;

export type Workspaces = Awaited<ReturnType<typeof openWorkspaces>>;

/** Opens Slack and the agent service for each workspace; `cleanup` closes them. Throws a StoreError. */
export async function openWorkspaces(
  context: AppContext,
  { store, database, keyring }: Storage,
  identity: TokenIdentity | undefined,
  cleanup: AsyncDisposableStack,
) {
  const { config, limits, log, telemetry, overrides } = context;
  const redactSecret = overrides.onSecret ?? (() => () => undefined);
  const ownPosts = new Set<(workspace: string) => void>();
  const { registry: installations, oauthInstallations: oauth } = await openRegistry({
    store,
    identity,
    oauth: oauthOptions(config, keyring),
    workspaceOptions: {
      slackApiUrl: config.SLACK_API_URL,
      isDistributed: config.SLACK_DISTRIBUTED,
      editsPerMinute: limits.editsPerMinute,
      pace: limits.slackPace,
      callLifetimeMs: limits.slackCallLifetimeMs,
      showAgentSessions: config.AGENT_SESSIONS,
      maxFileBytes: limits.maxFileBytes,
      rateLimitStore: telemetry.withPermitMetrics(new SharedRateLimits(database.kysely)),
      onCall: (call) => {
        telemetry.onSlackCall(call);
        if (isAcceptedPost(call)) for (const onPost of ownPosts) onPost(call.workspace);
      },
      onEdit: telemetry.onSlackEdit,
      log,
    },
    tokenGateFor: (workspace) => gateFor(context, CREDENTIAL_SETTINGS.token, workspace),
    confirmAfterMs: overrides.confirmAfterMs,
  });
  const { AGENT_BASE_URL: baseUrl, AGENT_API_KEY: apiKey } = config;
  const accounts = new ServiceAccounts({
    store,
    keyring,
    defaultCredentials: baseUrl === undefined || apiKey === undefined ? undefined : { baseUrl, apiKey },
    clientOptions: {
      serviceOptions: config.AGENT_DIALECT,
      allowedHosts: config.PRIVATE_HOSTS,
      readsPerSecond: limits.readsPerSecond,
      readIntervalMs: limits.readIntervalMs,
      retry: { baseDelayMs: limits.retryMs / 2 },
      onAttempt: telemetry.onServiceAttempt,
      log,
    },
    // Accounts set by workspace admins have no access to private networks, and tighter limits.
    ownAccountOptions: {
      allowedHosts: config.ACCOUNT_HOSTS,
      responseLimits: WORKSPACE_RESPONSE_LIMITS,
      lookup: resolverLookup(),
      onAttempt: telemetry.onWorkspaceServiceAttempt,
    },
    keyGateFor: (workspace) => gateFor(context, CREDENTIAL_SETTINGS.key, workspace),
    redactSecret,
    log,
  });
  cleanup.defer(() => accounts.close());
  return {
    installations,
    /** Undefined if the token comes from the settings. */
    oauth,
    accounts,
    keyring,
    redactSecret,
    /** The workspace of SLACK_BOT_TOKEN; undefined if workspaces install the app by OAuth. */
    own: identity && { id: identity.installation.workspace },
    /** Called with the workspace of each of our own posts. */
    ownPosts,
    /** What this process knows of installations and accounts, to be read again. */
    refreshables: [...(oauth === undefined ? [] : [oauth.workspaces]), accounts],
  };
}

function gateFor({ log, overrides }: AppContext, setting: string, workspace?: string): CredentialGate {
  return new CredentialGate({ setting, workspace, log, probeMs: overrides.probeMs });
}

/** The app's OAuth credentials; undefined if the token comes from the settings. */
function oauthOptions(config: Config, keyring: Keyring | undefined) {
  const { SLACK_CLIENT_ID: clientId, SLACK_CLIENT_SECRET: clientSecret } = config;
  if (clientId === undefined || clientSecret === undefined || keyring === undefined) return undefined;
  const named = config.INSTALL_WORKSPACES;
  return { clientId, clientSecret, keyring, mayInstall: named.includes('*') ? [] : named };
}
