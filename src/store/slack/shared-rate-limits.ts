import { type RawBuilder, sql } from 'kysely';
import { MAX_RETRY_AFTER_MS } from '../../calls/retries-and-waits.ts';
import { fromNow, Queries } from '../queries.ts';
import { BACKOFF, currentFactor, reducedRate } from './backoff-after-429.ts';

/** Until when a limit lasts; a time that is further away than it can be (ms) was set before the clock went back. */
const until = (time: RawBuilder<unknown>, mostMs: number) =>
  sql`case when ${time} <= ${fromNow(mostMs)} then ${time} else 'epoch' end`;
/** The slowest limit has a permit a minute and a burst of five, and 429s leave a third of it. */
const arrival = until(sql.raw('rate_limit.theoretical_arrival_at'), 10 * 60_000);
const blockedUntil = until(sql.raw('rate_limit.blocked_until'), MAX_RETRY_AFTER_MS);

/** A request for a permit that the next statement takes. */
interface PendingTake {
  workspace: string;
  limitKey: string;
  costMs: number;
  roomMs: number;
  answer: PromiseWithResolvers<number>;
}

/**
 * Permits for calls that Slack limits per workspace, shared by all processes: GCRA with one row per limit, by the
 * database's clock.
 */
export class SharedRateLimits extends Queries {
  /** What was asked since the last statement, by limit. */
  #pending = new Map<string, PendingTake>();

  /**
   * Requests one of `perMinute` permits spread evenly, of which up to `burst` are granted at once: 0 if it is granted, else the
   * milliseconds until the next request is worthwhile. No sliding minute has more than `perMinute + burst`. Callers may
   * use different rates for one limit; a larger `burst` gets permits that a smaller one does not. With a reduced rate,
   * each permit costs more, but the burst stays that of the full rate: no caller gets ahead of the others. What is
   * asked at one moment takes one statement.
   */
  take(
    workspace: string,
    limitKey: string,
    { perMinute, burst }: { perMinute: number; burst: number },
  ): Promise<number> {
    const name = `${workspace} ${limitKey}`;
    if (this.#pending.size === 0 || this.#pending.has(name)) {
      const pending = new Map<string, PendingTake>();
      this.#pending = pending;
      setImmediate(() => void this.#takeAll(pending));
    }
    const costMs = 60_000 / perMinute;
    const answer = Promise.withResolvers<number>();
    this.#pending.set(name, { workspace, limitKey, costMs, roomMs: costMs * (burst - 1), answer });
    return answer.promise;
  }

  async #takeAll(pending: Map<string, PendingTake>): Promise<void> {
    if (this.#pending === pending) this.#pending = new Map();
    const takes = [...pending.values()];
    try {
      const answers = await this.#ask(takes);
      for (const [index, { answer }] of takes.entries()) {
        const { granted, waitMs } = answers[index] ?? { granted: false, waitMs: null };
        answer.resolve(granted ? 0 : Math.max(1, Math.ceil(waitMs ?? 1)));
      }
    } catch (error) {
      for (const { answer } of takes) answer.reject(error);
    }
  }

  /**
   * The conflict locks a row before the decision, in the same order for all processes: `where` and `set` see its newest
   * version and read the clock after the wait for the lock. The returned wait is an estimate and may be out of date.
   */
  async #ask(takes: readonly PendingTake[]): Promise<{ granted: boolean; waitMs: number | null }[]> {
    const asked = (column: 'cost' | 'room') => sql`(
      select ${sql.ref(column)} from asked
      where (asked.workspace, asked.limit_key) = (rate_limit.workspace, rate_limit.limit_key))`;
    return this.rows(sql<{ granted: boolean; waitMs: number | null }>`
      with asked as (
        select place, workspace, limit_key, cost_ms * interval '1 ms' as cost, room_ms * interval '1 ms' as room
        from unnest(${takes.map((take) => take.workspace)}::text[], ${takes.map(({ limitKey }) => limitKey)}::text[],
          ${takes.map(({ costMs }) => costMs)}::float8[], ${takes.map(({ roomMs }) => roomMs)}::float8[])
          with ordinality as given (workspace, limit_key, cost_ms, room_ms, place)),
      granted as (
        insert into rate_limits as rate_limit (workspace, limit_key, theoretical_arrival_at)
        select workspace, limit_key, clock_timestamp() + cost from asked order by workspace, limit_key
        on conflict (workspace, limit_key) do update
          set theoretical_arrival_at = greatest(${arrival}, clock_timestamp()) + ${asked('cost')} / ${currentFactor}
          where ${arrival} <= clock_timestamp() + ${asked('room')} and ${blockedUntil} <= clock_timestamp()
        returning workspace, limit_key)
      select granted.workspace is not null as granted,
        extract(epoch from greatest(${arrival} - room, ${blockedUntil}) - clock_timestamp())::float8 * 1000 as "waitMs"
      from asked left join granted using (workspace, limit_key) left join rate_limits as rate_limit using (workspace, limit_key)
      order by place`);
  }

  /** Slack answered 429: blocks the limit for all processes for `pauseMs`, and reduces its rate. A longer block stays. */
  async pause(workspace: string, limitKey: string, pauseMs: number): Promise<void> {
    await sql`
      insert into rate_limits as rate_limit (workspace, limit_key, blocked_until, rate_factor, rate_reduced_at)
      values (${workspace}, ${limitKey}, ${fromNow(pauseMs)}, ${BACKOFF.refusalFactor}, clock_timestamp())
      on conflict (workspace, limit_key) do update set
        blocked_until = greatest(${blockedUntil}, excluded.blocked_until), ${reducedRate}
    `.execute(this.db);
  }
}
