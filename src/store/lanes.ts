import { type Kysely, sql } from 'kysely';
import type { Tables } from './tables.ts';

/**
 * The pace of a lane: `perMinute` permits spread evenly, of which up to `burst` may be had at once. No sliding
 * minute sees more than `perMinute + burst` of them.
 */
export interface Pace {
  perMinute: number;
  burst: number;
}

/**
 * Permits for calls that are limited per workspace, shared by all processes: a GCRA with one row per lane, on the
 * database's clock.
 */
export class Lanes {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /**
   * Asks for one permit: 0 when it is granted, else the milliseconds until asking again is worth it. Callers of one
   * lane may ask with different paces; a deeper `burst` gets permits that a shallow one is refused.
   */
  async take(workspace: string, lane: string, pace: Pace): Promise<number> {
    const costMs = 60_000 / pace.perMinute;
    const roomMs = costMs * (pace.burst - 1);
    // The row is locked by the conflict, and only then decided on: `where` and `set` see its newest version and read
    // the clock after the wait for the lock. The wait that is answered to a refusal is an estimate and may be stale.
    const { rows } = await sql<{ granted: boolean; waitMs: number | null }>`
      with granted as (
        insert into lanes as lane (workspace, lane, tat)
        values (${workspace}, ${lane}, clock_timestamp() + ${ms(costMs)})
        on conflict (workspace, lane) do update
          set tat = greatest(lane.tat, clock_timestamp()) + ${ms(costMs)}
          where lane.tat <= clock_timestamp() + ${ms(roomMs)} and lane.held_until <= clock_timestamp()
        returning tat
      )
      select
        exists (select from granted) as granted,
        (select extract(epoch from greatest(tat - ${ms(roomMs)}, held_until) - clock_timestamp())::float8 * 1000
          from lanes where workspace = ${workspace} and lane = ${lane}) as "waitMs"
    `.execute(this.#db);
    const row = rows[0];
    return row?.granted === true ? 0 : Math.max(1, Math.ceil(row?.waitMs ?? 1));
  }

  /** Refuses everybody in the lane for this long: a 429 was answered. A longer hold stays. */
  async hold(workspace: string, lane: string, holdMs: number): Promise<void> {
    await sql`
      insert into lanes as lane (workspace, lane, held_until)
      values (${workspace}, ${lane}, clock_timestamp() + ${ms(holdMs)})
      on conflict (workspace, lane) do update
        set held_until = greatest(lane.held_until, excluded.held_until)
    `.execute(this.#db);
  }
}

function ms(value: number) {
  return sql`${value}::float8 * interval '1 ms'`;
}
