import type { Logger } from 'pino';
import { type EmbeddedServer, startEmbeddedServer } from '../postgres/embedded-server.ts';
import { type Database, openDatabase } from './database.ts';

/** Where the database is. */
export interface DatabaseLocation {
  /** A PostgreSQL that runs already. */
  url: string | undefined;
  /** The folder of the embedded server's files, where there is no url. */
  folder: string;
}

/**
 * Opens the database, and starts the embedded server where no other is named. What has to be closed is added to
 * `undo` as soon as it is open. Throws a StoreError that says what to mend.
 */
export async function openStore(
  { url, folder }: DatabaseLocation,
  undo: AsyncDisposableStack,
  log: Logger,
): Promise<{ database: Database; embedded: EmbeddedServer | undefined }> {
  if (url !== undefined) {
    const database = await openDatabase({ url, log });
    undo.defer(() => database.close());
    return { database, embedded: undefined };
  }
  const embedded = await startEmbeddedServer({ folder, log });
  undo.defer(() => embedded.stop());
  const database = await openDatabase({ embedded, log });
  undo.defer(() => database.close());
  return { database, embedded };
}
