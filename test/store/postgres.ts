import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll } from 'vitest';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { type EmbeddedServer, startEmbedded } from '../../src/store/embedded.ts';
import { ThreadQueue } from '../../src/store/queue.ts';

const template = 'template_taskthread';

/** A database server of its own for each test process; nothing survives a crash of the machine. */
interface Fixture {
  server: EmbeddedServer;
  admin: pg.Pool;
  folder: string;
}

let fixture: Promise<Fixture> | undefined;
let users = 0;

/** A logger that says nothing. */
export const silent = pino({ level: 'silent' });

/**
 * A new, migrated and empty database for the calling test file, closed and removed when its tests are done. Call it
 * at the top of a file, in a `describe` or in `beforeAll`.
 */
export async function freshDatabase(options: { maxConnections?: number } = {}): Promise<Database> {
  const server = await testServer();
  const connection = await copyOfTemplate(server);
  const database = await openDatabase({ embedded: { ...server, connection }, log: silent, ...options });
  afterAll(() => database.close());
  return database;
}

/** The server that this test process shares, for tests that open databases by themselves. */
export async function testServer(): Promise<EmbeddedServer> {
  users += 1;
  afterAll(stopWhenUnused);
  fixture ??= make();
  return (await fixture).server;
}

/** A new database on the shared server, as a copy of the migrated template; gone with the server. */
export async function copyOfTemplate(server: EmbeddedServer): Promise<EmbeddedServer['connection']> {
  if (fixture === undefined) throw new Error('call testServer() first');
  const { admin } = await fixture;
  const database = `test_${randomUUID().replaceAll('-', '')}`;
  await admin.query(`create database ${database} template ${template}`);
  return { ...server.connection, database };
}

async function make(): Promise<Fixture> {
  const folder = await mkdtemp(path.join(tmpdir(), 'taskthread-test-'));
  await chmod(folder, 0o755);
  const server = await startEmbedded({ folder, log: silent, fsync: false });
  const admin = new pg.Pool({ ...server.connection, max: 1 });
  admin.on('error', () => undefined);
  await admin.query(`create database ${template}`);
  const first = await openDatabase({
    embedded: { ...server, connection: { ...server.connection, database: template } },
    log: silent,
  });
  const queue = new ThreadQueue({ database: first, log: silent });
  await queue.start();
  await queue.stop();
  await first.close();
  return { server, admin, folder };
}

async function stopWhenUnused(): Promise<void> {
  users -= 1;
  if (users > 0 || fixture === undefined) return;
  const { server, admin, folder } = await fixture;
  fixture = undefined;
  await admin.end();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
