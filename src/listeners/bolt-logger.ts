import { type Logger as BoltLogger, LogLevel } from '@slack/bolt';
import type { Logger } from 'pino';

/** Passes Bolt's log lines on to ours. Drops debug lines, which contain people's messages. */
export function createBoltLogger(log: Logger): BoltLogger {
  const drop = () => undefined;
  return {
    debug: drop,
    info: (...parts) => log.debug({ parts: parts.map(String) }, 'bolt'),
    warn: (...parts) => log.warn({ parts: parts.map(String) }, 'bolt'),
    error: (...parts) => log.error({ parts: parts.map(String) }, 'bolt'),
    setLevel: drop,
    setName: drop,
    getLevel: () => LogLevel.INFO,
  };
}

/** The same with warnings and errors as debug lines, for clients whose failures we log ourselves. */
export function createQuietBoltLogger(log: Logger): BoltLogger {
  const quiet = (...parts: unknown[]) => log.debug({ parts: parts.map(String) }, 'bolt');
  return { ...createBoltLogger(log), warn: quiet, error: quiet };
}
