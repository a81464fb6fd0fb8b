import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { DATABASE_NAME, type ServerConnection } from './data-folder.ts';
import { EmbeddedServerError, errorCode } from './errors.ts';

/** The advisory lock that the owner of an embedded server holds for as long as it runs. */
const OWNER_LOCK_ID = 7_461_736_405;
const RETAKE_TIMEOUT_MS = 20_000;

/** The connection to the server with this socket. */
export function connectionTo(host: string, password: string): ServerConnection {
  return { host, port: 5432, user: DATABASE_NAME, password, database: DATABASE_NAME };
}

function createClient(server: ServerConnection): pg.Client {
  return new pg.Client({
    ...server,
    database: 'postgres',
    application_name: 'taskthread owner',
    connectionTimeoutMillis: 5_000,
    query_timeout: 5_000,
  });
}

async function tryLock(connection: pg.Client): Promise<boolean> {
  const { rows } = await connection.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
    OWNER_LOCK_ID,
  ]);
  return rows[0]?.taken === true;
}

/** Whether a process holds the owner's lock; undefined if the server does not answer. Does not lock. */
export async function hasOwner(server: ServerConnection): Promise<boolean | undefined> {
  if (server.host === '') return undefined;
  const connection = createClient(server);
  connection.on('error', () => undefined);
  try {
    await connection.connect();
    const { rowCount } = await connection.query(
      `select from pg_locks where locktype = 'advisory' and granted and objsubid = 1
        and (classid::bigint << 32 | objid::bigint) = $1`,
      [OWNER_LOCK_ID],
    );
    return (rowCount ?? 0) > 0;
  } catch {
    return undefined;
  } finally {
    await connection.end().catch(() => undefined);
  }
}

/**
 * Takes the lock of a server before it is stopped, so that a slow owner cannot take it. Returns 'ours', 'owned' (by
 * another process), or undefined if the server does not answer. The lock ends with the server.
 */
export async function seizeLock(server: ServerConnection): Promise<'ours' | 'owned' | undefined> {
  if (server.host === '') return undefined;
  const connection = createClient(server);
  connection.on('error', () => undefined);
  const isTaken = await connection
    .connect()
    .then(() => tryLock(connection))
    .catch(() => undefined);
  if (isTaken === true) return 'ours';
  await connection.end().catch(() => undefined);
  return isTaken === false ? 'owned' : undefined;
}

/** Holds the owner's lock; takes it again after the server restarted because one of its processes crashed. */
export class OwnerLock {
  /** Resolves when the lock is lost permanently. */
  readonly lost: Promise<EmbeddedServerError>;
  readonly #server: ServerConnection;
  readonly #log: Logger;
  #connection: pg.Client | undefined;
  #released = false;
  readonly #lost = Promise.withResolvers<EmbeddedServerError>();

  constructor(server: ServerConnection, log: Logger) {
    this.#server = server;
    this.#log = log;
    this.lost = this.#lost.promise;
  }

  /** Takes the lock, and creates our database if needed; false if another process has the lock. */
  async acquire(): Promise<boolean> {
    const connection = createClient(this.#server);
    connection.on('error', (error) => this.#onEnd(connection, error));
    connection.on('end', () => this.#onEnd(connection, undefined));
    try {
      await connection.connect();
      if (!(await tryLock(connection))) {
        await connection.end();
        return false;
      }
      const known = await connection.query('select from pg_database where datname = $1', [DATABASE_NAME]);
      if (known.rowCount === 0) await connection.query(`create database ${DATABASE_NAME}`);
      this.#connection = connection;
      return true;
    } catch (error) {
      await connection.end().catch(() => undefined);
      throw error;
    }
  }

  async release(): Promise<void> {
    this.#released = true;
    await this.#connection?.end().catch(() => undefined);
  }

  #onEnd(connection: pg.Client, error: Error | undefined): void {
    if (this.#released || this.#connection !== connection) return;
    this.#connection = undefined;
    this.#log.warn({ err: error }, "the connection that holds the owner's lock broke; reconnecting");
    void this.#reacquire();
  }

  async #reacquire(): Promise<void> {
    const deadline = performance.now() + RETAKE_TIMEOUT_MS;
    let cause: unknown;
    while (!this.#released && performance.now() < deadline) {
      await sleep(100);
      try {
        if (await this.acquire()) return;
        break;
      } catch (error) {
        cause = errorCode(error) ?? error;
      }
    }
    if (this.#released) return;
    this.#lost.resolve(
      new EmbeddedServerError('server_failed', 'The embedded database server is lost: start again.', {
        cause,
      }),
    );
  }
}
