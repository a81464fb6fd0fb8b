import type { Logger } from 'pino';
import { type Config, refusedSetting } from '../config.ts';
import { SlackAuthError } from '../slack/errors.ts';
import { identifyToken, type TokenIdentity } from '../slack/token-identity.ts';

/** Whose bot token the settings hold; undefined without one. Throws a ConfigError if Slack refuses it, or a SlackError. */
export async function identifyBot(
  { SLACK_BOT_TOKEN: token, SLACK_API_URL: slackApiUrl }: Config,
  log: Logger,
): Promise<TokenIdentity | undefined> {
  try {
    return token === undefined ? undefined : await identifyToken({ token, slackApiUrl, log });
  } catch (error) {
    if (!(error instanceof SlackAuthError)) throw error;
    throw refusedSetting('SLACK_BOT_TOKEN', `Slack says ${error.slackCode}`);
  }
}
