import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { DatabaseProxy } from '../../sandbox/chaos/database-proxy.ts';
import { osUserFor } from '../../src/postgres/data-folder.ts';
import { waitFor } from './wait-for.ts';

/** Where Debian's package puts it, or what PGBOUNCER names. */
const PGBOUNCER = process.env.PGBOUNCER ?? '/usr/sbin/pgbouncer';
export const hasPgbouncer = existsSync(PGBOUNCER);

/** A pgbouncer in transaction mode before the tests' server. */
export interface Pgbouncer {
  url(database: string): string;
  /** Its certificate, for clients that check it: it speaks TLS alone. */
  caFile: string;
}

/** Starts it on a free port, with more settings; `whenDone` stops it. */
export async function startPgbouncer(
  whenDone: (stop: () => Promise<void>) => void,
  more: readonly string[] = [],
): Promise<Pgbouncer> {
  const folder = await mkdtemp(join(tmpdir(), 'taskthread-pgbouncer-'));
  whenDone(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  // pgbouncer's user may not reach the server's socket.
  const server = await DatabaseProxy.start(() => inject('databaseServer'));
  whenDone(() => server.stop());
  const { user, password, port: serverPort } = server.connection;
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, ...subject];
  spawnSync('openssl', made, { stdio: 'ignore' });
  await chmod(key, 0o644);
  const port = await freePort();
  const settings = [
    '[databases]',
    `* = host=127.0.0.1 port=${serverPort} user=${user} password=${password}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'server_tls_sslmode = disable',
    'client_tls_sslmode = require',
    `client_tls_key_file = ${key}`,
    `client_tls_cert_file = ${cert}`,
    ...more,
  ];
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(file, settings.join('\n'));
  // pgbouncer refuses to run as root, too.
  const identity = process.getuid?.() === 0 ? osUserFor(undefined) : {};
  const child = spawn(PGBOUNCER, ['-q', file], { stdio: 'ignore', ...identity });
  const ended = once(child, 'exit');
  whenDone(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await waitFor(async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
  });
  const url = (database: string) =>
    `postgres://${user}@127.0.0.1:${port}/${database}?sslmode=verify-full&sslrootcert=${encodeURIComponent(cert)}`;
  return { url, caFile: cert };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  server.close();
  await once(server, 'close');
  return port;
}
