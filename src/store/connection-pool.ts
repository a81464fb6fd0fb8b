import type { PostgresCursor, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import pg from 'pg';
import type { Logger } from 'pino';
import { type DatabaseClientClass, isConnectionUseless } from './database-client.ts';
import { withStoreErrors } from './errors.ts';

/** The server ends a statement this long (ms) before we would drop its connection, where it still can. */
const SERVER_HEAD_START_MS = 500;
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
  Client: DatabaseClientClass;
  /** A pooler stands between us and the server: it takes no settings with a new connection. */
  isPooled?: boolean;
  /** Called when a connection that stands proves useless: the others may be, too. */
  onUseless?: () => void;
  log: Logger;
}

/** A pool whose connections are replaced when the server behind them is gone, or accepts no more writes. */
export class ConnectionPool {
  readonly options: ConnectionPoolOptions;
  readonly #pool: pg.Pool;

  constructor(options: ConnectionPoolOptions) {
    this.options = options;
    const { name, maxConnections, timeoutMs, Client, isPooled = false, log } = options;
    this.#pool = new pg.Pool({
      Client,
      application_name: name,
      max: maxConnections,
      ...(timeoutMs !== undefined && {
        query_timeout: timeoutMs,
        connectionTimeoutMillis: timeoutMs,
        ...(!isPooled && {
          statement_timeout: timeoutMs - SERVER_HEAD_START_MS,
          idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
        }),
      }),
    });
    // The pool replaces an idle connection that breaks; on one in use, the statement fails.
    this.#pool.on('error', (error) =>
      log.warn({ reason: error.message, pool: name }, 'an idle database connection broke'),
    );
  }

  /** Takes a connection out of the pool. Throws a StoreError. */
  async connect(): Promise<PooledConnection> {
    const client = await withStoreErrors(() => this.#pool.connect());
    return new PooledConnection(client, () => this.options.onUseless?.());
  }

  /** Runs one statement. */
  async query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<pg.QueryResult<Row>> {
    try {
      return await this.#pool.query<Row>(text, values);
    } catch (error) {
      if (isConnectionUseless(error)) this.options.onUseless?.();
      throw error;
    }
  }

  /** Closes the connections that nobody uses. */
  dropIdle(): void {
    const idle = Array.from({ length: this.#pool.idleCount }, () => this.#pool.connect());
    for (const client of idle)
      client.then(
        (taken) => taken.release(true),
        () => undefined,
      );
  }

  async end(): Promise<void> {
    await this.#pool.end();
  }
}

/** A connection for Kysely, which would put it back into the pool after any error. */
class PooledConnection implements PostgresPoolClient {
  readonly #client: PostgresPoolClient;
  readonly #onUseless: () => void;
  #isUseless = false;

  constructor(client: PostgresPoolClient, onUseless: () => void) {
    this.#client = client;
    this.#onUseless = onUseless;
  }

  query<Row>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>;
  query<Row>(
    statement: string | PostgresCursor<Row>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<Row>> | PostgresCursor<Row> {
    return typeof statement === 'string'
      ? this.#run<Row>(statement, parameters)
      : this.#client.query(statement);
  }

  release(destroy?: boolean): void {
    this.#client.release(destroy === true || this.#isUseless);
  }

  async #run<Row>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>> {
    try {
      return await withStoreErrors(() => this.#client.query<Row>(sql, parameters));
    } catch (error) {
      this.#isUseless ||= isConnectionUseless(error instanceof Error ? (error.cause ?? error) : error);
      if (this.#isUseless) this.#onUseless();
      throw error;
    }
  }
}
