import { type DestinationStream, type Logger, pino } from 'pino';
import { Redactor } from './redaction.ts';

/** What errors of HTTP clients carry of their requests: whole bodies and headers, of no use in a log. */
const REDACTED_PATHS = ['err.original.config', 'err.cause.original'];

/** Characters of a line: what an error carries may be of any length, and all of it is searched for secrets. */
const MAX_LINE_LENGTH = 64 * 1024;
/** Characters that are read of the beginning of one that is longer, and of its end, where its message stands. */
const MAX_HEAD_LENGTH = 10_000;
const MAX_MESSAGE_LENGTH = 4_000;
/** Longer than any secret: so much is left out before the cut, where half a secret would not be known for one. */
const MAX_SECRET_LENGTH = 2_000;

/** A line of JSON without secrets and of bounded length. */
function redactLine(line: string, redaction: Redactor): string {
  if (line.length <= MAX_LINE_LENGTH) return redaction.redact(line);
  const head = /^\{"level":\d+,"time":\d+,"app":"\w+"/.exec(line)?.[0] ?? '{"app":"taskthread"';
  const beginning = redaction.redact(line.slice(0, MAX_HEAD_LENGTH)).slice(0, -MAX_SECRET_LENGTH);
  const message = /,"msg":"(?:[^"\\]|\\.)*"(?=\}\n$)/.exec(line.slice(-MAX_MESSAGE_LENGTH))?.[0] ?? '';
  const cut = JSON.stringify({ cut: true, length: line.length, beginning }).slice(1, -1);
  return `${head},${cut}${redaction.redact(message)}}\n`;
}

/** The app's log: JSON lines, on standard output where no `destination` is given. Every line is cleaned of secrets. */
export function createLogger(options: {
  level: string;
  redaction?: Redactor;
  destination?: DestinationStream;
}): Logger {
  const { level, redaction = new Redactor(), destination } = options;
  const settings = {
    level,
    base: { app: 'taskthread' },
    redact: { paths: REDACTED_PATHS, censor: '[left out]' },
    hooks: { streamWrite: (line: string) => redactLine(line, redaction) },
  };
  return destination === undefined ? pino(settings) : pino(settings, destination);
}
