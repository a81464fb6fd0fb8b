import { connectionUrl } from '../../src/postgres/embedded-server.ts';
import type { AgentService } from '../agent/agent-service.ts';
import { UNLIMITED_QUOTAS } from '../sandbox-services.ts';
import type { SlackWorkspace } from '../slack/slack-workspace.ts';
import type { DatabaseConnection } from './bot-database.ts';
import type { ChaosOptions } from './chaos-options.ts';

/** The environment with which a bot finds both services and its database. */
export function botSettings(
  slack: SlackWorkspace,
  agent: AgentService,
  transport: ChaosOptions['transport'],
  place: DatabaseConnection | { dataFolder: string },
): Record<string, string> {
  return {
    SLACK_BOT_TOKEN: slack.botToken,
    ...(transport === 'socket'
      ? { SLACK_APP_TOKEN: slack.appToken }
      : { SLACK_SIGNING_SECRET: slack.signingSecret }),
    SLACK_API_URL: slack.apiUrl,
    SLACK_EDITS_PER_MINUTE: '400',
    AGENT_BASE_URL: agent.url,
    AGENT_API_KEY: agent.apiKey,
    PRIVATE_HOSTS: '127.0.0.1',
    PORT: '0',
    HOST: '127.0.0.1',
    ...UNLIMITED_QUOTAS,
    ...('dataFolder' in place ? { DATA_FOLDER: place.dataFolder } : { DATABASE_URL: connectionUrl(place) }),
  };
}
