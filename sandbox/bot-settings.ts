import type { RelayLimits } from '../src/limits.ts';
import type { AgentService } from './agent/agent-service.ts';
import type { DatabaseConnection } from './chaos/bot-database.ts';
import { connectionUrl } from './postgres-server.ts';
import type { SlackWorkspace } from './slack/slack-workspace.ts';

/** Lifts the quotas: the few people of a sandbox send many messages. */
export const UNLIMITED_QUOTAS = {
  TURNS_PER_HOUR_PERSON: '0',
  TURNS_PER_HOUR_WORKSPACE: '0',
} as const;

/** What is other in a sandbox than in the field: its service is never slow, and its few people ask much at a time. */
export const SANDBOX_LIMITS: Partial<RelayLimits> = { resendMs: 3_000, atOncePerson: 0, atOnceWorkspace: 0 };

/** The environment variable from which a process of the bot takes its limits, beside those of every sandbox. */
export function limitsSetting(limits: Partial<RelayLimits>): { BOT_LIMITS: string } {
  return { BOT_LIMITS: JSON.stringify({ ...SANDBOX_LIMITS, ...limits }) };
}

/** The environment variables with which a bot finds both services; its token and database come on top. */
export function serviceSettings(
  slack: SlackWorkspace,
  agent: AgentService,
  transport: 'http' | 'socket',
): Record<string, string> {
  return {
    ...(transport === 'http'
      ? { SLACK_SIGNING_SECRET: slack.signingSecret }
      : { SLACK_APP_TOKEN: slack.appToken }),
    SLACK_API_URL: slack.apiUrl,
    AGENT_BASE_URL: agent.url,
    AGENT_API_KEY: agent.apiKey,
    AGENT_DIALECT: JSON.stringify({ leastPartBytes: agent.behaviour.minPartSize }),
    PRIVATE_HOSTS: '127.0.0.1',
    ...limitsSetting({}),
    PORT: '0',
    METRICS_PORT: '0',
    HOST: '127.0.0.1',
  };
}

/** A process of the bot then cannot prove to others that it, or one of them, has ended: each is alone on its host. */
export const OWN_HOST_SETTINGS = {
  NODE_OPTIONS: `--import=${new URL('chaos/own-host.ts', import.meta.url).href}`,
} as const;

/** Encrypts the tokens and keys of workspaces. */
export const OAUTH_SECRET_KEY = 'sandbox-'.repeat(4);

/** The app's own credentials, for workspaces that install it by OAuth; the redirect address does not resolve. */
export function oauthSettings(slack: SlackWorkspace): Record<string, string> {
  return {
    SLACK_CLIENT_ID: slack.clientId,
    SLACK_CLIENT_SECRET: slack.clientSecret,
    SECRET_KEY: OAUTH_SECRET_KEY,
    PUBLIC_URL: 'https://bot.invalid',
    INSTALL_WORKSPACES: '*',
  };
}

/**
 * The environment of a bot in a chaos run: both services, and a shared database or a data folder of its own.
 * `delaySeconds`: the longest that the service takes for a call.
 */
export function chaosSettings(
  slack: SlackWorkspace,
  agent: AgentService,
  transport: 'http' | 'socket',
  database: DatabaseConnection | { dataFolder: string },
  { delaySeconds = 0, ...limits }: Partial<RelayLimits> & { delaySeconds?: number } = {},
): Record<string, string> {
  return {
    ...serviceSettings(slack, agent, transport),
    ...UNLIMITED_QUOTAS,
    // A call that the service handles late must have had its effect before it is repeated.
    ...limitsSetting({ resendMs: Math.max(10_000, delaySeconds * 1_500), editsPerMinute: 400, ...limits }),
    SLACK_BOT_TOKEN: slack.botToken,
    ...('dataFolder' in database
      ? { DATA_FOLDER: database.dataFolder }
      : { DATABASE_URL: connectionUrl(database) }),
  };
}
