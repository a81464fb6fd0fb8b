import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, inject, onTestFinished, test } from 'vitest';
import { startFaultyDatabase } from '../../../sandbox/chaos/database-faults.ts';
import { DatabaseProxy } from '../../../sandbox/chaos/database-proxy.ts';
import { connectionUrl } from '../../../sandbox/postgres-server.ts';
import { temporaryFolder } from '../../../sandbox/temporary-folder.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { readDueWork } from '../../../src/store/processes/due-work.ts';
import { ProcessLock } from '../../../src/store/processes/process-lock.ts';
import { ProcessRegistry, UNLOCKED_MS } from '../../../src/store/processes/process-registry.ts';
import { withinMs } from '../../support/busy-machine.ts';
import { compiledProgram } from '../../support/compiled-programs.ts';
import { copyTemplateDatabase, dropDatabase } from '../../support/fresh-database.ts';
import { hasPgbouncer, startPgbouncer } from '../../support/pgbouncer.ts';
import { silentLog } from '../../support/silent-log.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Longer than it takes until a process that is unlocked is taken out (ms). */
const LONG_MS = 5_000;

let connection: Awaited<ReturnType<typeof copyTemplateDatabase>>;
/** As seen by other processes. */
let database: Database;

beforeEach(async () => {
  connection = await copyTemplateDatabase();
  database = await open(connectionUrl(connection));
  const closed = database;
  onTestFinished(async () => {
    await closed.close();
    await dropDatabase(connection);
  });
});

async function open(url: string, isPooled = false): Promise<Database> {
  const directUrl = isPooled ? connectionUrl(connection) : undefined;
  return openDatabase({ url, directUrl, log: silentLog });
}

/** A process of this test's own. */
async function startLock(at: Database) {
  const registry = new ProcessRegistry(at.leaseKysely);
  const lock = new ProcessLock({ registry, createClient: at.createClient, log: silentLog });
  let taken = 0;
  lock.onTaken(() => {
    taken += 1;
  });
  await registry.enter(lock.id);
  lock.start();
  onTestFinished(() => lock.stop());
  return { lock, takenCount: () => taken };
}

