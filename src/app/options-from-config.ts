import { resolverLookup } from '../agent/network-address.ts';
import { WORKSPACE_RESPONSE_LIMITS } from '../agent/response-limits.ts';
import { supportedTaskOptions } from '../agent/service-options.ts';
import type { Config } from '../config.ts';
import type { OAuthPagesDeps } from '../listeners/oauth-pages.ts';
import type { EventTransport } from '../listeners/slack-app.ts';
import { createSocketLease } from '../listeners/socket-mode-pool.ts';
import type { OAuthInstallations } from '../relay/installations/oauth-installations.ts';
import type { ServiceCredentials } from '../relay/installations/service-accounts.ts';
import { ResultLinks } from '../relay/replies/result-links.ts';
import type { RelayDeps, RelayLimits } from '../relay/runtime/deps.ts';
import { REQUIRED_SCOPES } from '../slack/app-manifest.ts';
import type { DatabaseLocation } from '../store/database.ts';
import type { RetentionDays } from '../store/erasure/retention.ts';
import type { Store } from '../store/store.ts';
import type { Keyring } from '../store/workspaces/keyring.ts';

const RELAY_LIMITS: RelayLimits = {
  settledTaskMs: 60_000,
  refusalMs: 60_000,
  badThingMs: 9.5 * 60_000,
  lookAgainMs: 60_000,
  linkMs: 20_000,
  linkAgeMs: 30_000,
  slackPace: 1,
};
const MEBIBYTE = 1024 * 1024;
/** Stands for all workspaces in the lease of an app that many have installed. */
const ANY_WORKSPACE = 'any';

/** Where the database is, and how many connections it allows. */
export function databaseLocation(config: Config): DatabaseLocation {
  return {
    url: config.DATABASE_URL,
    directUrl: config.DATABASE_LISTEN_URL,
    folder: config.DATA_FOLDER,
    maxConnections: config.DATABASE_CONNECTIONS,
  };
}

/** The app's OAuth credentials; undefined if the token comes from the settings. */
export function oauthOptions(config: Config, keyring: Keyring | undefined) {
  const { SLACK_CLIENT_ID: clientId, SLACK_CLIENT_SECRET: clientSecret } = config;
  if (clientId === undefined || clientSecret === undefined || keyring === undefined) return undefined;
  const named = config.INSTALL_WORKSPACES;
  return { clientId, clientSecret, keyring, mayInstall: named.includes('*') ? [] : named };
}

/** How workspaces install the app. */
export function oauthPagesDeps(config: Config, store: Store, oauth: OAuthInstallations): OAuthPagesDeps {
  return {
    clientId: config.SLACK_CLIENT_ID ?? '',
    clientSecret: config.SLACK_CLIENT_SECRET ?? '',
    scopes: REQUIRED_SCOPES,
    publicUrl: config.PUBLIC_URL ?? '',
    slackApiUrl: config.SLACK_API_URL,
    secretKey: config.SECRET_KEY?.[0] ?? '',
    markStateUsed: (state) => store.installations.markStateUsed(state),
    saveInstallation: (granted) => oauth.install(granted),
  };
}

/** The service account of the settings, for workspaces without one of their own. */
export function sharedCredentials({
  AGENT_BASE_URL: baseUrl,
  AGENT_API_KEY: apiKey,
}: Config): ServiceCredentials | undefined {
  return baseUrl === undefined || apiKey === undefined ? undefined : { baseUrl, apiKey };
}

/** How Slack delivers events. */
export function eventTransport(
  config: Config,
  store: Store,
  workspace: string = ANY_WORKSPACE,
): EventTransport {
  const appToken = config.SLACK_APP_TOKEN;
  if (appToken === undefined) return { kind: 'http', signingSecret: config.SLACK_SIGNING_SECRET ?? '' };
  const socketLease = createSocketLease(store.socketLeases, workspace, appToken, config.SLACK_SOCKETS);
  return { kind: 'socket', appToken, socketLease };
}

/** Our own links to results; undefined if STABLE_LINKS is off. */
export function createResultLinks(config: Config): ResultLinks | undefined {
  const { STABLE_LINKS, PUBLIC_URL, SECRET_KEY } = config;
  if (!STABLE_LINKS || PUBLIC_URL === undefined || SECRET_KEY === undefined) return undefined;
  return new ResultLinks({ secretKeys: SECRET_KEY, publicUrl: PUBLIC_URL });
}

