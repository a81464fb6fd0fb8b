import { type Logger as BoltLogger, LogLevel } from '@slack/bolt';
import type { Logger } from 'pino';

/** Bolt's log as lines of ours. Its debug lines carry people's words and are dropped. */
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

/** The same where what Bolt finds wrong is told elsewhere, better. */
export function createQuietBoltLogger(log: Logger): BoltLogger {
  const quiet = (...parts: unknown[]) => log.debug({ parts: parts.map(String) }, 'bolt');
  return { ...createBoltLogger(log), warn: quiet, error: quiet };
}
