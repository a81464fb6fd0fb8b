import { LogLevel, type Logger as SlackLogger } from '@slack/web-api';
import type { Logger } from 'pino';

/** Passes the log lines of Slack's packages on to ours. Drops debug lines, which contain people's messages. */
export function createSlackLogger(log: Logger): SlackLogger {
  const drop = () => undefined;
  return {
    debug: drop,
    info: (...parts) => log.debug({ parts: parts.map(String) }, 'Slack package'),
    warn: (...parts) => log.warn({ parts: parts.map(String) }, 'Slack package'),
    error: (...parts) => log.error({ parts: parts.map(String) }, 'Slack package'),
    setLevel: drop,
    setName: drop,
    getLevel: () => LogLevel.INFO,
  };
}

/** The same with warnings and errors as debug lines, for clients whose failures we log ourselves. */
export function createQuietSlackLogger(log: Logger): SlackLogger {
  const quiet = (...parts: unknown[]) => log.debug({ parts: parts.map(String) }, 'Slack package');
  return { ...createSlackLogger(log), warn: quiet, error: quiet };
}
