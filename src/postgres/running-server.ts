import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { DATABASE_NAME } from './data-folder.ts';
import type { EmbeddedServer } from './embedded-server.ts';
import { hasOwner } from './owner-lock.ts';

/** The connection of the embedded server that another process runs on these files, if any. */
export async function findRunningServer(folder: string): Promise<EmbeddedServer['connection'] | undefined> {
  const file = path.join(path.resolve(folder), 'postgres', 'postmaster.pid');
  const host = (await readFile(file, 'utf8').catch(() => '')).split('\n')[4]?.trim() ?? '';
  if ((await hasOwner(host)) !== true) return undefined;
  return { host, port: 5432, user: DATABASE_NAME, database: DATABASE_NAME };
}
