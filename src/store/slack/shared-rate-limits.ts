import { sql } from 'kysely';
import { fromNow, millis } from '../clock.ts';
import { Queries } from '../queries.ts';

/**
 * A rate: `perMinute` permits spread evenly, of which up to `burst` are granted at once. No sliding minute has more than
 * `perMinute + burst` of them.
 */
export interface PermitRate {
  perMinute: number;
  burst: number;
}

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

/** The share of the full rate now; a clock that went back does not matter. */
const currentFactor = sql`least(1, greatest(${BACKOFF.minFactor}::float8, rate_limit.rate_factor + ${BACKOFF.recoveryPerMinute}::float8
  * extract(epoch from clock_timestamp() - rate_limit.rate_reduced_at)::float8 / 60))`;

/**
 * Permits for calls that Slack limits per workspace, shared by all processes: GCRA with one row per limit, by the
 * database's clock.
 */
export class SharedRateLimits extends Queries {
  /**
   * Requests one permit: 0 if it is granted, else the milliseconds until the next request is worthwhile. Callers may
   * use different rates for one limit; a larger `burst` gets permits that a smaller one does not. With a reduced rate,
   * each permit costs more, but the burst stays that of the full rate: no caller gets ahead of the others.
   */
  async take(workspace: string, lane: string, rate: PermitRate): Promise<number> {
    const costMs = 60_000 / rate.perMinute;
    const roomMs = costMs * (rate.burst - 1);
    // The conflict locks the row before the decision: `where` and `set` see its newest version and read the clock after
    // the wait for the lock. The returned wait is an estimate and may be out of date.
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
    `.execute(this.db);
    const row = rows[0];
    return row?.granted === true ? 0 : Math.max(1, Math.ceil(row?.waitMs ?? 1));
  }

  /** Slack answered 429: blocks the limit for all processes for `pauseMs`, and reduces its rate. A longer block stays. */
  async pause(workspace: string, lane: string, pauseMs: number): Promise<void> {
    const counted = sql`rate_limit.rate_reduced_at > clock_timestamp() - ${millis(BACKOFF.sameRefusalMs)}`;
    await sql`
      insert into rate_limits as rate_limit (workspace, limit_key, blocked_until, rate_factor, rate_reduced_at)
      values (${workspace}, ${lane}, ${fromNow(pauseMs)}, ${BACKOFF.refusalFactor}, clock_timestamp())
      on conflict (workspace, limit_key) do update set
        blocked_until = greatest(rate_limit.blocked_until, excluded.blocked_until),
        rate_factor = case when ${counted} then rate_limit.rate_factor
          else greatest(${BACKOFF.minFactor}::float8, ${currentFactor} * ${BACKOFF.refusalFactor}::float8) end,
        rate_reduced_at = case when ${counted} then rate_limit.rate_reduced_at else clock_timestamp() end
    `.execute(this.db);
  }
}
