import { ConfigError } from '../config.ts';

/** A sentence for each failure that the error stands for, the first one first; `prefix` says what failed. */
export function describeErrors(error: unknown, prefix: string): string[] {
  return flattenSuppressedErrors(error).map((failure) =>
    failure instanceof ConfigError || failure instanceof UsageError
      ? failure.message
      : `${prefix}: ${failure instanceof Error ? failure.message : String(failure)}`,
  );
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
