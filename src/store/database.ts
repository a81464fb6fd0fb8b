import { Kysely, PostgresDialect, sql } from 'kysely';
import type pg from 'pg';
import type { Logger } from 'pino';
import { toldIfLate, within } from '../calls/retries-and-waits.ts';
import type { EmbeddedServer } from '../postgres/embedded-server.ts';
import { errorMessage } from '../postgres/errors.ts';
import { connectionLimit, LEAST_CONNECTIONS } from './connection-limit.ts';
import { ConnectionPool } from './connection-pool.ts';
import { DatabaseAddresses, databaseClientClass } from './database-client.ts';
import { StoreError } from './errors.ts';
import { BASELINE, isUpToDate, migrate, readSchema } from './migrations.ts';
import type { Tables } from './schema.ts';
import { ALL_ENCRYPTED } from './workspaces/encryption.ts';

/** The database: pools of connections, and Kysely on top of them. */
export interface Database {
  /** For turns. */
  kysely: Kysely<Tables>;
  /** For what Slack's acknowledgement waits for: connections that turns never use. */
  ackKysely: Kysely<Tables>;
  pool: ConnectionPool;
  /** For leases: one connection that nothing else uses. */
  leasePool: ConnectionPool;
  leaseKysely: Kysely<Tables>;
  /** A connection outside the pools, which is not open yet. */
  readonly createClient: (config: pg.ClientConfig) => pg.Client;
  /** Why nothing can be written now, as a sentence; undefined if it can. Takes at most two seconds. */
  findTrouble(): Promise<string | undefined>;
  close(): Promise<void>;
}

/** Where a database is, and how it may be used. */
export interface DatabaseOptions {
  url?: string | undefined;
  /** The address of the server itself, if `url` is that of a pooler. */
  directUrl?: string | undefined;
  embedded?: Pick<EmbeddedServer, 'connection'> | undefined;
  log: Logger;
  /** Most connections of this process, from 5. */
  maxConnections?: number | undefined;
  /** For an operator's command: nothing ends a statement that takes long. */
  isCommand?: boolean;
}

/** As many as a process may have without a setting. */
const DEFAULT_CONNECTIONS = 9;
/** Limits of a statement, and of the wait for a connection (ms); ours take milliseconds. */
const TIMEOUT_MS = { turns: 8_000, acknowledgements: 2_500, leases: 2_500 };
/** Until this long (ms) after the start, nothing is said about the database's silence. */
export const QUIET_MS = 4_000;
/** How long the search for trouble may take (ms): a probe must not hang. */
const TROUBLE_TIMEOUT_MS = 2_000;
/** How long the disk counts as full after a statement has lacked room (ms): longer than the pauses between tries. */
const DISK_FULL_MS = 20_000;

const OTHER_DATABASE =
  'DATABASE_DIRECT_URL leads to another database than DATABASE_URL: name the same one in both.';

