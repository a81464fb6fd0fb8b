import { sql } from 'kysely';

/** How much a 429 reduces a rate, for all processes, and how it recovers. */
export const BACKOFF = {
  /** What a 429 leaves of the rate. */
  refusalFactor: 0.8,
  minFactor: 0.3,
  /** Of the full rate: one 429 costs a minute. With one 429 in a hundred calls, a busy limit keeps 0.8 of its rate. */
  recoveryPerMinute: 0.2,
  /** 429s of requests that were under way together count once (ms). */
  sameRefusalMs: 2_000,
} as const;

/** How long ago the last 429 reduced the rate (s). What was reduced before the clock went back recovers, too. */
const sinceReduced = sql`abs(extract(epoch from clock_timestamp() - rate_limit.rate_reduced_at))::float8`;
/** The share of the full rate now. For the table of rate limits. */
export const currentFactor = sql`least(1, greatest(${BACKOFF.minFactor}::float8,
  rate_limit.rate_factor + ${BACKOFF.recoveryPerMinute}::float8 * ${sinceReduced} / 60))`;

const isSameRefusal = sql`${sinceReduced} < ${BACKOFF.sameRefusalMs / 1_000}::float8`;
/** What a further 429 sets. For the table of rate limits. */
export const reducedRate = sql`
  rate_factor = case when ${isSameRefusal} then rate_limit.rate_factor
    else greatest(${BACKOFF.minFactor}::float8, ${currentFactor} * ${BACKOFF.refusalFactor}::float8) end,
  rate_reduced_at = case when ${isSameRefusal} then rate_limit.rate_reduced_at else clock_timestamp() end`;
