import { pino } from 'pino';
import type { Config } from '../config.ts';
import { startEmbeddedServer } from '../postgres/embedded-server.ts';
import { findRunningServer } from '../postgres/running-server.ts';
import { openDatabase } from '../store/database.ts';
import { Store } from '../store/store.ts';

/** Runs a command on the database of the settings. An embedded one is shared with a running process, or started. */
export async function withOperatorStore<T>(
  config: Pick<Config, 'DATABASE_URL' | 'DATA_FOLDER'>,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const log = pino({ level: 'silent' });
  await using cleanup = new AsyncDisposableStack();
  const { DATABASE_URL: url, DATA_FOLDER: folder } = config;
  const running = url === undefined ? await findRunningServer(folder) : undefined;
  const ours =
    url === undefined && running === undefined ? await startEmbeddedServer({ folder, log }) : undefined;
  if (ours !== undefined) cleanup.defer(() => ours.stop());
  const database = await openDatabase({
    url,
    embedded: running === undefined ? ours : { connection: running },
    log,
    isCommand: true,
  });
  cleanup.defer(() => database.close());
  return await work(new Store(database.kysely));
}
