import { type DestinationStream, type Logger, pino } from 'pino';
import { Redaction } from './redaction.ts';

/** What errors of HTTP clients carry of their requests: whole bodies and headers, of no use in a log. */
const requestPaths = ['err.original.config', 'err.cause.original'];

/** The app's log: JSON lines, on standard output where no `destination` is given. Every line is cleaned of secrets. */
export function createLog(options: {
  level: string;
  redaction?: Redaction;
  destination?: DestinationStream;
}): Logger {
  const { level, redaction = new Redaction(), destination } = options;
  const settings = {
    level,
    base: { app: 'taskthread' },
    redact: { paths: requestPaths, censor: '[left out]' },
    hooks: { streamWrite: (line: string) => redaction.clean(line) },
  };
  return destination === undefined ? pino(settings) : pino(settings, destination);
}
