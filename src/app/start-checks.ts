import { createServer } from 'node:net';
import type { Logger } from 'pino';
import type { ProbeResult } from '../agent/account-probe.ts';
import { AgentError } from '../agent/errors.ts';
import { type Config, refusedSetting } from '../config.ts';
import type { ServiceAccounts } from '../relay/installations/service-accounts.ts';
import { SlackAuthError } from '../slack/errors.ts';
import { identifyToken, type TokenIdentity } from '../slack/tokens.ts';
import type { Lifecycle } from './lifecycle.ts';

/**
 * Tries the service's address and key once, when the app starts, and logs a warning if one of them does not work. No
 * message waits for it. A refused key is logged by its gate.
 */
export function serviceTrial(
  accounts: Pick<ServiceAccounts, 'probeDefault'>,
  onResult: (result: ProbeResult) => void,
  log: Logger,
): Lifecycle {
  const setting = 'AGENT_BASE_URL';
  const stopped = new AbortController();
  let trial = Promise.resolve();
  const run = async () => {
    try {
      const result = await accounts.probeDefault(stopped.signal);
      if (result !== undefined) onResult(result);
      if (result === 'no_service')
        log.warn({ setting }, 'AGENT_BASE_URL accepts even a wrong key, so it is not the agent service');
    } catch (error) {
      if (stopped.signal.aborted) return;
      const reason = error instanceof AgentError ? error.message : String(error);
      log.warn({ setting, reason }, 'AGENT_BASE_URL does not work at the start; messages wait until it does');
    }
  };
  return {
    start: () => {
      trial = run();
    },
    stop: async () => {
      stopped.abort();
      await trial;
    },
  };
}

/** Until this long (ms) after the start, nothing is said about Slack's silence. */
const QUIET_MS = 5_000;

/**
 * Whose bot token the settings hold; undefined without one. Waits for Slack for half a minute, and says so. Throws a
 * ConfigError if Slack refuses the token, or a SlackError.
 */
export async function identifyBot(
  { SLACK_BOT_TOKEN: token, SLACK_API_URL: slackApiUrl }: Config,
  log: Logger,
  quietMs = QUIET_MS,
): Promise<TokenIdentity | undefined> {
  const waiting = setTimeout(
    () => log.warn({ slackApiUrl }, 'Slack has not confirmed SLACK_BOT_TOKEN yet; still trying'),
    quietMs,
  );
  try {
    return token === undefined ? undefined : await identifyToken({ token, slackApiUrl, log });
  } catch (error) {
    if (!(error instanceof SlackAuthError)) throw error;
    throw refusedSetting('SLACK_BOT_TOKEN', `Slack says ${error.slackCode}`);
  } finally {
    clearTimeout(waiting);
  }
}

/** Fails at once where PORT cannot be opened, before a start waits for anything else. Throws a ConfigError. */
export async function requireFreePort({ PORT, HOST }: Pick<Config, 'PORT' | 'HOST'>): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(describePortError(error, { PORT, HOST })));
    server.listen(PORT, HOST, () => server.close(() => resolve()));
  });
}

/** The error for a port that cannot be opened, with the setting to change. */
export function describePortError(error: unknown, { PORT, HOST }: Pick<Config, 'PORT' | 'HOST'>): unknown {
  switch (error instanceof Error && 'code' in error && error.code) {
    case 'EADDRINUSE':
      return refusedSetting('PORT', `another program uses ${PORT}`);
    case 'EACCES':
      return refusedSetting('PORT', `this user may not open ${PORT}`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return refusedSetting('HOST', `${HOST} is not an address of this machine`);
    default:
      return error;
  }
}
