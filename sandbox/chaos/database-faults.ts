import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { type EmbeddedServer, startEmbeddedServer } from '../../src/postgres/embedded-server.ts';
import { DatabaseProxy } from './database-proxy.ts';
import { type Breakable, breakable, type Fault } from './recovery.ts';

/** How slow each answer of a slow server is (ms). */
const SLOW_MS = 200;
/** Of the requests of a bot whose connections break in the wrong moment, how many are carried out, but not answered. */
const UNANSWERED = 0.1;
const log = pino({ level: 'silent' });

/** A database server of its own, which the bot reaches through a proxy, and which can fail in every way. */
export interface FaultyDatabase extends Breakable {
  /** The server itself, and as the bot reaches it. */
  readonly direct: EmbeddedServer['connection'];
  readonly proxied: EmbeddedServer['connection'];
}

/** Starts it on the files in `folder`; `undo` stops it. What is committed survives a kill of the server. */
export async function startFaultyDatabase(
  folder: string,
  random: () => number,
  undo: AsyncDisposableStack,
): Promise<FaultyDatabase> {
  let server = await startEmbeddedServer({ folder, log });
  undo.defer(() => server.stop());
  const proxy = await DatabaseProxy.start(() => server.connection);
  undo.defer(() => proxy.stop());
  const faults: Record<string, Fault> = {
    vanished: { begin: () => proxy.vanish(), end: () => proxy.restore() },
    reset: { begin: () => proxy.reset('closed'), end: () => proxy.restore() },
    full: { begin: () => proxy.fill(), end: () => proxy.restore() },
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
    unanswered: {
      begin: () => {
        proxy.losesAnswer = () => random() < UNANSWERED;
      },
      end: () => {
        proxy.losesAnswer = () => false;
      },
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
    ...breakable(faults),
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