/**
 * Opens the database and brings its tables up to date, past any pooler.
 * @throws StoreError `unavailable`, `denied`, `disk_full`, `migration_failed`
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { url, directUrl, embedded, log, maxConnections = DEFAULT_CONNECTIONS, isCommand = false } = options;
  const addresses = new DatabaseAddresses(url ?? embedded?.connection ?? {}, directUrl !== undefined);
  const direct = directUrl === undefined ? addresses : new DatabaseAddresses(directUrl);
  const found = Promise.all([...new Set([addresses, direct])].map((each) => each.findWritable()));
  await toldIfLate(QUIET_MS, found, () => log.warn('the database has not answered yet; still trying'));
  const pools: ConnectionPool[] = [];
  let diskFullUntil = 0;
  const openPool = (use: keyof typeof TIMEOUT_MS, max: number) => {
    const pool = new ConnectionPool({
      name: `taskthread ${use}`,
      maxConnections: max,
      timeoutMs: isCommand ? undefined : TIMEOUT_MS[use],
      addresses,
      onDiskFull: () => {
        diskFullUntil = performance.now() + DISK_FULL_MS;
      },
      onUseless: () => {
        for (const each of pools) each.dropIdle();
      },
      log,
    });
    pools.push(pool);
    return pool;
  };
  let connections = maxConnections;
  {
    const over = (at: DatabaseAddresses) =>
      kyselyOn(new ConnectionPool({ name: 'taskthread start', maxConnections: 1, addresses: at, log }));
    await using server = over(direct);
    await migrate(server, log);
    // What a pooler has left changes with each process that comes and goes.
    const limit = addresses.isPooled || isCommand ? undefined : await connectionLimit(server, maxConnections);
    if (limit !== undefined && limit.most < LEAST_CONNECTIONS) throw new StoreError('denied', limit.sentence);
    connections = limit?.most ?? maxConnections;
    if (limit !== undefined) log.warn({ connections }, `starting with fewer connections. ${limit.sentence}`);
    if (addresses.isPooled) {
      await using pooled = over(addresses);
      if (!(await isUpToDate(pooled))) throw new StoreError('denied', OTHER_DATABASE);
    }
  }
  // One is for leases, one for the process's lock, and of the others two fifths for acknowledgements.
  const forAcks = Math.max(1, Math.floor((connections - 2) * 0.4));
  const pool = openPool('turns', connections - 2 - forAcks);
  const ackPool = openPool('acknowledgements', forAcks);
  const leasePool = openPool('leases', 1);
  let closed: Promise<unknown> | undefined;
  return {
    kysely: kyselyOn(pool),
    ackKysely: kyselyOn(ackPool),
    pool,
    leasePool,
    leaseKysely: kyselyOn(leasePool),
    createClient: (config) => new (databaseClientClass(addresses))(config),
    findTrouble: async () =>
      performance.now() < diskFullUntil ? 'its disk is full' : await findTrouble(leasePool),
    async close() {
      closed ??= Promise.all(pools.map((each) => each.end()));
      await closed;
    },
  };
}

/** Kysely on the connections of a pool, which it closes with itself. */
function kyselyOn(pool: ConnectionPool): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

async function findTrouble(pool: ConnectionPool): Promise<string | undefined> {
  const asked = pool
    .query<{ transaction_read_only: string }>('show transaction_read_only')
    .then(
      ({ rows }) => (rows[0]?.transaction_read_only === 'on' ? 'the server is read-only' : undefined),
      errorMessage,
    );
  return within(TROUBLE_TIMEOUT_MS, asked, `no answer within ${TROUBLE_TIMEOUT_MS / 1_000} s`);
}

/** The state of a database before anything is changed in it. */
export type SchemaCheck = Awaited<ReturnType<typeof checkSchema>>;

/**
 * Inspects a database, by its URL or the embedded server's address, without changing it; `isPooled`: the URL is that of a
 * pooler. `wanted` is how many connections a process is set to. It waits for a database that sleeps. Throws a StoreError.
 */
export async function checkSchema(at: string | pg.ClientConfig, log: Logger, isPooled = false, wanted = 0) {
  const addresses = new DatabaseAddresses(at, isPooled);
  await addresses.findWritable();
  const options = { name: 'taskthread doctor', maxConnections: 1, timeoutMs: 5_000, addresses, log };
  await using kysely = kyselyOn(new ConnectionPool(options));
  // First of all: a connection of ours would count.
  const limit = isPooled ? undefined : await connectionLimit(kysely, wanted);
  const { rows } = await sql<{ serverVersion: string; databaseTime: Date }>`
    select split_part(current_setting('server_version'), ' ', 1) as "serverVersion",
      clock_timestamp() as "databaseTime"`.execute(kysely);
  const [server] = rows;
  if (server === undefined) throw new Error('The database returned no row.');
  const schema = await readSchema(kysely);
  const hasTables = !schema.pending.includes(BASELINE);
  // The format version and the key's id stand before the second dot.
  const samples = sql<{ encrypted: string }>`
    select min(encrypted) as encrypted from (${sql.raw(ALL_ENCRYPTED)}) as texts group by split_part(encrypted, '.', 2)`;
  const installed = sql<{ workspace: string; enterprise_id: string | null }>`
    select workspace, enterprise_id from installations where uninstalled_at is null order by workspace`;
  return {
    ...schema,
    ...server,
    /** One encrypted text for each key that was used. */
    encryptedSamples: hasTables ? (await samples.execute(kysely)).rows.map((one) => one.encrypted) : [],
    /** The workspaces and organisations that have installed the app, with the organisation that each belongs to. */
    installations: hasTables ? (await installed.execute(kysely)).rows : [],
    /** If a process can have fewer connections than it is set to. */
    connectionLimit: limit,
  };
}
