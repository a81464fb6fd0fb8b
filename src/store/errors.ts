/** What went wrong at the database; each code has one way to mend it. */
export type StoreErrorCode =
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
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** The code of an error thrown by Node or by the database, if it has one. */
export function codeOf(error: unknown): string | undefined {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return undefined;
}

const network = new Set([
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
const passing = /^(08|57P0|57014|53[03]|25P03|25006)/;
const diskFull = /^(53100|ENOSPC)$/;
const denied = /^(28|42501|3D000)/;

/** Words of `pg` for a connection that broke or could not be had; it gives them no code. */
const broken =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable|timeout expired|Cannot use a pool after calling end/;

/**
 * The store's error for an outage, a full disk or a refusal of the database. Any other error (a broken
 * constraint, a mistake in SQL) is returned unchanged.
 */
export function asStoreError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const code = codeOf(error) ?? '';
  const options = { cause: error };
  if (diskFull.test(code)) {
    return new StoreError(
      'disk_full',
      'The disk of the database is full; free some room, work goes on by itself.',
      options,
    );
  }
  if (denied.test(code)) {
    return new StoreError(
      'denied',
      `The database refuses us (${error.message}); check the user, password, database and rights in DATABASE_URL.`,
      options,
    );
  }
  if (code === 'ERR_INVALID_URL' || error instanceof URIError) {
    return new StoreError(
      'denied',
      `DATABASE_URL is no address (${error.message}); write what is special in its password with %, / as %2F.`,
      options,
    );
  }
  if (network.has(code) || passing.test(code) || broken.test(error.message)) {
    return new StoreError(
      'unavailable',
      `The database is not available (${error.message}); work goes on by itself when it is back.`,
      options,
    );
  }
  return error;
}
