import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import {
  type GivenServer,
  givenServer,
  ownDatabaseName,
  runOnServer,
} from '../../sandbox/postgres-server.ts';
import type { ServerConnection } from '../../src/postgres/data-folder.ts';
import { startEmbeddedServer } from '../../src/postgres/embedded-server.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { silentLog } from './silent-log.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the database server of the tests is, and the migrated database that each test's own is a copy of. */
    databaseServer: ServerConnection;
    /** The same server, with the database to connect to while others are made and dropped. */
    administration: ServerConnection;
  }
}

/** Connections that the tests of a run may have at a time. */
const CONNECTIONS = 300;

/** One database server for the whole run: that of TEST_DATABASE_URL, or an embedded one. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = givenServer();
  return given === undefined ? startOwnServer(project) : useGivenServer(given, project);
}

/** Uses the server for databases of this run alone, and drops them in the end. */
async function useGivenServer(server: GivenServer, project: TestProject): Promise<() => Promise<void>> {
  const connection = { ...server, database: ownDatabaseName() };
  await requireFitServer(server);
  await runOnServer(server, `create database ${connection.database}`);
  await (await migrateTemplate({ connection })).close();
  project.provide('databaseServer', connection);
  project.provide('administration', server);
  return () => dropDatabases(server, connection.database);
}

async function requireFitServer(server: GivenServer): Promise<void> {
  const client = new pg.Client(server);
  await client.connect();
  const { rows } = await client.query<{ max: number; isSuper: boolean }>(
    `select current_setting('max_connections')::int as max, rolsuper as "isSuper" from pg_roles where rolname = current_user`,
  );
  await client.end();
  const { max = 0, isSuper = false } = rows[0] ?? {};
  if (max >= CONNECTIONS && isSuper) return;
  throw new Error(
    `TEST_DATABASE_URL must name a superuser, of a server with max_connections of ${CONNECTIONS} or more. This one has ${max}.`,
  );
}

/** Drops the template and its copies. */
async function dropDatabases(server: GivenServer, template: string): Promise<void> {
  const client = new pg.Client(server);
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    'select datname as name from pg_database where starts_with(datname, $1)',
    [template],
  );
  for (const { name } of rows) await client.query(`drop database if exists "${name}" with (force)`);
  await client.end();
}

/** Nothing on this server survives a crash of the machine. */
async function startOwnServer(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'taskthread-test-'));
  await chmod(folder, 0o755);
  const server = await startEmbeddedServer({ folder, log: silentLog, fsync: false, maxConnections: 500 });
  const template = await migrateTemplate(server);
  // A run makes thousands of connections, through a socket in a folder of ours alone: checking passwords takes a tenth of that.
  const { rows } = await template.pool.query<{ file: string }>(`select current_setting('hba_file') as file`);
  for (const { file } of rows)
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll('scram-sha-256', 'trust'));
  // Most connections live for a second or two: planning each statement five times would cost more than all of its runs.
  await template.pool.query('alter system set plan_cache_mode = force_generic_plan');
  await template.pool.query('select pg_reload_conf()');
  await template.close();
  project.provide('databaseServer', server.connection);
  project.provide('administration', { ...server.connection, database: 'postgres' });
  return () => server.stop();
}

async function migrateTemplate(server: { connection: ServerConnection }): Promise<Database> {
  return openDatabase({ embedded: server, log: silentLog });
}
