import { type DestinationStream, type Logger, pino } from 'pino';
import { Redaction } from './redaction.ts';

/** What errors of HTTP clients carry of their requests: whole bodies and headers, of no use in a log. */
const requestPaths = ['err.original.config', 'err.cause.original'];

/** Characters of a line: what an error carries may be of any length, and all of it is searched for secrets. */
const mostOfLine = 64 * 1024;
/** Characters that are shown of one that is longer; a secret that begins among them is looked for as a whole. */
const begins = 8_000;
const mostOfSecret = 2_000;

function cleaned(line: string, redaction: Redaction): string {
  if (line.length <= mostOfLine) return redaction.clean(line);
  const [, head = '{'] = /^(\{"level":\d+,"time":\d+,)/.exec(line) ?? [];
  const beginning = redaction.clean(line.slice(0, begins + mostOfSecret)).slice(0, begins);
  const rest = { app: 'taskthread', msg: 'a line was too long to be logged', length: line.length, beginning };
  return `${head}${JSON.stringify(rest).slice(1)}\n`;
}

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
    hooks: { streamWrite: (line: string) => cleaned(line, redaction) },
  };
  return destination === undefined ? pino(settings) : pino(settings, destination);
}
