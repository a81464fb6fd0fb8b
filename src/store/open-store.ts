import type { Logger } from 'pino';
import { type EmbeddedServer, startEmbeddedServer } from '../postgres/embedded-server.ts';
import { type Database, type DatabaseOptions, openDatabase } from './database.ts';

/** Where the database is, and how it may be used. */
export interface DatabaseLocation extends Pick<DatabaseOptions, 'url' | 'directUrl' | 'maxConnections'> {
  /** The folder of the embedded server's files, used without a url. */
  folder: string;
}

/**
 * Opens the database; without a url, starts the embedded server first. Adds what must be closed to `undo` as soon as it
 * is open. Throws a StoreError or an EmbeddedServerError, which say how to fix it.
 */
export async function openStore(
  { url, folder, ...options }: DatabaseLocation,
  undo: AsyncDisposableStack,
  log: Logger,
): Promise<{ database: Database; embedded: EmbeddedServer | undefined }> {
  const embedded = url === undefined ? await startEmbeddedServer({ folder, log }) : undefined;
  if (embedded !== undefined) undo.defer(() => embedded.stop());
  const database = await openDatabase({ url, embedded, log, ...options });
  undo.defer(() => database.close());
  return { database, embedded };
}
