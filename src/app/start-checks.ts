import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Logger } from 'pino';
import { toldIfLate } from '../calls/retries-and-waits.ts';
import { type Config, refusedSetting } from '../config.ts';
import { listenOn } from '../operate/http-server.ts';
import { errorCode } from '../postgres/errors.ts';
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

/** Fails at once where PORT cannot be opened, before a start waits for anything else. Throws a ConfigError. */
export async function requireFreePort(config: Pick<Config, 'PORT' | 'HOST'>): Promise<void> {
  const server = listenOn(createServer(), config.PORT, config.HOST);
  await once(server, 'listening').catch((error: unknown) => {
    throw describePortError(error, config);
  });
  await once(server.close(), 'close');
}

/** The error for a port that cannot be opened, with the setting to change. */
export function describePortError(error: unknown, { PORT, HOST }: Pick<Config, 'PORT' | 'HOST'>): unknown {
  switch (errorCode(error)) {
    case 'EADDRINUSE':
      return refusedSetting('PORT', `another program uses ${PORT}`);
    case 'EACCES':
      return refusedSetting('PORT', `this user may not open ${PORT}`);
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'EINVAL':
    case 'ENOTFOUND':
      return refusedSetting('HOST', `${HOST} is not an address of this machine`);
    default:
      return error;
  }
}
