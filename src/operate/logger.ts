import { type Bindings, type DestinationStream, type LogFn, type Logger, pino } from 'pino';
import { Redactor } from './redaction.ts';

/** Where errors of HTTP clients keep their requests, with whole bodies and headers. */
const REDACTED_PATHS = ['err.original.config', 'err.cause.original'];

/** Longest line (characters): an error may be of any length, and all of it is searched for secrets. */
const MAX_LINE_LENGTH = 64 * 1024;
/** What is kept of a longer line (characters): its beginning, and its end with the message. */
const MAX_HEAD_LENGTH = 10_000;
const MAX_MESSAGE_LENGTH = 4_000;
/** Longer than any secret (characters). This much before the cut is dropped, because half a secret goes unrecognized. */
const MAX_SECRET_LENGTH = 2_000;

/** The line without secrets, and of bounded length; still JSON. */
function redactLine(line: string, redaction: Redactor): string {
  if (line.length <= MAX_LINE_LENGTH) return redaction.redact(line);
  const head = /^\{"level":\d+,"time":\d+,"app":"\w+"/.exec(line)?.[0] ?? '{"app":"taskthread"';
  const beginning = redaction.redact(line.slice(0, MAX_HEAD_LENGTH)).slice(0, -MAX_SECRET_LENGTH);
  const message = /,"msg":"(?:[^"\\]|\\.)*"(?=\}\n$)/.exec(line.slice(-MAX_MESSAGE_LENGTH))?.[0] ?? '';
  const cut = JSON.stringify({ cut: true, length: line.length, beginning }).slice(1, -1);
  return `${head},${cut}${redaction.redact(message)}}\n`;
}

/** Every key that a logger writes by itself, with its value; a child logger adds its own. */
const boundKeys = new WeakMap<Logger, Bindings>();

function boundKeysOf(log: Logger): Bindings {
  const known = boundKeys.get(log) ?? { level: undefined, time: undefined, ...log.bindings() };
  boundKeys.set(log, known);
  return known;
}

/** Drops fields that the logger writes by itself; those with a different value move to the field `line`. */
function withoutRepeatedKeys(args: Parameters<LogFn>, bound: Bindings): Parameters<LogFn> {
  const [fields, ...rest] = args;
  if (!isRecord(fields) || !Object.keys(fields).some((key) => Object.hasOwn(bound, key))) return args;
  const entries = Object.entries(fields);
  const differing = entries.filter(([key, value]) => Object.hasOwn(bound, key) && bound[key] !== value);
  const own = Object.fromEntries(entries.filter(([key]) => !Object.hasOwn(bound, key)));
  return [differing.length === 0 ? own : { ...own, line: Object.fromEntries(differing) }, ...rest];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof Error);
}

/** The app's log: JSON lines without secrets, by default on standard output. No line has the same key twice. */
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
    hooks: {
      logMethod(this: Logger, args: Parameters<LogFn>, method: LogFn) {
        method.apply(this, withoutRepeatedKeys(args, boundKeysOf(this)));
      },
      streamWrite: (line: string) => redactLine(line, redaction),
    },
  };
  return destination === undefined ? pino(settings) : pino(settings, destination);
}
