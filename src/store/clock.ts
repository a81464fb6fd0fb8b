import { sql } from 'kysely';

/** A number of milliseconds, fractions included, as PostgreSQL's interval. */
export function millis(ms: number) {
  return sql`${ms}::float8 * interval '1 ms'`;
}

/** A time `ms` from now, by the database's clock, which advances during a transaction (`now()` does not). */
export function fromNow(ms: number) {
  return sql<Date>`clock_timestamp() + ${millis(ms)}`;
}

/** A time `days` ago. */
export function daysAgo(days: number) {
  return sql<Date>`now() - ${days} * interval '1 day'`;
}
