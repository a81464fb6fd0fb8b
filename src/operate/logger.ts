import { LRUCache } from 'lru-cache';
import {
  type Bindings,
  type DestinationStream,
  type LogFn,
  type Logger,
  pino,
  stdSerializers,
  stdTimeFunctions,
} from 'pino';

/** Where errors of HTTP clients keep their requests, with whole bodies and headers, and PostgreSQL the values of a row. */
const REDACTED_PATHS = ['err.original.config', 'err.cause.original', 'err.detail', 'err.where'];

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
  const head = /^\{"level":[^,]+,"time":[^,]+,"app":"\w+"/.exec(line)?.[0] ?? '{"app":"taskthread"';
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

/** For this long (ms) after an error of a kind was logged with its stack, others of that kind are logged without. */
const STACK_PAUSE_MS = 600_000;
const MAX_KINDS = 1_000;

/** Leaves out the stacks of errors that were logged before from the same place: those of retries, for example. */
function withoutRepeatedStacks(args: Parameters<LogFn>, seen: LRUCache<string, true>): Parameters<LogFn> {
  const [fields, message, ...rest] = args;
  if (!isRecord(fields) || !(fields.err instanceof Error)) return args;
  const { err } = fields;
  const [, place = ''] = /\n\s+at (.*)/.exec(err.stack ?? '') ?? [];
  const codes = ['code', 'slackCode', 'status'].map((key) => String(Reflect.get(err, key)));
  const kind = [message, err.name, ...codes, place].join('\n');
  if (!seen.has(kind)) {
    seen.set(kind, true);
    return args;
  }
  const { stack: _, ...short } = stdSerializers.err(err);
  return [{ ...fields, err: short }, message, ...rest];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof Error);
}

/** What may wait for the log's reader (bytes); lines beyond it are dropped. */
const MAX_UNWRITTEN_BYTES = 1024 * 1024;

/**
 * Standard output, for a log that never holds the process up: while nobody reads it, or its disk is full, lines wait, and
 * those beyond 1 MiB are dropped and reported to `onDrop`.
 */
export function standardOutput(onDrop: () => void): DestinationStream {
  // Opened by Node, a pipe refuses what does not fit, and does not wait until it is read.
  const { fd } = process.stdout;
  // A write that is refused is repeated with the next line. pino's own listener would end the process.
  const stream = pino.destination({
    fd,
    sync: true,
    maxLength: MAX_UNWRITTEN_BYTES,
    retryEAGAIN: () => false,
  });
  stream.removeAllListeners('error').on('error', () => undefined);
  return stream.on('drop', onDrop);
}

/**
 * The app's log: JSON lines without secrets, by default on standard output. No line has the same key twice, and only the
 * first error of a kind has its stack.
 */
export function createLogger(options: {
  level: string;
  redaction?: Redactor;
  destination?: DestinationStream;
}): Logger {
  const { level, redaction = new Redactor(), destination } = options;
  const seenErrors = new LRUCache<string, true>({ max: MAX_KINDS, ttl: STACK_PAUSE_MS });
  const settings = {
    level,
    base: { app: 'taskthread' },
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: stdTimeFunctions.isoTime,
    // A line without its error's stack has that already in the form of the line.
    serializers: { err: (err: unknown) => (err instanceof Error ? stdSerializers.err(err) : err) },
    redact: { paths: REDACTED_PATHS, censor: '[left out]' },
    hooks: {
      logMethod(this: Logger, args: Parameters<LogFn>, method: LogFn) {
        method.apply(this, withoutRepeatedKeys(withoutRepeatedStacks(args, seenErrors), boundKeysOf(this)));
      },
      streamWrite: (line: string) => redactLine(line, redaction),
    },
  };
  return destination === undefined ? pino(settings) : pino(settings, destination);
}

const REDACTED = '[redacted]';

/** Shorter secrets (characters) are not redacted by value: that would hit ordinary words. */
const MIN_SECRET_LENGTH = 6;

/*
 * Each pattern takes linear time on any line, because lines contain untrusted text: none scans for its end from many
 * starting points.
 */

