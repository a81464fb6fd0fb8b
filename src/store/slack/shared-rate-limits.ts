import { type Kysely, sql } from 'kysely';
import { fromNow, millis } from '../clock.ts';
import type { Tables } from '../schema.ts';

/**
 * The pace of a lane: `perMinute` permits spread evenly, of which up to `burst` may be had at once. No sliding
 * minute sees more than `perMinute + burst` of them.
 */
export interface PermitRate {
  perMinute: number;
  burst: number;
}

/** How much slower a refusal makes a lane, for all processes alike, and how it comes back to its pace. */
export const BACKOFF = {
  /** What a refusal leaves of the pace. */
  refusalFactor: 0.8,
  minFactor: 0.3,
  /** Of the full pace: one refusal costs a minute. A refusal of one call in a hundred leaves a busy lane 0.8 of it. */
  recoveryPerMinute: 0.2,
  /** Refusals of requests that were on their way together count once (ms). */
  sameRefusalMs: 2_000,
} as const;

/** How much of its pace a lane has now; a clock that went back does not stop it. */
const currentFactor = sql`least(1, greatest(${BACKOFF.minFactor}::float8, rate_limit.rate_factor + ${BACKOFF.recoveryPerMinute}::float8
  * extract(epoch from clock_timestamp() - rate_limit.rate_reduced_at)::float8 / 60))`;

/**
 * Permits for calls that are limited per workspace, shared by all processes: a GCRA with one row per lane, on the
 * database's clock.
 */
export class SharedRateLimits {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /**
   * Asks for one permit: 0 when it is granted, else the milliseconds until asking again is worth it. Callers of one
   * lane may ask with different paces; a deeper `burst` gets permits that a shallow one is refused. In a lane that was
   * slowed, each permit costs more, but the room for a burst stays that of its pace: nobody gets ahead of the others.
   */
  async take(workspace: string, lane: string, rate: PermitRate): Promise<number> {
    const costMs = 60_000 / rate.perMinute;
    const roomMs = costMs * (rate.burst - 1);
    // The row is locked by the conflict, and only then decided on: `where` and `set` see its newest version and read
    // the clock after the wait for the lock. The wait that is answered to a refusal is an estimate and may be stale.
    const { rows } = await sql<{ granted: boolean; waitMs: number | null }>`
      with granted as (
        insert into rate_limits as rate_limit (workspace, limit_key, theoretical_arrival_at)
        values (${workspace}, ${lane}, ${fromNow(costMs)})
        on conflict (workspace, limit_key) do update
          set theoretical_arrival_at = greatest(rate_limit.theoretical_arrival_at, clock_timestamp()) + ${millis(costMs)} / ${currentFactor}
          where rate_limit.theoretical_arrival_at <= ${fromNow(roomMs)} and rate_limit.blocked_until <= clock_timestamp()
        returning theoretical_arrival_at
      )
      select
        exists (select from granted) as granted,
        (select extract(epoch from greatest(theoretical_arrival_at - ${millis(roomMs)}, blocked_until) - clock_timestamp())::float8 * 1000
          from rate_limits where workspace = ${workspace} and limit_key = ${lane}) as "waitMs"
    `.execute(this.#db);
    const row = rows[0];
    return row?.granted === true ? 0 : Math.max(1, Math.ceil(row?.waitMs ?? 1));
  }

  /** A 429 was answered: refuses everybody in the lane for this long, and slows it. A longer hold stays. */
  async hold(workspace: string, lane: string, holdMs: number): Promise<void> {
    const counted = sql`rate_limit.rate_reduced_at > clock_timestamp() - ${millis(BACKOFF.sameRefusalMs)}`;
    await sql`
      insert into rate_limits as rate_limit (workspace, limit_key, blocked_until, rate_factor, rate_reduced_at)
      values (${workspace}, ${lane}, ${fromNow(holdMs)}, ${BACKOFF.refusalFactor}, clock_timestamp())
      on conflict (workspace, limit_key) do update set
        blocked_until = greatest(rate_limit.blocked_until, excluded.blocked_until),
        rate_factor = case when ${counted} then rate_limit.rate_factor
          else greatest(${BACKOFF.minFactor}::float8, ${currentFactor} * ${BACKOFF.refusalFactor}::float8) end,
        rate_reduced_at = case when ${counted} then rate_limit.rate_reduced_at else clock_timestamp() end
    `.execute(this.#db);
  }
}