/** A process of its own that holds its lock, by its URL of the database. */
async function spawnLocked(url: string) {
  const child = spawn(process.execPath, [compiledProgram('test/support/locked-process.ts'), url]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const [id] = await once(child.stdout, 'data');
  return { child, id: String(id) };
}

async function rows(at = database) {
  const { rows: found } = await at.pool.query<{ id: string; lockedAt: Date | null }>(
    'select id, locked_at as "lockedAt" from processes',
  );
  return found;
}

async function locked(id: string, at = database): Promise<void> {
  await waitFor(async () =>
    expect((await rows(at)).find((row) => row.id === id)?.lockedAt).toBeInstanceOf(Date),
  );
}

/** Other processes that look often, in turns: who was taken out, by which of them, and when. */
function watch(count = 1, at = database) {
  const taken: { id: string; by: number; at: number }[] = [];
  const stopped = new AbortController();
  const looking = Array.from({ length: count }, async (_, by) => {
    const registry = new ProcessRegistry(at.leaseKysely);
    while (!stopped.signal.aborted) {
      const { unlocked } = await readDueWork(at.kysely);
      for (const id of await registry.takeUnlocked(unlocked)) taken.push({ id, by, at: performance.now() });
      await sleep(20);
    }
  });
  const stop = async () => {
    stopped.abort();
    await Promise.all(looking);
  };
  onTestFinished(stop);
  return { taken, stop };
}

/** Ends the connection on which a lock is held, as an administrator does. */
async function endLockConnection(): Promise<void> {
  const { rowCount } = await database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'taskthread process' and datname = current_database()`,
  );
  expect(rowCount).toBe(1);
}

test('a process that is killed is taken out within five seconds, by one other; a frozen one is not', async () => {
  const { child, id } = await spawnLocked(connectionUrl(connection));
  await locked(id);
  const { taken, stop } = watch(2);
  child.kill('SIGSTOP');
  await sleep(LONG_MS);
  expect(taken).toEqual([]);
  child.kill('SIGKILL');
  const killed = performance.now();
  await waitFor(() => expect(taken).toHaveLength(1));
  expect(taken[0]?.id).toBe(id);
  expect((taken[0]?.at ?? 0) - killed).toBeGreaterThanOrEqual(UNLOCKED_MS);
  expect((taken[0]?.at ?? 0) - killed).toBeLessThan(withinMs(5_000));
  await sleep(200);
  await stop();
  expect(taken).toHaveLength(1);
  expect(await rows()).toEqual([]);
});

test('a process whose connection the server ends stays what it is, and takes its lock again', async () => {
  const { lock, takenCount } = await startLock(database);
  const { id } = lock;
  await locked(id);
  const { taken } = watch();
  await endLockConnection();
  const held: boolean[] = [];
  for (let passed = 0; passed < LONG_MS; passed += 50) {
    held.push(lock.isHeld);
    await sleep(50);
  }
  expect(held).not.toContain(false);
  await locked(id);
  expect([lock.id, takenCount(), taken]).toEqual([id, 0, []]);
});

test('a process that has lost its lock unheard lets go before others take it out, and goes on as a new one', async () => {
  const proxy = await DatabaseProxy.start(() => inject('databaseServer'));
  onTestFinished(() => proxy.stop());
  const through = await open(connectionUrl({ ...connection, host: '127.0.0.1', port: proxy.port }));
  onTestFinished(() => through.close());
  const { lock, takenCount } = await startLock(through);
  const { id } = lock;
  await locked(id);
  const { taken } = watch();
  // The server knows of the end of the connection, and the process hears nothing.
  proxy.vanish();
  await endLockConnection();
  let letGoAt: number | undefined;
  while (taken.length === 0) {
    if (!lock.isHeld) letGoAt ??= performance.now();
    await sleep(5);
  }
  expect(taken.map((each) => each.id)).toEqual([id]);
  expect(letGoAt).toBeLessThan(taken[0]?.at ?? 0);
  expect([lock.isHeld, takenCount()]).toEqual([false, 0]);
  proxy.restore();
  await waitFor(() => expect(lock.isHeld).toBe(true));
  expect(takenCount()).toBe(1);
  expect(lock.id).not.toBe(id);
  await locked(lock.id);
});

test('a process is not taken for dead because its server started again', async () => {
  const undo = new AsyncDisposableStack();
  onTestFinished(() => undo.disposeAsync());
  const faulty = await startFaultyDatabase(await temporaryFolder(undo), Math.random, undo);
  const at = await open(connectionUrl(faulty.proxied));
  onTestFinished(() => at.close());
  // Frozen, so that it can say nothing itself.
  const { child, id } = await spawnLocked(connectionUrl(faulty.proxied));
  await locked(id, at);
  child.kill('SIGSTOP');
  await faulty.fail('killed', 1);
  await waitFor(() => rows(at));
  const { taken, stop } = watch(1, at);
  await sleep(LONG_MS);
  await stop();
  expect(taken).toEqual([]);
  child.kill('SIGCONT');
  await waitFor(async () => expect((await rows(at))[0]?.lockedAt).toBeNull());
  await locked(id, at);
});

test.skipIf(!hasPgbouncer)('a process behind a pooler has no lock, and others leave it alone', async () => {
  const pgbouncer = await startPgbouncer(onTestFinished);
  const pooled = await open(pgbouncer.url(connection.database), true);
  onTestFinished(() => pooled.close());
  const { lock } = await startLock(pooled);
  const { taken } = watch();
  await sleep(LONG_MS);
  expect(await rows()).toEqual([{ id: lock.id, lockedAt: null }]);
  expect([lock.isHeld, taken]).toEqual([true, []]);
});
