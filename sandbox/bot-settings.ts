import type { AgentService } from './agent/agent-service.ts';
import type { SlackWorkspace } from './slack/slack-workspace.ts';

/** Lifts the quotas: the few people of a sandbox send many messages. */
export const UNLIMITED_QUOTAS = {
  TURNS_PER_HOUR_PERSON: '0',
  TURNS_PER_HOUR_WORKSPACE: '0',
  TURNS_AT_ONCE_PERSON: '0',
  TURNS_AT_ONCE_WORKSPACE: '0',
} as const;

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
    RESEND_SECONDS: '3',
    PORT: '0',
    METRICS_PORT: '0',
    HOST: '127.0.0.1',
  };
}

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
