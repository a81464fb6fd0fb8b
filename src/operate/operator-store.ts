import { pino } from 'pino';
import type { Config } from '../config.ts';
import { openDatabase } from '../store/database.ts';
import { type EmbeddedServer, startEmbedded } from '../store/embedded.ts';
import { runningEmbedded } from '../store/embedded-running.ts';
import { Store } from '../store/store.ts';

/**
 * Runs an operator's command on the database of the settings. An embedded one is used beside the process that runs
 * it, or started for as long as the command takes.
 */
export async function withStore<T>(
  config: Pick<Config, 'DATABASE_URL' | 'DATA_FOLDER'>,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const log = pino({ level: 'silent' });
  await using undo = new AsyncDisposableStack();
  const place = config.DATABASE_URL === undefined ? await embedded(config.DATA_FOLDER) : undefined;
  if (place !== undefined) undo.defer(() => place.stop());
  const database = await openDatabase({
    ...(place === undefined ? {} : { embedded: place }),
    ...(config.DATABASE_URL === undefined ? {} : { url: config.DATABASE_URL }),
    log,
    maxConnections: 2,
  });
  undo.defer(() => database.close());
  return await work(new Store(database.kysely));

  async function embedded(folder: string): Promise<EmbeddedServer> {
    const connection = await runningEmbedded(folder);
    if (connection === undefined) return startEmbedded({ folder, log });
    return { connection, lost: new Promise(() => undefined), stop: async () => undefined };
  }
}
