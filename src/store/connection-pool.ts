import { createHash } from 'node:crypto';
import type { PostgresCursor, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import { LRUCache } from 'lru-cache';
import pg from 'pg';
import type { Logger } from 'pino';
import {
  answerInTime,
  CONNECT_TIMEOUT,
  type DatabaseAddresses,
  databaseClientClass,
  isConnectionLost,
  isConnectionUseless,
} from './database-client.ts';
import { connectionError, isConnectionLimit, isDiskFull, isOutdatedPlan, toStoreError } from './errors.ts';

/** The server ends a statement this long (ms) before we would drop its connection, where it still can. */
const SERVER_HEAD_START_MS = 500;
/** How long a pool makes do with the connections that it has (ms), once it was refused another one. */
const MAKE_DO_MS = 60_000;
/** The server ends transactions that idle this long (ms): a process that vanished must not keep its locks. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 8_000;

export interface ConnectionPoolOptions {
  /** For the server's list of connections. */
  name: string;
  maxConnections: number;
  /**
   * How long a statement may take, and the wait for a connection (ms). A connection on which a statement takes longer is
   * destroyed. Without it, nothing ends a statement.
   */
  timeoutMs?: number | undefined;
  /**
   * Where it connects to. A pooler takes no settings with a new connection, and keeps no prepared statements, because it
   * gives each transaction another one.
   */
  addresses: DatabaseAddresses;
  /** Called when a connection that stands proves useless: the others may be, too. */
  onUseless?: () => void;
  /** Called when a statement fails because the server's disk is full. */
  onDiskFull?: () => void;
  log: Logger;
}

/** A pool whose connections are replaced when the server behind them is gone, or accepts no more writes. */
export class ConnectionPool {
  readonly options: ConnectionPoolOptions;
  readonly #pool: pg.Pool;

