import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, inject } from 'vitest';
import type { EmbeddedServer } from '../../src/postgres/embedded-server.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { closeWhenDone } from './left-open.ts';
import { silentLog } from './silent-log.ts';

type Connection = EmbeddedServer['connection'];

/** PostgreSQL's code for "terminating connection due to administrator command": the server stops. */
const ADMIN_SHUTDOWN = '57P01';

const server = inject('databaseServer');
const administrator = new pg.Pool({ ...inject('administration'), allowExitOnIdle: true });
administrator.on('error', (error) => {
  const isEndOfRun = 'code' in error && error.code === ADMIN_SHUTDOWN;
  if (!isEndOfRun) console.error('An idle connection of the tests broke:', error);
});

/**
 * A new, migrated and empty database for the calling test file, closed and removed when its tests are done. Call it
 * at the top of a file or in a `describe`; with `onTestFinished` for one of one test.
 */
export async function freshDatabase(
  options: { maxConnections?: number } = {},
  whenDone: (close: () => Promise<void>) => void = afterAll,
): Promise<Database> {
  const connection = await copyTemplateDatabase();
  const database = await openDatabase({ embedded: { connection }, log: silentLog, ...options });
  const close = async () => {
    await database.close();
    await dropDatabase(connection);
  };
  closeWhenDone(connection.database, close, whenDone);
  return database;
}

/** A new database on the tests' server, as a copy of the migrated template. */
export async function copyTemplateDatabase(): Promise<Connection> {
  const connection = {
    ...server,
    database: `${server.database}_${randomUUID().slice(0, 13).replace('-', '')}`,
  };
  await administrator.query(
    `create database ${connection.database} template ${server.database} strategy file_copy`,
  );
  return connection;
}

/** A new database without tables. */
export async function emptyDatabase(): Promise<Connection> {
  const connection = newDatabase();
  await administrator.query(`create database ${connection.database}`);
  return connection;
}

function newDatabase(): Connection {
  return { ...server, database: `${server.database}_${randomUUID().slice(0, 13).replace('-', '')}` };
}

/** Removes a copy, whoever is still connected to it. */
export async function dropDatabase({ database }: Connection): Promise<void> {
  await administrator.query(`drop database if exists ${database} with (force)`);
}
