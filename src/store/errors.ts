import { errorCode } from '../postgres/errors.ts';

/** What went wrong at the database; each code has one remedy. */
export type StoreErrorCode =
  /** The database cannot be reached or accepts no work for now. */
  | 'unavailable'
  /** The database's disk is full. */
  | 'disk_full'
  /** The database rejects our user, password or permissions, or its address is invalid. */
  | 'denied'
  /** A migration failed, or another release made the tables. */
  | 'migration_failed';

/** An error of the store; the message says how to fix it. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
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
const TRANSIENT_SQLSTATES = /^(08|40|57P0|57014|58|53[03]|25P03|25006)/;
const DISK_FULL_CODES = /^(53100|ENOSPC)$/;
const ACCESS_DENIED_SQLSTATES = /^(28|42501|3D000)/;

/** What PostgreSQL says of a prepared statement whose table has changed since. */
export const OUTDATED_PLAN_MESSAGE = /cached plan must not change result type/;

/** Of Node and OpenSSL, and of `pg` for a server without TLS. */
const TLS_FAILURES = /CERT|ERR_TLS|ERR_SSL|UNABLE_TO_|not support SSL|establishing an SSL/;

/** What pgbouncer says of settings that come with a new connection. */
const REFUSED_BY_POOLER = /unsupported startup parameter/;

/** What `pg` says of a connection that broke or could not be opened; these errors have no code. */
const BROKEN_CONNECTION_MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable|timeout expired|Query read timeout|Cannot use a pool after calling end/;

/**
 * Maps an outage, a full disk or a refusal of the database to a StoreError. Returns any other error (a violated
 * constraint, a mistake in SQL) unchanged.
 */
export function toStoreError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const code = errorCode(error) ?? '';
  const reason = error.message;
  const storeError = (kind: StoreErrorCode, message: string) =>
    new StoreError(kind, message, { cause: error });
  if (DISK_FULL_CODES.test(code))
    return storeError('disk_full', 'The disk of the database is full: free some space.');
  if (ACCESS_DENIED_SQLSTATES.test(code))
    return storeError(
      'denied',
      `The database denied access (${reason}): check the user, password, database and permissions in DATABASE_URL.`,
    );
  if (REFUSED_BY_POOLER.test(reason))
    return storeError(
      'denied',
      `DATABASE_URL leads to a pooler (${reason}): set DATABASE_DIRECT_URL to the address of the PostgreSQL server itself.`,
    );
  if (TLS_FAILURES.test(`${code} ${reason}`))
    return storeError(
      'denied',
      `No TLS connection to the database (${reason}): check sslmode in DATABASE_URL, and name its CA file in sslrootcert.`,
    );
  if (code === 'ERR_INVALID_URL' || error instanceof URIError)
    return storeError(
      'denied',
      `DATABASE_URL is not a valid address (${reason}): percent-encode special characters in its password, for example / as %2F.`,
    );
  if (
    NETWORK_ERROR_CODES.has(code) ||
    TRANSIENT_SQLSTATES.test(code) ||
    BROKEN_CONNECTION_MESSAGES.test(reason) ||
    OUTDATED_PLAN_MESSAGE.test(reason)
  )
    return storeError(
      'unavailable',
      `The database is unavailable (${reason}): check that it runs and accepts connections.`,
    );
  return error;
}

/** The result of `work`; its errors become StoreErrors where `toStoreError` knows them. */
export async function withStoreErrors<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    throw toStoreError(error);
  }
}
