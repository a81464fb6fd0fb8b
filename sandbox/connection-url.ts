import type { ServerConnection } from '../src/postgres/data-folder.ts';

/** The DATABASE_URL of a database of the server. */
export function connectionUrl({ host, port, user, password, database }: ServerConnection): string {
  const credentials = [user, password].map(encodeURIComponent).join(':');
  return `postgres://${credentials}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
}
