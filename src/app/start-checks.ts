import type { Logger } from 'pino';
import { toldIfLate } from '../calls/retries-and-waits.ts';
import { type Config, refusedSetting } from '../config/environment-and-secret-files.ts';
import { SlackAuthError } from '../slack/errors.ts';
import { identifyToken, type TokenIdentity } from '../slack/tokens.ts';

/** Until this long (ms) after the start, nothing is said about Slack's silence. */
const QUIET_MS = 5_000;

/** Whose bot token the settings hold, if any. Waits half a minute for Slack. Throws a ConfigError for a refused token, or a SlackError. */
export async function identifyBot(
  { SLACK_BOT_TOKEN: token, SLACK_API_URL: slackApiUrl }: Config,
  log: Logger,
  quietMs = QUIET_MS,
): Promise<TokenIdentity | undefined> {
  const say = () => log.warn({ slackApiUrl }, 'Slack has not confirmed SLACK_BOT_TOKEN yet; still trying');
  if (token === undefined) return undefined;
  try {
    return await toldIfLate(quietMs, identifyToken({ token, slackApiUrl, log }), say);
  } catch (error) {
    if (!(error instanceof SlackAuthError)) throw error;
    const why = error.isInstallationDead ? `Slack says ${error.slackCode}` : error.message;
    throw refusedSetting('SLACK_BOT_TOKEN', why);
  }
}
