import { sql } from 'kysely';

/** So many milliseconds, also fractions of one, as PostgreSQL's interval. */
export function millis(ms: number) {
  return sql`${ms}::float8 * interval '1 ms'`;
}

/** In so many milliseconds, by the database's clock: it goes on while a transaction waits, as `now()` does not. */
export function fromNow(ms: number) {
  return sql<Date>`clock_timestamp() + ${millis(ms)}`;
}

/** So many days before now. */
export function daysAgo(days: number) {
  return sql<Date>`now() - ${days} * interval '1 day'`;
}