const SECRET_FIELD_NAME = String.raw`(?=[\w.-]*?(?:token|secret|passw(?:or)?d|api[_-]?key|authorization|cookie|signature))[\w.-]+`;

/** Fields named like secrets; a truncated line may end within one. */
const SECRET_FIELD = new RegExp(String.raw`("${SECRET_FIELD_NAME}"\s*:\s*)"(?:[^"\\]|\\.)*(?:"|\\?$)`, 'gi');

/** The same in JSON inside a string, where the quotes are escaped. */
const ESCAPED_SECRET_FIELD = new RegExp(
  String.raw`(\\"${SECRET_FIELD_NAME}\\"\s*:\s*)\\"(?:\\\\\\"|[^"\\]|\\[^"])*(?:\\"|\\*$)`,
  'gi',
);

/** Patterns that are secrets anywhere, and their replacements. */
const SECRET_PATTERNS: readonly (readonly [RegExp, string])[] = [
  [SECRET_FIELD, `$1"${REDACTED}"`],
  [ESCAPED_SECRET_FIELD, `$1\\"${REDACTED}\\"`],
  // Slack's tokens: xoxb-, xoxp-, xoxe.xoxb-1-, xoxe-1-, xapp-.
  [/\b(?:xox[a-z](?:[.-]xox[a-z])?|xapp|xwfp)-[\w%.~+/=-]{3,}/gi, REDACTED],
  // Authorization headers, with or without their name.
  [/\b(Bearer)(\s+|%20)[\w.~+/=-]{6,}/gi, `$1 ${REDACTED}`],
  [/\b(authorization\W{1,6}(?:Basic|Token|Digest))\s+[^\s"'\\,]+/gi, `$1 ${REDACTED}`],
  // Credentials in URLs, such as DATABASE_URL.
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s"'\\/@:]*:[^\s"'\\/]*@/gi, `$1${REDACTED}@`],
  // Slack's response URLs carry their secret in the path.
  [/(https?:\/\/hooks\.slack(?:-gov)?\.com\/)[^\s"'\\<>|]+/gi, `$1${REDACTED}`],
  // Signed links carry theirs in the query, which goes as a whole.
  [/(?<=https?:\/\/[^\s"'\\<>|?#]+)\?[^\s"'\\<>|]*/gi, `?${REDACTED}`],
  // A signed query, or a password setting, without its URL.
  [
    /\b((?:X-Amz-[\w-]{1,40}|X-Goog-[\w-]{1,40}|Signature|sig|password|api_?key|client_secret|access_token|refresh_token)=)[^\s"'\\&]+/gi,
    `$1${REDACTED}`,
  ],
];

/** Redacts secrets: known values, and anything in the form of a secret. */
export class Redactor {
  /** The encoded forms of each known secret. */
  readonly #secrets = new Set<readonly string[]>();

  constructor(secrets: Iterable<string> = []) {
    for (const secret of secrets) this.addSecret(secret);
  }

  /** Adds a secret, such as a workspace's own service key, until the returned function is called. */
  addSecret(secret: string): () => void {
    const forms = encodedForms(secret);
    this.#secrets.add(forms);
    return () => void this.#secrets.delete(forms);
  }

  /** The line without secrets; valid JSON stays valid. */
  redact(line: string): string {
    let cleaned = line;
    for (const forms of this.#secrets) for (const form of forms) cleaned = cleaned.replaceAll(form, REDACTED);
    for (const [pattern, replacement] of SECRET_PATTERNS) cleaned = cleaned.replace(pattern, replacement);
    return cleaned;
  }
}

/** A URL's password, decoded; unchanged if it contains a bare %. */
function safeDecode(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}

/** A secret as it is, in JSON, in JSON inside a string, and in a URL; and the password of a URL. */
function encodedForms(secret: string): string[] {
  if (secret.length < MIN_SECRET_LENGTH) return [];
  const escaped = JSON.stringify(secret).slice(1, -1);
  const twice = JSON.stringify(escaped).slice(1, -1);
  const password = URL.parse(secret)?.password ?? '';
  const inside = password.length < MIN_SECRET_LENGTH ? [] : encodedForms(safeDecode(password));
  return [...new Set([secret, escaped, twice, encodeURIComponent(secret), ...inside])];
}
