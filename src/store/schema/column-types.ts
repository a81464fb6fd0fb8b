import type { ColumnType } from 'kysely';

/** A Slack ts, `numeric(16,6)`: compares as a number and comes back as a string with six decimals. */
export type SlackTs = string;

export type TimeColumn = ColumnType<Date, Date | string, Date | string>;
export type NullableTimeColumn = ColumnType<
  Date | null,
  Date | string | null | undefined,
  Date | string | null
>;
/** `jsonb`: written as text, because `pg` would write an array as a PostgreSQL array. */
export type NullableJsonColumn<T> = ColumnType<T | null, string | null | undefined, string | null>;
