import type { Logger } from 'pino';
import type { Config } from '../../config.ts';

export interface CheckResult {
  what: string;
  ok: boolean;
  /** How it is; for a failure, what is wrong and what to do, with the name of the setting. */
  message: string;
}

export interface CheckTools {
  log: Logger;
  /** Our clock (ms since 1970). */
  now: () => number;
  /** Free bytes at a path, which need not exist. */
  freeBytes: (path: string) => Promise<number>;
  /** Whether to put right at Slack what can be. */
  mend: boolean;
}

/**
 * Checks one part of the configuration. Yields how the part is, or results about something else that it found. Throws
 * an error that says what is wrong and what to do; yields nothing if the part is not configured.
 */
export type Check = (config: Config, tools: CheckTools) => AsyncIterable<string | CheckResult>;

/** The failure of a check to which Slack does not answer. */
export function slackUnreachable(reason: string): Error {
  return new Error(`Could not reach SLACK_API_URL (${reason}). Check the network, the firewall and DNS.`);
}
