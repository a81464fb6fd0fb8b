import type { ServerConnection } from '../src/postgres/data-folder.ts';

/** The DATABASE_URL of a database of the server. */
export function connectionUrl({ host, port, user, password, database }: ServerConnection): string {
  return `postgres://${user}:${password}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
}
