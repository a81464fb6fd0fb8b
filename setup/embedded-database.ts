import type { Config } from '../src/config/environment-and-secret-files.ts';
import { UsageError } from '../src/operate/command-runner.ts';

/** The folder of the embedded database. Throws UsageError if the settings name another database. */
export function requireEmbeddedDatabase(
  { DATABASE_URL, DATA_FOLDER }: Pick<Config, 'DATABASE_URL' | 'DATA_FOLDER'>,
  usage: string,
): string {
  if (DATABASE_URL === undefined) return DATA_FOLDER;
  throw new UsageError(
    usage,
    'DATABASE_URL is set. Use pg_dump and pg_restore for that database: docs/operations.md, "Backup and restore".',
  );
}

/** Does work that Ctrl+C and SIGTERM end, however often they come; it removes what it has begun, and this throws. */
export async function runInterruptible(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => interrupted.abort(new Error('interrupted. Nothing has changed.')));
  try {
    await work(interrupted.signal);
  } catch (error) {
    throw interrupted.signal.aborted ? interrupted.signal.reason : error;
  }
}
