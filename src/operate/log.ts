import { type Logger, pino } from 'pino';

/** Where secrets may stand in what is logged; pino writes [redacted] in their place. */
const secretPaths = [
  'token',
  'apiKey',
  'authorization',
  'password',
  'signingSecret',
  'downloadUrl',
  'url',
  '*.token',
  '*.apiKey',
  '*.authorization',
  '*.password',
  '*.signingSecret',
  '*.downloadUrl',
  'headers.authorization',
  '*.headers.authorization',
  'err.original.config',
  'err.cause.original',
];

/** The app's log: JSON lines on standard output, secrets redacted. */
export function createLog(options: { level: string }): Logger {
  return pino({
    level: options.level,
    base: { app: 'taskthread' },
    redact: { paths: secretPaths, censor: '[redacted]' },
  });
}
