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
export class ServiceTrial implements Lifecycle {
  readonly #accounts: Pick<ServiceAccounts, 'probeDefault'>;
  readonly #onResult: (result: ProbeResult) => void;
  readonly #log: Logger;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(
    accounts: Pick<ServiceAccounts, 'probeDefault'>,
    onResult: (result: ProbeResult) => void,
    log: Logger,
  ) {
    this.#accounts = accounts;
    this.#onResult = onResult;
    this.#log = log;
  }

  start(): void {
    this.#running = this.#try();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #try(): Promise<void> {
    const setting = 'AGENT_BASE_URL';
    try {
      const result = await this.#accounts.probeDefault(this.#stop.signal);
      if (result !== undefined) this.#onResult(result);
      if (result === 'no_service')
        this.#log.warn(
          { setting },
          'AGENT_BASE_URL accepts even a wrong key, so it is not the agent service',
        );
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const reason = error instanceof AgentError ? error.message : String(error);
      this.#log.warn(
        { setting, reason },
        'AGENT_BASE_URL does not work at the start; messages wait until it does',
      );
    }
  }
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
