import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import {
  connectionTo,
  DATABASE_NAME,
  type DataFolder,
  prepareDataFolder,
  type ServerConnection,
} from './data-folder.ts';
import { EmbeddedServerError } from './errors.ts';
import { clearOrphanedServer, readPostmaster, SOCKET_FOLDER_PREFIX } from './running-server.ts';
import { type ServerBinaries, unpackBinaries } from './server-binaries.ts';
import { type OsUser, ServerProcess } from './server-process.ts';

/** A PostgreSQL server that lives and dies with this process. */
export interface EmbeddedServer {
  connection: ServerConnection;
  /** Resolves when the server is lost without `stop()`: the process should exit, too. */
  lost: Promise<EmbeddedServerError>;
  /** Shuts the server down; open connections are closed. */
  stop(): Promise<void>;
}

/** The longest time for recovery after a crash (ms). */
const READY_TIMEOUT_MS = 300_000;
const STOP_TIMEOUT_MS = 60_000;
/** The longest path of a Unix socket that every system accepts, in bytes (sun_path is 104 on macOS, 108 on Linux). */
const MAX_SOCKET_PATH_BYTES = 103;

/**
 * Starts the PostgreSQL server from npm's package on the files in `folder`, which it creates if needed.
 * `fsync: false` is for tests: a crash of the machine may then destroy the files.
 * @throws EmbeddedServerError `already_running`, `unsupported_platform`, `folder_unusable`, `other_version`, `server_failed`
 */
export async function startEmbeddedServer(options: {
  folder: string;
  log: Logger;
  fsync?: boolean;
  /** 100 by default. */
  maxConnections?: number;
}): Promise<EmbeddedServer> {
  const { log, fsync = true, maxConnections = 100 } = options;
  const binaries = await unpackBinaries();
  const data = await prepareDataFolder(options.folder, binaries, fsync);
  for (let attempt = 1; ; attempt += 1) {
    await clearOrphanedServer(data.path, log);
    const server = await launch(binaries, data, { fsync, maxConnections }, log);
    if (server !== undefined) return server;
    // Another process started its server on the same files at the same moment, or ours did not start.
    if (attempt === 3) {
      throw new EmbeddedServerError(
        'server_failed',
        `The database server on ${data.path} does not start; see the log lines above. ` +
          'On a system that cannot run it (such as musl), set DATABASE_URL.',
      );
    }
    await sleep(200);
  }
}

/** What a caller chooses of the server's settings. */
interface ChosenSettings {
  fsync: boolean;
  maxConnections: number;
}

/** The running server; undefined if it does not start. */
async function launch(
  { postgres, version }: ServerBinaries,
  data: DataFolder,
  chosen: ChosenSettings,
  log: Logger,
): Promise<EmbeddedServer | undefined> {
  await using started = new AsyncDisposableStack();
  const socketFolder = await makeSocketFolder(data.osUser);
  started.defer(() => rm(socketFolder, { recursive: true, force: true }));
  const command = [postgres, '-D', data.path, ...serverSettings(socketFolder, chosen)];
  const server = new ServerProcess(command, socketFolder, data.osUser, log);
  started.defer(() => server.stop(STOP_TIMEOUT_MS));
  const connection = connectionTo(socketFolder, data.password);
  if (!(await waitUntilReady(server, data.path, socketFolder))) return undefined;
  await ensureDatabase(connection);
  log.info({ folder: data.path, version }, 'the embedded database server is running');
  const lost = server.ended.then((status) =>
    server.isStopping
      ? new Promise<EmbeddedServerError>(() => undefined)
      : new EmbeddedServerError(
          'server_failed',
          `The embedded database server ended unexpectedly (status ${status}): start again.`,
        ),
  );
  const running = started.move();
  return { connection, lost, stop: () => running.disposeAsync() };
}

async function ensureDatabase(server: ServerConnection): Promise<void> {
  const client = new pg.Client({ ...server, database: 'postgres', query_timeout: STOP_TIMEOUT_MS });
  try {
    await client.connect();
    const known = await client.query('select from pg_database where datname = $1', [DATABASE_NAME]);
    if (known.rowCount === 0) await client.query(`create database ${DATABASE_NAME}`);
  } finally {
    await client.end();
  }
}

async function makeSocketFolder(osUser: OsUser | undefined): Promise<string> {
  const room = MAX_SOCKET_PATH_BYTES - Buffer.byteLength(`/${SOCKET_FOLDER_PREFIX}XXXXXX/.s.PGSQL.5432`);
  const parent = Buffer.byteLength(tmpdir()) <= room ? tmpdir() : '/tmp';
  const folder = await mkdtemp(path.join(parent, SOCKET_FOLDER_PREFIX));
  await chmod(folder, 0o700);
  if (osUser !== undefined) await chown(folder, osUser.uid, osUser.gid);
  return folder;
}

async function waitUntilReady(server: ServerProcess, data: string, socketFolder: string): Promise<boolean> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (server.isRunning && performance.now() < deadline) {
    const found = await readPostmaster(data);
    if (found?.isReady === true && found.socketFolder === socketFolder) return server.isRunning;
    await sleep(20);
  }
  if (!server.isRunning) return false;
  throw new EmbeddedServerError(
    'server_failed',
    `The database server on ${data} is not ready after ${READY_TIMEOUT_MS / 60_000} minutes: check the disk and start again.`,
  );
}

/** A small server for one program: no TCP, no replication, no parallel queries, little memory. */
function serverSettings(socketFolder: string, { fsync, maxConnections }: ChosenSettings): string[] {
  const values: Record<string, string> = {
    listen_addresses: '',
    unix_socket_directories: socketFolder,
    unix_socket_permissions: '0700',
    max_connections: String(maxConnections),
    shared_buffers: '32MB',
    max_wal_size: '256MB',
    min_wal_size: '32MB',
    wal_level: 'minimal',
    max_wal_senders: '0',
    max_logical_replication_workers: '0',
    max_parallel_workers_per_gather: '0',
    io_method: 'sync',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_min_messages: 'warning',
    // Our own log has the errors of our statements, with their context.
    log_min_error_statement: 'panic',
    log_line_prefix: '',
    ...(fsync ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum: 'off' }),
  };
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
