import { type Kysely, sql } from 'kysely';
import type { Tables } from './schema.ts';

/** With fewer, turns would have one: a token's renewal would hold it, and wait for another. */
export const LEAST_CONNECTIONS = 5;

/**
 * How many connections to a server a process can have if those are fewer than it is set to (`wanted`), with a sentence that says
 * how to mend that. Throws a StoreError.
 */
export async function connectionLimit(db: Kysely<Tables>, wanted: number) {
  const limit = await serverLimit(db, wanted);
  if (limit === undefined || limit.most >= wanted) return undefined;
  const { most, mend } = limit;
  const lower = most < LEAST_CONNECTIONS ? '' : `, or set DATABASE_CONNECTIONS to ${most} or less`;
  const set = `each process is set to ${wanted} (DATABASE_CONNECTIONS)`;
  return { most, sentence: `Only ${most} connections can be had, and ${set}: ${mend}${lower}.` };
}

/** The lowest limit of our user, the database and the server; undefined for a superuser. */
async function serverLimit(db: Kysely<Tables>, wanted: number) {
  const { rows } = await sql<{ most: number; mend: string }>`
    select most, mend from pg_roles, pg_database, lateral (values
      (rolconnlimit, format('run "alter role %I connection limit %s"', rolname, ${wanted}::int)),
      (datconnlimit, format('run "alter database %I connection limit %s"', datname, ${wanted}::int)),
      (current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
        'raise max_connections of the server')
    ) as limits (most, mend)
    where rolname = session_user and datname = current_database() and most >= 0 and not rolsuper
    order by most limit 1`.execute(db);
  return rows[0];
}
