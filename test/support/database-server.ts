import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { type EmbeddedServer, startEmbeddedServer } from '../../src/postgres/embedded-server.ts';
import { openDatabase } from '../../src/store/database.ts';
import { ThreadQueue } from '../../src/store/queue/thread-queue.ts';
import { silentLog } from './silent-log.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the database server of the tests is, and the migrated database that each test's own is a copy of. */
    databaseServer: EmbeddedServer['connection'];
  }
}

/** One database server for the whole run; nothing on it survives a crash of the machine. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'taskthread-test-'));
  await chmod(folder, 0o755);
  const server = await startEmbeddedServer({ folder, log: silentLog, fsync: false, maxConnections: 500 });
  const template = await openDatabase({ embedded: server, log: silentLog });
  const queue = new ThreadQueue({ database: template, log: silentLog });
  await queue.start();
  await queue.stop();
  // A run makes thousands of connections: their password check need not withstand an attack.
  const { user, password } = server.connection;
  await template.pool.query(`set scram_iterations = 1; alter role ${user} password '${password}'`);
  // Most connections live for a second or two: planning each statement five times would cost more than all of its runs.
  await template.pool.query('alter system set plan_cache_mode = force_generic_plan');
  await template.pool.query('select pg_reload_conf()');
  await template.close();
  project.provide('databaseServer', server.connection);
  return () => server.stop();
}
