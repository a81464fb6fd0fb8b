import { ConfigError } from '../config.ts';

/** How Node says that a package is missing. */
const MISSING_PACKAGE = /^Cannot find package '([^']+)' imported from /;

/** A sentence for each failure that the error stands for, the first one first; `prefix` says what failed. */
export function describeErrors(error: unknown, prefix: string): string[] {
  return flattenSuppressedErrors(error).map((failure) => {
    const message = failure instanceof Error ? failure.message : String(failure);
    if (failure instanceof ConfigError || failure instanceof UsageError) return message;
    const missing = MISSING_PACKAGE.exec(message);
    return missing === null
      ? `${prefix}: ${message}`
      : `The package ${missing[1]} is not installed, as npm leaves out what only development needs if NODE_ENV is production: run "npm ci --include=dev".`;
  });
}

/** The failures that an error stands for, the first one first: closing what was open may have failed too. */
export function flattenSuppressedErrors(error: unknown): unknown[] {
  if (!(error instanceof SuppressedError)) return [error];
  return [...flattenSuppressedErrors(error.suppressed), ...flattenSuppressedErrors(error.error)];
}

/** The command line cannot be used; `message` shows the usage. */
export class UsageError extends Error {
  readonly code = 'bad_usage';

  constructor(usage: string, problem: string) {
    super(`${problem}\nUsage: ${usage}`);
    this.name = 'UsageError';
  }
}
