/** Why the embedded server cannot be used; each code has one remedy. */
export type EmbeddedServerErrorCode =
  /** Another process owns the folder. */
  | 'already_running'
  /** No embedded server exists for this machine, or its package is not installed. */
  | 'unsupported_platform'
  /** A folder cannot be used: its permissions, its owner or its content. */
  | 'folder_unusable'
  /** The data was written by another major version of PostgreSQL. */
  | 'other_version'
  /** The server did not start, or ended by itself. */
  | 'server_failed';

/** An error of the embedded server; the message says how to fix it. */
export class EmbeddedServerError extends Error {
  override readonly name = 'EmbeddedServerError';
  readonly code: EmbeddedServerErrorCode;

  constructor(code: EmbeddedServerErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** The message of an error, or what was thrown instead of one. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of an error thrown by Node or by the database, if it has one. */
export function errorCode(error: unknown): string | undefined {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return undefined;
}

/** For `catch`: the value that stands for an error with one of these codes. Throws any other error. */
export function valueForCodes<T>(value: T, ...codes: readonly string[]): (error: unknown) => T {
  return (error) => {
    if (codes.includes(errorCode(error) ?? '')) return value;
    throw error;
  };
}