/** The relay's settings. */
export function relaySettings(
  config: Config,
  links: ResultLinks | undefined,
  limits: Partial<RelayLimits> = {},
): RelayDeps['settings'] {
  return {
    skill: config.AGENT_SKILL,
    supportedTaskOptions: supportedTaskOptions(config.AGENT_DIALECT),
    maxTranscriptMessages: config.TRANSCRIPT_MESSAGES,
    maxTranscriptCharacters: config.TRANSCRIPT_CHARACTERS,
    fileLimits: {
      maxFileBytes: config.FILE_LIMIT_MIB * MEBIBYTE,
      maxMessageBytes: config.FILES_LIMIT_MIB * MEBIBYTE,
      maxMessageFiles: config.FILES_MOST,
      allowedTypes: config.FILE_TYPES_ALLOWED,
      refusedTypes: config.FILE_TYPES_REFUSED,
    },
    results: {
      maxInlineBytes: config.INLINE_LIMIT_MIB * MEBIBYTE,
      maxTableBytes: config.TABLE_LIMIT_KIB * 1024,
      followUpMs: config.WATCH_MINUTES * 60_000,
      followUpIntervalMs: config.WATCH_SECONDS * 1_000,
      stableLink: links === undefined ? undefined : (result) => links.create(result),
    },
    ...RELAY_LIMITS,
    ...limits,
    maxBackgroundWaitMs: config.BACKGROUND_WAIT_SECONDS * 1_000,
    resendMs: config.RESEND_SECONDS * 1_000,
    silenceMs: config.SILENCE_SECONDS * 1_000,
    waitingMs: config.WAITING_SECONDS * 1_000,
    passOnMs: config.PASS_ON_SECONDS * 1_000,
    maxReplyMessages: config.REPLY_MESSAGES,
    newBlocks: config.REPLY_BLOCKS,
    streamsDirectMessages: config.DM_STREAMS,
    stopReaction: config.STOP_REACTION,
    feedbackChannel: config.FEEDBACK_CHANNEL,
    controlsBy: config.CONTROLS_BY,
    admits: config.ADMITS,
    listenMode: config.LISTENS_TO,
    admitsBots: config.ADMITS_BOTS,
    quotas: {
      hourPerson: config.TURNS_PER_HOUR_PERSON,
      hourWorkspace: config.TURNS_PER_HOUR_WORKSPACE ?? defaultWorkspaceQuota(config),
      atOncePerson: config.TURNS_AT_ONCE_PERSON,
      atOnceWorkspace: config.TURNS_AT_ONCE_WORKSPACE,
    },
  };
}

/** Messages an hour: workspaces that install the app themselves must not use up the operator's key. */
function defaultWorkspaceQuota({ SLACK_CLIENT_ID, AGENT_API_KEY }: Config): number {
  return SLACK_CLIENT_ID !== undefined && AGENT_API_KEY !== undefined ? 600 : 0;
}

/** What all Slack clients share. */
export function slackOptions(config: Config, limits: Partial<RelayLimits> = {}) {
  return {
    slackApiUrl: config.SLACK_API_URL,
    isDistributed: config.SLACK_DISTRIBUTED,
    editsPerMinute: config.SLACK_EDITS_PER_MINUTE,
    pace: limits.slackPace,
    showAgentSessions: config.AGENT_SESSIONS,
    maxFileBytes: config.FILE_LIMIT_MIB * MEBIBYTE,
  };
}

/** What all service clients share. */
export function serviceOptions(config: Config) {
  return {
    serviceOptions: config.AGENT_DIALECT,
    allowedHosts: config.PRIVATE_HOSTS,
    readsPerSecond: config.AGENT_READS_PER_SECOND,
  };
}

/** What clients of accounts set by workspace admins add: no access to private networks, and tighter limits. */
export function workspaceAccountLimits(config: Config) {
  return {
    allowedHosts: config.ACCOUNT_HOSTS,
    responseLimits: WORKSPACE_RESPONSE_LIMITS,
    lookup: resolverLookup(),
  };
}

/** How many days each kind of data is kept. */
export function retentionDays(config: Config): RetentionDays {
  return {
    words: config.KEEP_WORDS_DAYS,
    rows: config.KEEP_ROWS_DAYS,
    audit: config.KEEP_AUDIT_DAYS,
    uninstalled: config.KEEP_UNINSTALLED_DAYS,
  };
}