  constructor(options: ConnectionPoolOptions) {
    this.options = options;
    const { name, maxConnections, timeoutMs, addresses, log } = options;
    this.#pool = new pg.Pool({
      Client: databaseClientClass(addresses),
      application_name: name,
      max: maxConnections,
      // One stays open: a new one takes five round trips, and an acknowledgement has three seconds.
      min: 1,
      // The others outlast a pause: a new one also plans each statement anew.
      idleTimeoutMillis: 60_000,
      // Whoever asked for one has been answered by then (`answerInTime`), and must not stay in the pool's queue.
      ...(timeoutMs !== undefined && { connectionTimeoutMillis: 2 * timeoutMs }),
      ...(timeoutMs !== undefined &&
        !addresses.isPooled && {
          statement_timeout: timeoutMs - SERVER_HEAD_START_MS,
          idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
        }),
    });
    // The pool replaces an idle connection that breaks; on one in use, the statement fails.
    this.#pool.on('error', (error) =>
      log.warn({ reason: error.message, pool: name }, 'an idle database connection broke'),
    );
  }

  /** Takes a connection out of the pool. Throws a StoreError. */
  async connect(): Promise<PooledConnection> {
    // An invalid address is thrown at once.
    const taken = (async () => this.#take())();
    try {
      const client = await answerInTime(this.options.timeoutMs, taken, CONNECT_TIMEOUT);
      return new PooledConnection(client, this.options);
    } catch (error) {
      // One that comes too late serves others.
      taken.then((client) => client.release()).catch(() => undefined);
      throw connectionError(error);
    }
  }

  /** Takes a connection; where the server or a pooler gives no more of them, one of those that there are. */
  async #take(): Promise<pg.PoolClient> {
    const { name: pool, maxConnections, log } = this.options;
    for (let left = maxConnections; ; left -= 1) {
      try {
        return await this.#pool.connect();
      } catch (error) {
        const { options, totalCount } = this.#pool;
        if (!isConnectionLimit(error) || totalCount === 0 || left === 0) throw error;
        if (options.max === maxConnections)
          log.warn({ err: connectionError(error), pool }, 'no more connections for now');
        options.max = Math.max(1, options.max - 1);
        setTimeout(() => Object.assign(options, { max: maxConnections }), MAKE_DO_MS).unref();
      }
    }
  }

  /** Runs one statement, or several without values in one text. Throws a StoreError in an outage. */
  async query<Row extends pg.QueryResultRow>(
    text: string,
    values: readonly unknown[] = [],
  ): Promise<pg.QueryResult<Row>> {
    const connection = await this.connect();
    try {
      return await connection.run<Row>(text, values);
    } finally {
      connection.release();
    }
  }

  /** Closes the connections that nobody uses. */
  dropIdle(): void {
    const idle = Array.from({ length: this.#pool.idleCount }, () => this.#pool.connect());
    for (const client of idle) client.then((taken) => taken.release(true)).catch(() => undefined);
  }

  async end(): Promise<void> {
    await this.#pool.end();
  }
}

/** A connection for Kysely, which would put it back into the pool after any error. */
class PooledConnection implements PostgresPoolClient {
  readonly #client: pg.PoolClient;
  readonly #options: ConnectionPoolOptions;
  #isUseless = false;

  constructor(client: pg.PoolClient, options: ConnectionPoolOptions) {
    this.#client = client;
    this.#options = options;
  }

  query<Row>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>;
  query(text: unknown, values: readonly unknown[] = []): unknown {
    if (typeof text !== 'string') throw new Error('There are no cursors.');
    return this.run(text, values);
  }

  /** Runs a statement, prepared unless a pooler would lose it. Throws a StoreError in an outage. */
  async run<Row extends pg.QueryResultRow>(
    text: string,
    values: readonly unknown[],
  ): Promise<pg.QueryResult<Row>> {
    const { addresses, timeoutMs } = this.#options;
    const ask = () => this.#client.query<Row>((addresses.isPooled ? unprepared : prepared)(text, values));
    try {
      return await withCurrentPlan(() => answerInTime(timeoutMs, ask()));
    } catch (error) {
      if (isDiskFull(error)) this.#options.onDiskFull?.();
      const isUseless = isConnectionUseless(error);
      if (isUseless) this.#options.onUseless?.();
      if (!isUseless && !isConnectionLost(this.#client, error)) throw toStoreError(error);
      this.#isUseless = true;
      throw connectionError(error);
    }
  }

  release(destroy?: boolean): void {
    this.#client.release(destroy === true || this.#isUseless);
  }
}

/** A statement with more values than this has a text of its own each time: a list of rows. */
const MAX_VALUES = 40;

/** The SQLSTATE of a statement in a transaction that an error has ended. */
const IN_FAILED_TRANSACTION = '25P02';

/** Part of the names: a change of the tables needs statements under new names. */
let generation = 0;

/** The names of the texts that were used last. */
const names = new LRUCache<string, string>({
  max: 1_000,
  memoMethod: (text) => createHash('sha1').update(text).digest('base64url'),
});

/** A statement whose texts are without NUL characters, which PostgreSQL refuses. */
function unprepared(text: string, values: readonly unknown[]): pg.QueryConfig {
  return { text, values: values.map(withoutNul) };
}

function withoutNul(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\u0000', '');
  return Array.isArray(value) ? value.map(withoutNul) : value;
}

/** The statement under a name made from its text: a connection parses and plans it once. One without values runs as it is. */
export function prepared(text: string, values: readonly unknown[] = []): pg.QueryConfig {
  const statement = unprepared(text, values);
  if (values.length === 0 || values.length > MAX_VALUES) return statement;
  return { ...statement, name: `${generation}-${names.memo(text)}` };
}

/**
 * Runs a statement, and once more under a new name if a newer release has changed its table meanwhile. In a transaction,
 * which PostgreSQL has ended then, it throws the error: the next transaction uses new names.
 */
async function withCurrentPlan<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!isOutdatedPlan(error)) throw error;
    generation += 1;
    return run().catch((again: unknown) => {
      throw again instanceof pg.DatabaseError && again.code === IN_FAILED_TRANSACTION ? error : again;
    });
  }
}
