import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { type EmbeddedServer, startEmbeddedServer } from '../../src/postgres/embedded-server.ts';
import { DatabaseProxy } from './database-proxy.ts';

/** What can happen to the database server; the run's JSON has them as keys. */
export const DATABASE_FAULTS = ['vanished', 'reset', 'killed', 'readOnly', 'full', 'slow'] as const;
export type DatabaseFault = (typeof DATABASE_FAULTS)[number];

/** How slow each answer of a slow server is (ms). */
const SLOW_MS = 200;
const log = pino({ level: 'silent' });

/** A database server of its own, which the bot reaches through a proxy, and which can fail in every way. */
export interface FaultyDatabase {
  /** The server itself, and as the bot reaches it. */
  readonly direct: EmbeddedServer['connection'];
  readonly proxied: EmbeddedServer['connection'];
  /** Begins a fault, and ends it after so many seconds; resolves when the server is back. */
  fail(fault: DatabaseFault, seconds: number): Promise<void>;
}

/** Starts it on the files in `folder`; `undo` stops it. What is committed survives a kill of the server. */
export async function startFaultyDatabase(
  folder: string,
  undo: AsyncDisposableStack,
): Promise<FaultyDatabase> {
  let server = await startEmbeddedServer({ folder, log });
  undo.defer(() => server.stop());
  const proxy = await DatabaseProxy.start(() => server.connection);
  undo.defer(() => proxy.stop());
  const faults: Record<DatabaseFault, { begin(): Promise<void> | void; end(): Promise<void> | void }> = {
    vanished: { begin: () => proxy.vanish(), end: () => proxy.restore() },
    reset: { begin: () => proxy.reset('closed'), end: () => proxy.restore() },
    full: { begin: () => proxy.reset('full'), end: () => proxy.restore() },
    killed: {
      begin: () => killServer(folder),
      end: async () => {
        await server.lost;
        server = await startEmbeddedServer({ folder, log });
      },
    },
    readOnly: {
      begin: () => setReadOnly(server.connection, 'on'),
      end: () => setReadOnly(server.connection, 'off'),
    },
    slow: {
      begin: () => {
        proxy.latencyMs = SLOW_MS;
      },
      end: () => {
        proxy.latencyMs = 0;
      },
    },
  };
  return {
    get direct() {
      return server.connection;
    },
    get proxied() {
      return proxy.connection;
    },
    fail: async (fault, seconds) => {
      await faults[fault].begin();
      await sleep(seconds * 1_000);
      await faults[fault].end();
    },
  };
}

/** Kills the server as the kernel does when memory runs out; its other processes end by themselves. */
async function killServer(folder: string): Promise<void> {
  const [pid = ''] = (await readFile(join(folder, 'postgres', 'postmaster.pid'), 'utf8')).split('\n');
  process.kill(Number(pid), 'SIGKILL');
}

/** For all transactions that begin from now on, as on a primary that was demoted. */
async function setReadOnly(connection: EmbeddedServer['connection'], state: 'on' | 'off'): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  await client.query(`alter system set default_transaction_read_only = ${state}`);
  await client.query('select pg_reload_conf()');
  await client.end();
}
