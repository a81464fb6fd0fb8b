import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { pino } from 'pino';
import type { ServerConnection } from '../src/postgres/data-folder.ts';
import { startEmbeddedServer } from '../src/postgres/embedded-server.ts';

/** A server of which a run uses databases of its own alone; it connects to `database` to make and drop them. */
export type GivenServer = ServerConnection;

/** The server that TEST_DATABASE_URL names; undefined without it. */
export function givenServer(): GivenServer | undefined {
  const { TEST_DATABASE_URL: connectionString = '' } = process.env;
  if (connectionString === '') return undefined;
  const { host, port, user = '', password, database = '' } = new pg.Client({ connectionString });
  return { host, port, user, password: password ?? '', database };
}

/** Why a run that breaks or configures its server cannot have that of TEST_DATABASE_URL; undefined if it need not. */
export function givenServerProblem(run: string): string | undefined {
  if (givenServer() === undefined) return undefined;
  return `${run} stops or configures its database server, so it only uses the embedded one: unset TEST_DATABASE_URL.`;
}

/** A name for a database of this run. */
export function ownDatabaseName(): string {
  return `taskthread_test_${randomUUID().replaceAll('-', '').slice(0, 16)}`;
}

/** Does something over a connection of its own. */
export async function withClient<T>(
  connection: pg.ClientConfig,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Runs one statement on the server, over a connection of its own. */
export async function runOnServer(server: GivenServer, statement: string): Promise<void> {
  await withClient(server, (client) => client.query(statement));
}

/** The DATABASE_URL of a new database on the server of TEST_DATABASE_URL, dropped in `undo`; undefined without it. */
export async function givenDatabaseUrl(undo: AsyncDisposableStack): Promise<string | undefined> {
  const server = givenServer();
  return server && connectionUrl(await createOwnDatabase(server, undo));
}

/** Makes a database of this run; `undo` drops it, whoever is still connected. */
export async function createOwnDatabase(
  server: GivenServer,
  undo: AsyncDisposableStack,
): Promise<ServerConnection> {
  const database = ownDatabaseName();
  await runOnServer(server, `create database ${database}`);
  undo.defer(() => runOnServer(server, `drop database ${database} with (force)`));
  return { ...server, database };
}

/**
 * A database for several processes: on the server of TEST_DATABASE_URL, or on one that it starts on the files in
 * `folder`. It is removed, or its server stopped, in `undo`; `url` is its DATABASE_URL. Benchmarks turn `fsync` on, as the
 * bot's own server does.
 */
export async function startPostgresServer(
  folder: string,
  undo: AsyncDisposableStack,
  { fsync = false }: { fsync?: boolean } = {},
): Promise<{ connection: ServerConnection; url: string }> {
  const given = givenServer();
  if (given !== undefined) {
    const connection = await createOwnDatabase(given, undo);
    return { connection, url: connectionUrl(connection) };
  }
  const server = await startEmbeddedServer({ folder, log: pino({ level: 'silent' }), fsync });
  undo.defer(() => server.stop());
  return { connection: server.connection, url: connectionUrl(server.connection) };
}

/** The DATABASE_URL of a database of the server. */
export function connectionUrl({ host, port, user, password, database }: ServerConnection): string {
  const credentials = [user, password].map(encodeURIComponent).join(':');
  return `postgres://${credentials}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
}
