import type { AgentService } from '../agent/agent-service.ts';
import { serviceSettings, UNLIMITED_QUOTAS } from '../bot-settings.ts';
import { connectionUrl } from '../connection-url.ts';
import type { SlackWorkspace } from '../slack/slack-workspace.ts';
import type { DatabaseConnection } from './bot-database.ts';

/**
 * The environment of a bot in a chaos run: both services, and a shared database or a data folder of its own.
 * `delaySeconds`: the longest that the service takes for a call.
 */
export function chaosSettings(
  slack: SlackWorkspace,
  agent: AgentService,
  transport: 'http' | 'socket',
  database: DatabaseConnection | { dataFolder: string },
  delaySeconds = 0,
): Record<string, string> {
  return {
    ...serviceSettings(slack, agent, transport),
    ...UNLIMITED_QUOTAS,
    // A call that the service handles late must have had its effect before it is repeated.
    RESEND_SECONDS: String(Math.max(10, delaySeconds * 1.5)),
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_EDITS_PER_MINUTE: '400',
    ...('dataFolder' in database
      ? { DATA_FOLDER: database.dataFolder }
      : { DATABASE_URL: connectionUrl(database) }),
  };
}
