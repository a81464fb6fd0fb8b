import { pino } from 'pino';
import { type EmbeddedServer, startEmbeddedServer } from '../src/postgres/embedded-server.ts';
import { connectionUrl } from './connection-url.ts';

/**
 * Starts a database server on the files in `folder` and stops it in `undo`; `url` is its DATABASE_URL. Benchmarks turn
 * `fsync` on, as the bot's own server does.
 */
export async function startPostgresServer(
  folder: string,
  undo: AsyncDisposableStack,
  { fsync = false }: { fsync?: boolean } = {},
): Promise<{ connection: EmbeddedServer['connection']; url: string }> {
  const server = await startEmbeddedServer({ folder, log: pino({ level: 'silent' }), fsync });
  undo.defer(() => server.stop());
  return { connection: server.connection, url: connectionUrl(server.connection) };
}
