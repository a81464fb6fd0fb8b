import { type DestinationStream, type Logger, pino } from 'pino';
import { Redaction } from './redaction.ts';

/** What errors of HTTP clients carry of their requests: whole bodies and headers, of no use in a log. */
const requestPaths = ['err.original.config', 'err.cause.original'];

/** Characters of a line: what an error carries may be of any length, and all of it is searched for secrets. */
const mostOfLine = 64 * 1024;
/** Characters that are read of the beginning of one that is longer, and of its end, where its message stands. */
const mostOfBeginning = 10_000;
const mostOfMessage = 4_000;
/** Longer than any secret: so much is left out before the cut, where half a secret would not be known for one. */
const mostOfSecret = 2_000;

/** A line of JSON without secrets and of bounded length. */
function cleaned(line: string, redaction: Redaction): string {
  if (line.length <= mostOfLine) return redaction.clean(line);
  const head = /^\{"level":\d+,"time":\d+,"app":"\w+"/.exec(line)?.[0] ?? '{"app":"taskthread"';
  const beginning = redaction.clean(line.slice(0, mostOfBeginning)).slice(0, -mostOfSecret);
  const message = /,"msg":"(?:[^"\\]|\\.)*"(?=\}\n$)/.exec(line.slice(-mostOfMessage))?.[0] ?? '';
  const cut = JSON.stringify({ cut: true, length: line.length, beginning }).slice(1, -1);
  return `${head},${cut}${redaction.clean(message)}}\n`;
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
