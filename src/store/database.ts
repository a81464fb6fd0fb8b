import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Logger } from 'pino';
import type { EmbeddedServer } from '../postgres/embedded-server.ts';
import { withStoreErrors } from './errors.ts';
import { migrate } from './migrations.ts';
import { PreparingClient } from './prepared-statements.ts';
import type { Tables } from './schema.ts';

/** The database: pools of connections, and Kysely on top of them. */
export interface Database {
  kysely: Kysely<Tables>;
  /** For writes that Slack's acknowledgement waits for: a few connections that turns never use. */
  ackKysely: Kysely<Tables>;
  pool: pg.Pool;
  /** For dedicated connections, such as the one that listens. */
  connectionConfig: pg.ClientConfig;
  /** Whether a connection keeps the statements that it has prepared. */
  preparesStatements: boolean;
  close(): Promise<void>;
}

/** Limit of one statement (ms); ours take milliseconds. */
const STATEMENT_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;
const MAX_ACK_CONNECTIONS = 6;

/**
 * How values are read: `numeric` as a string with its decimals (a Slack ts stays exact), `bigint` as a number
 * (ours count bytes and attempts, far below 2^53; a larger value throws), `timestamptz` as a Date.
 */
const VALUE_TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pg.types.builtins.INT8 ? parseSafeInteger : pg.types.getTypeParser(oid, format),
};

function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} does not fit in a number`);
  return value;
}

/**
 * Opens the database and brings its tables up to date.
 * @throws StoreError `unavailable`, `denied`, `disk_full`, `migration_failed`
 */
export async function openDatabase(options: {
  url?: string | undefined;
  embedded?: Pick<EmbeddedServer, 'connection'> | undefined;
  log: Logger;
  /** 10 by default. */
  maxConnections?: number;
  /** Off for a pooler that gives each transaction another connection. */
  preparesStatements?: boolean;
}): Promise<Database> {
  const { log, preparesStatements = true } = options;
  const connectionConfig: pg.ClientConfig = {
    ...(options.url === undefined ? options.embedded?.connection : { connectionString: options.url }),
    types: VALUE_TYPES,
    application_name: 'taskthread',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  };
  await migrateOnOwnConnection(connectionConfig, log);
  const pool = openPool(connectionConfig, options.maxConnections ?? 10, log);
  const ackPool = openPool(
    { ...connectionConfig, application_name: 'taskthread acknowledge' },
    Math.min(MAX_ACK_CONNECTIONS, options.maxConnections ?? MAX_ACK_CONNECTIONS),
    log,
  );
  let closed: Promise<void> | undefined;
  return {
    kysely: new Kysely<Tables>({ dialect: dialectOf(pool, preparesStatements) }),
    ackKysely: new Kysely<Tables>({ dialect: dialectOf(ackPool, preparesStatements) }),
    preparesStatements,
    pool,
    connectionConfig,
    async close() {
      closed ??= Promise.all([pool.end(), ackPool.end()]).then(() => undefined);
      await closed;
    },
  };
}

function openPool(connectionConfig: pg.ClientConfig, max: number, log: Logger): pg.Pool {
  const pool = new pg.Pool({
    ...connectionConfig,
    max,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
  });
  logBrokenConnections(pool, log);
  return pool;
}

/** Uses a connection without a time-out: it may wait while another process migrates. */
async function migrateOnOwnConnection(connectionConfig: pg.ClientConfig, log: Logger): Promise<void> {
  const pool = new pg.Pool({ ...connectionConfig, max: 1 });
  pool.on('error', () => undefined);
  const kysely = new Kysely<Tables>({ dialect: dialectOf(pool, false) });
  try {
    await migrate(kysely, log);
  } finally {
    await pool.end();
  }
}

/** The pool replaces an idle connection that breaks; on one in use, the statement fails. */
function logBrokenConnections(pool: pg.Pool, log: Logger): void {
  pool.on('error', (error) => log.warn({ reason: error.message }, 'an idle database connection broke'));
  pool.on('connect', (client) => {
    client.on('error', (error) => log.debug({ reason: error.message }, 'a database connection broke'));
  });
}

/** PostgreSQL by this pool. Turns outages, full disks and refusals into StoreErrors. */
function dialectOf(pool: pg.Pool, preparesStatements: boolean): PostgresDialect {
  const preparing = new WeakMap<pg.PoolClient, PreparingClient>();
  return new PostgresDialect({
    pool: {
      options: pool.options,
      connect: async () => {
        const client = await withStoreErrors(() => pool.connect());
        if (!preparesStatements) return client;
        const known = preparing.get(client) ?? new PreparingClient(client);
        preparing.set(client, known);
        return known;
      },
      end: () => pool.end(),
    },
    onCreateConnection: async (connection) => {
      const execute = connection.executeQuery.bind(connection);
      connection.executeQuery = (...query) => withStoreErrors(() => execute(...query));
    },
  });
}
