/** What went wrong at the database; each code has one way to mend it. */
export type DatabaseErrorCode =
  /** Another process owns the embedded server's folder. */
  | 'already_running'
  /** No embedded server exists for this machine, or its package is not installed. */
  | 'unsupported_platform'
  /** A folder cannot be used: its rights, its owner or what is in it. */
  | 'folder_unusable'
  /** The data was written by another major version of PostgreSQL. */
  | 'other_version'
  /** The embedded server did not start, or ended by itself. */
  | 'server_failed'
  /** The database cannot be reached or refuses work for now. */
  | 'unavailable'
  /** The database's disk is full. */
  | 'disk_full'
  /** The database refuses our user, password or rights, or its address is none. */
  | 'denied'
  /** A migration failed, or the database is newer than this program. */
  | 'migration_failed';

/** An error of the store; the message says how to mend it. */
export class DatabaseError extends Error {
  override readonly name = 'StoreError';
  readonly code: DatabaseErrorCode;

  constructor(code: DatabaseErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** The code of an error thrown by Node or by the database, if it has one. */
export function errorCode(error: unknown): string | undefined {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return undefined;
}

const NETWORK_ERROR_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** SQLSTATEs and classes: https://www.postgresql.org/docs/18/errcodes-appendix.html */
const TRANSIENT_SQLSTATES = /^(08|57P0|57014|53[03]|25P03|25006)/;
const DISK_FULL_CODES = /^(53100|ENOSPC)$/;
const ACCESS_DENIED_SQLSTATES = /^(28|42501|3D000)/;

/** Words of `pg` for a connection that broke or could not be had; it gives them no code. */
const BROKEN_CONNECTION_MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable|timeout expired|Cannot use a pool after calling end/;

/**
 * The store's error for an outage, a full disk or a refusal of the database. Any other error (a broken
 * constraint, a mistake in SQL) is returned unchanged.
 */
export function toDatabaseError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DatabaseError) return error;
  const code = errorCode(error) ?? '';
  const options = { cause: error };
  if (DISK_FULL_CODES.test(code)) {
    return new DatabaseError(
      'disk_full',
      'The disk of the database is full; free some room, work goes on by itself.',
      options,
    );
  }
  if (ACCESS_DENIED_SQLSTATES.test(code)) {
    return new DatabaseError(
      'denied',
      `The database refuses us (${error.message}); check the user, password, database and rights in DATABASE_URL.`,
      options,
    );
  }
  if (code === 'ERR_INVALID_URL' || error instanceof URIError) {
    return new DatabaseError(
      'denied',
      `DATABASE_URL is no address (${error.message}); write what is special in its password with %, / as %2F.`,
      options,
    );
  }
  if (
    NETWORK_ERROR_CODES.has(code) ||
    TRANSIENT_SQLSTATES.test(code) ||
    BROKEN_CONNECTION_MESSAGES.test(error.message)
  ) {
    return new DatabaseError(
      'unavailable',
      `The database is not available (${error.message}); work goes on by itself when it is back.`,
      options,
    );
  }
  return error;
}
