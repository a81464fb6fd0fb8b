import { threadlessLookup } from '../agent/address.ts';
import { tenantBounds } from '../agent/answer-bounds.ts';
import { offersOf } from '../agent/dialect.ts';
import type { Config } from '../config.ts';
import type { InstallingParts } from '../listen/installing.ts';
import { sharingOf } from '../listen/sharing.ts';
import type { Transport } from '../listen/slack-app.ts';
import { neededScopes } from '../operate/checks/scopes.ts';
import type { Credentials } from '../relay/accounts/service.ts';
import type { RelayParts } from '../relay/context.ts';
import type { Tenancy } from '../relay/installing/tenancy.ts';
import { ResultLinks } from '../relay/showing/result-links.ts';
import type { Keyring } from '../store/keyring.ts';
import type { RetentionDays } from '../store/retention.ts';
import type { Store } from '../store/store.ts';

const mebibyte = 1024 * 1024;
/** Stands for all workspaces where the connections are shared of an app that many have installed. */
const anyWorkspace = 'any';

/** The app's credentials for OAuth, where many workspaces may install it. */
export function oauthOf(config: Config, keyring: Keyring | undefined) {
  const { SLACK_CLIENT_ID: clientId, SLACK_CLIENT_SECRET: clientSecret } = config;
  if (clientId === undefined || clientSecret === undefined || keyring === undefined) return undefined;
  return { clientId, clientSecret, keyring, mayInstall: config.INSTALL_WORKSPACES };
}

/** How workspaces install the app. */
export function installingOf(config: Config, store: Store, tenancy: Tenancy): InstallingParts {
  return {
    clientId: config.SLACK_CLIENT_ID ?? '',
    clientSecret: config.SLACK_CLIENT_SECRET ?? '',
    scopes: neededScopes,
    publicUrl: config.PUBLIC_URL ?? '',
    slackApiUrl: config.SLACK_API_URL,
    secretKeys: config.SECRET_KEY ?? [],
    spend: (state) => store.installations.spend(state),
    installed: (granted) => tenancy.install(granted),
  };
}

/** The account of the settings, for workspaces without one of their own. */
export function sharedAccount({
  AGENT_BASE_URL: baseUrl,
  AGENT_API_KEY: apiKey,
}: Config): Credentials | undefined {
  return baseUrl === undefined || apiKey === undefined ? undefined : { baseUrl, apiKey };
}

/** How events come. */
export function transportOf(config: Config, store: Store, workspace: string = anyWorkspace): Transport {
  const appToken = config.SLACK_APP_TOKEN;
  if (appToken === undefined) return { kind: 'http', signingSecret: config.SLACK_SIGNING_SECRET ?? '' };
  const sharing = sharingOf(store.receivers, { workspace, appToken, most: config.SLACK_SOCKETS });
  return { kind: 'socket', appToken, sharing };
}

/** Links of ours to results, where the settings want them. */
export function resultLinks(config: Config): ResultLinks | undefined {
  const { STABLE_LINKS, PUBLIC_URL, SECRET_KEY } = config;
  if (!STABLE_LINKS || PUBLIC_URL === undefined || SECRET_KEY === undefined) return undefined;
  return new ResultLinks({ secretKeys: SECRET_KEY, publicUrl: PUBLIC_URL });
}

/** What the relay's steps are set to. */
export function relaySettings(config: Config, links: ResultLinks | undefined): RelayParts['settings'] {
  return {
    skill: config.AGENT_SKILL,
    offers: offersOf(config.AGENT_DIALECT),
    transcriptMessages: config.TRANSCRIPT_MESSAGES,
    transcriptCharacters: config.TRANSCRIPT_CHARACTERS,
    files: {
      fileBytes: config.FILE_LIMIT_MIB * mebibyte,
      messageBytes: config.FILES_LIMIT_MIB * mebibyte,
      messageFiles: config.FILES_MOST,
      allowed: config.FILE_TYPES_ALLOWED,
      refused: config.FILE_TYPES_REFUSED,
    },
    results: {
      inlineBytes: config.INLINE_LIMIT_MIB * mebibyte,
      tableBytes: config.TABLE_LIMIT_KIB * 1024,
      watchMs: config.WATCH_MINUTES * 60_000,
      watchEveryMs: config.WATCH_SECONDS * 1_000,
      stableLink: links === undefined ? undefined : (result) => links.make(result),
    },
    backgroundWaitMs: config.BACKGROUND_WAIT_SECONDS * 1_000,
    silenceMs: config.SILENCE_SECONDS * 1_000,
    replyMessages: config.REPLY_MESSAGES,
    stopReaction: config.STOP_REACTION,
    controlsBy: config.CONTROLS_BY,
    admits: config.ADMITS,
    admitsBots: config.ADMITS_BOTS,
    limits: {
      hourPerson: config.TURNS_PER_HOUR_PERSON,
      hourWorkspace: config.TURNS_PER_HOUR_WORKSPACE,
      atOncePerson: config.TURNS_AT_ONCE_PERSON,
      atOnceWorkspace: config.TURNS_AT_ONCE_WORKSPACE,
    },
  };
}

/** What holds for all calls at Slack. */
export function slackOptions(config: Config) {
  return {
    slackApiUrl: config.SLACK_API_URL,
    distributed: config.SLACK_DISTRIBUTED,
    editsPerMinute: config.SLACK_EDITS_PER_MINUTE,
    agentSessions: config.AGENT_SESSIONS,
    fileBytes: config.FILE_LIMIT_MIB * mebibyte,
  };
}

/** What the clients of all service accounts share. */
export function serviceOptions(config: Config) {
  return {
    dialect: config.AGENT_DIALECT,
    allowedHosts: config.PRIVATE_HOSTS,
    readsPerSecond: config.AGENT_READS_PER_SECOND,
  };
}

/** What holds for those that admins of workspaces set: they reach into no private network, and are bounded more. */
export function ownBounds(config: Config) {
  return { allowedHosts: config.ACCOUNT_HOSTS, bounds: tenantBounds, lookup: threadlessLookup() };
}

/** What the clients of accounts that admins set share. */
export function ownServiceOptions(config: Config) {
  return { ...serviceOptions(config), ...ownBounds(config) };
}

/** How long what is kept. */
export function retentionDays(config: Config): RetentionDays {
  return {
    words: config.KEEP_WORDS_DAYS,
    rows: config.KEEP_ROWS_DAYS,
    audit: config.KEEP_AUDIT_DAYS,
    uninstalled: config.KEEP_UNINSTALLED_DAYS,
  };
}
