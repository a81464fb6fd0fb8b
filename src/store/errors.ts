import pg from 'pg';
import { errorCode, errorMessage } from '../postgres/errors.ts';

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

/** What a server that accepts no writes answers: https://www.postgresql.org/docs/18/errcodes-appendix.html */
export const READ_ONLY_SQLSTATE = '25006';

/** What to do where a server accepts no writes. */
export const READ_ONLY_SENTENCE =
  'The database is read-only: it is a standby, or default_transaction_read_only is on for it or our user.';

/** SQLSTATEs and classes, from the same list. */
const TRANSIENT_SQLSTATES = /^(08|40|57P0|58|53[03])/;
/** A statement took longer than a limit, or waited longer for a lock. */
const TIMEOUT_SQLSTATES = /^(57014|55P03|25P0[34])/;
const ACCESS_DENIED_SQLSTATES = /^(28|42501|3D000)/;
const DISK_FULL_CODES = /^(53100|ENOSPC)$/;

/** Whether a statement gave way to another transaction: it waited too long for a lock, or each waited for the other. */
export function isLockConflict(error: unknown): boolean {
  return error instanceof StoreError && /^(55P03|40P01)$/.test(errorCode(error.cause) ?? '');
}

/** Whether the server lacks room on its disk. */
export function isDiskFull(error: unknown): boolean {
  return DISK_FULL_CODES.test(errorCode(error) ?? '');
}

/** Whether a server, its limit for our role, or a pooler, in its own words, gives no more connections. */
export function isConnectionLimit(error: unknown): boolean {
  return errorCode(error) === '53300' || /max_\w*client_conn|max client/i.test(errorMessage(error));
}

/** Of Node and OpenSSL, of `pg` for a server without TLS, and for a file of a certificate that is not there or not ours to read. */
const TLS_FAILURES =
  /CERT|ERR_TLS|ERR_SSL|UNABLE_TO_|not support SSL|establishing an SSL|(?:ENOENT|EACCES).*, open '/;

/** A pooler refuses settings that come with a new connection, or has prepared a statement on another one. */
const SIGN_OF_POOLER = /unsupported startup parameter|^(26000|42P05) /;

/**
 * Maps what the server says of an outage, a full disk or missing permissions to a StoreError. Returns any other error (a
 * violated constraint, a mistake in SQL) unchanged.
 */
export function toStoreError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const code = errorCode(error) ?? '';
  const reason = error.message;
  const storeError = (kind: StoreErrorCode, message: string) =>
    new StoreError(kind, message, { cause: error });
  if (SIGN_OF_POOLER.test(`${code} ${reason}`))
    return storeError(
      'denied',
      `DATABASE_URL leads to a pooler (${reason}): set DATABASE_DIRECT_URL to the address of the PostgreSQL server itself.`,
    );
  if (isDiskFull(error)) return storeError('disk_full', 'The disk of the database is full: free some space.');
  if (ACCESS_DENIED_SQLSTATES.test(code))
    return storeError(
      'denied',
      `The database denied access (${reason}): check the user, password, database and permissions, or whether it wants TLS (sslmode).`,
    );
  if (code === READ_ONLY_SQLSTATE) return storeError('unavailable', READ_ONLY_SENTENCE);
  if (TIMEOUT_SQLSTATES.test(code))
    return storeError(
      'unavailable',
      `The database is slow, or its time-outs for our user are too short (${reason}): check both.`,
    );
  if (TRANSIENT_SQLSTATES.test(code) || isOutdatedPlan(error)) return outage(error);
  return error;
}

/** The StoreError for a connection that cannot be opened or has broken: whatever the reason, work waits for the database. */
export function connectionError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const reason = errorMessage(error);
  const code = errorCode(error) ?? '';
  const denied = (message: string) => new StoreError('denied', message, { cause: error });
  if (TLS_FAILURES.test(`${code} ${reason}`))
    return denied(
      `No TLS connection to the database (${reason}): check sslmode in DATABASE_URL, and name its CA file in sslrootcert.`,
    );
  if (code === 'ERR_INVALID_URL' || error instanceof URIError)
    return denied(
      `DATABASE_URL is not a valid address (${reason}): percent-encode special characters in its password, for example / as %2F.`,
    );
  if (/^SASL: .*password/.test(reason))
    return denied(`The database asks for a password (${reason}): name it in the database's address.`);
  const known = toStoreError(error);
  return known instanceof StoreError ? known : outage(error);
}

function outage(cause: unknown): StoreError {
  const reason = errorMessage(cause);
  const message = isConnectionLimit(cause)
    ? `The database gives no more connections (${reason}): raise that limit, or lower DATABASE_CONNECTIONS of each process.`
    : `The database is unavailable (${reason}): check that it runs and accepts connections.`;
  return new StoreError('unavailable', message, { cause });
}

/** Whether a prepared statement's table has changed since; the message is in the server's language. */
export function isOutdatedPlan(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError && error.code === '0A000' && error.routine === 'RevalidateCachedQuery'
  );
}
