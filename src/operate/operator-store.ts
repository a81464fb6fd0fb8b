import { pino } from 'pino';
import type { Config } from '../config.ts';
import { type EmbeddedServer, findRunningServer, startEmbeddedServer } from '../postgres/embedded-server.ts';
import { openDatabase } from '../store/database.ts';
import { Store } from '../store/store.ts';

/**
 * Runs an operator's command on the database of the settings. An embedded one is shared with the process that runs it,
 * or started for the duration of the command.
 */
export async function withOperatorStore<T>(
  config: Pick<Config, 'DATABASE_URL' | 'DATA_FOLDER'>,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const log = pino({ level: 'silent' });
  await using cleanup = new AsyncDisposableStack();
  const server =
    config.DATABASE_URL === undefined ? await startOrJoinEmbedded(config.DATA_FOLDER) : undefined;
  if (server !== undefined) cleanup.defer(() => server.stop());
  const database = await openDatabase({
    ...(server === undefined ? {} : { embedded: server }),
    ...(config.DATABASE_URL === undefined ? {} : { url: config.DATABASE_URL }),
    log,
    maxConnections: 2,
  });
  cleanup.defer(() => database.close());
  return await work(new Store(database.kysely));

  async function startOrJoinEmbedded(folder: string): Promise<EmbeddedServer> {
    const connection = await findRunningServer(folder);
    if (connection === undefined) return startEmbeddedServer({ folder, log });
    return { connection, lost: new Promise(() => undefined), stop: async () => undefined };
  }
}
