import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { EmbeddedServer } from './embedded.ts';
import { DATABASE_NAME } from './embedded-data.ts';
import { hasOwner } from './embedded-owner.ts';

/** How to reach the embedded server that another process runs on these files; undefined where none does. */
export async function findRunningServer(folder: string): Promise<EmbeddedServer['connection'] | undefined> {
  const file = path.join(path.resolve(folder), 'postgres', 'postmaster.pid');
  const host = (await readFile(file, 'utf8').catch(() => '')).split('\n')[4]?.trim() ?? '';
  if ((await hasOwner(host)) !== true) return undefined;
  return { host, port: 5432, user: DATABASE_NAME, database: DATABASE_NAME };
}
