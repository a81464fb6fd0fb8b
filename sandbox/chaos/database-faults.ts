import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { type EmbeddedServer, startEmbeddedServer } from '../../src/postgres/embedded-server.ts';
import { secondsSince, waitUntil } from '../wait-until.ts';
import type { Conversation } from './conversation.ts';
import { mayStayUnsent, type SaidMessage } from './damage.ts';
import type { DatabaseObserver } from './database-observer.ts';
import { DatabaseProxy } from './database-proxy.ts';

/** What can happen to the database server; the run's JSON has them as keys. */
export const DATABASE_FAULTS = [
  'vanished',
  'reset',
  'killed',
  'readOnly',
  'full',
  'slow',
  'unanswered',
] as const;
export type DatabaseFault = (typeof DATABASE_FAULTS)[number];

/** How slow each answer of a slow server is (ms). */
const SLOW_MS = 200;
/** Of the requests of a bot whose connections break in the wrong moment, how many are carried out, but not answered. */
const UNANSWERED = 0.1;
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
  random: () => number,
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

/** When people write during a fault, as parts of its time: what is said late must also reach the bot. */
const WRITING_TIMES = [0.1, 0.75];
/** How long the run waits for the answers after a fault (ms). */
const RECOVERY_TIMEOUT_MS = 60_000;

/** What a run needs to see the bot recover. */
export interface RecoveryDeps {
  database: FaultyDatabase;
  observer: DatabaseObserver;
  conversation: Conversation;
  /** Whether the bot has a message. */
  isExpected: (message: SaidMessage) => boolean;
  /** Sends messages that wait behind a stop: nothing else answers them. */
  sendPaused: () => Promise<unknown>;
  onProgress: (line: string) => void;
}

/**
 * Lets the database fail in every way, for so many seconds each, while people write. Returns how long it took after each
 * fault until the oldest message of each thread that waited was answered (s).
 */
export async function failInEveryWay(
  deps: RecoveryDeps,
  seconds: number,
): Promise<Map<DatabaseFault, number>> {
  const { database, conversation, onProgress } = deps;
  const recoverySeconds = new Map<DatabaseFault, number>();
  await answered(deps);
  for (const fault of DATABASE_FAULTS) {
    conversation.sayOne();
    conversation.sayOne();
    await sleep(500);
    const failing = database.fail(fault, seconds);
    await Promise.all(
      WRITING_TIMES.map(async (part) => {
        await sleep(part * seconds * 1_000);
        conversation.sayOne();
      }),
    );
    await failing;
    const back = performance.now();
    await answered(deps);
    recoverySeconds.set(fault, secondsSince(back));
    onProgress(`${fault}: recovered ${recoverySeconds.get(fault)} s after its end`);
  }
  return recoverySeconds;
}

/** Resolves when the oldest message that waits for an answer in each thread has one, or after a minute. */
async function answered({ observer, conversation, isExpected, sendPaused }: RecoveryDeps): Promise<void> {
  const unfinished = async () => {
    const turns = await observer.turns().catch(() => []);
    const finished = turns.flatMap((turn) => (turn.finished ? [`${turn.channel}/${turn.ts}`] : []));
    const awaited = conversation.said.filter((message) => isExpected(message) && !mayStayUnsent(message));
    return awaited.filter(({ channel, ts }) => !finished.includes(`${channel}/${ts}`));
  };
  const oldest = new Map((await unfinished()).toReversed().map((message) => [message.thread, message]));
  const areAnswered = async () => {
    await sendPaused();
    const waiting = await unfinished();
    return ![...oldest.values()].some((message) => waiting.includes(message));
  };
  await waitUntil(areAnswered, RECOVERY_TIMEOUT_MS, 100);
}
