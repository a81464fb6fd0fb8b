import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { expect, inject, test, vi } from 'vitest';
import { connectionUrl, givenServer, startPostgresServer } from '../../sandbox/postgres-server.ts';

const administration = inject('administration');
const TEST_DATABASE_URL = connectionUrl(administration);

async function databases(): Promise<string[]> {
  const client = new pg.Client(administration);
  await client.connect();
  const { rows } = await client.query<{ name: string }>('select datname as name from pg_database');
  await client.end();
  return rows.map(({ name }) => name);
}

test('a run makes a database of its own on the server of TEST_DATABASE_URL, and drops it', async () => {
  vi.stubEnv('TEST_DATABASE_URL', TEST_DATABASE_URL);
  const undo = new AsyncDisposableStack();
  const { connection, url } = await startPostgresServer('/dev/null/unused', undo);
  vi.unstubAllEnvs();
  const { host, port, user, password } = administration;
  expect(connection).toEqual({
    ...{ host, port, user, password },
    database: expect.stringMatching(/^taskthread_test_\w{16}$/),
  });
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('create table kept (word text)');
  expect(await databases()).toContain(connection.database);
  // Whoever is still connected.
  await undo.disposeAsync();
  const left = await databases();
  expect(left).not.toContain(connection.database);
  expect(left).toContain(inject('databaseServer').database);
});

test('the address of a given server may have any password, and a host by TCP or by its socket', () => {
  const tcp = { host: '127.0.0.1', port: 5433, user: 'a b', password: 'p@ss:w/ord', database: 'given' };
  for (const server of [tcp, { ...tcp, host: '/run/postgresql' }]) {
    vi.stubEnv('TEST_DATABASE_URL', connectionUrl(server));
    expect(givenServer()).toEqual(server);
  }
  vi.unstubAllEnvs();
});

test.each([
  ['sandbox/chaos/main.ts', '--database', '1'],
  ['bench/main.ts', 'history', '--turns', '1'],
])('%s %s refuses a given server, which it would break', async (...command) => {
  const cwd = path.join(import.meta.dirname, '../..');
  const env = { ...process.env, TEST_DATABASE_URL };
  const ended = promisify(execFile)(process.execPath, command, { cwd, env });
  await expect(ended).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/only uses the embedded one: unset TEST_DATABASE_URL\.$/m),
  });
});
