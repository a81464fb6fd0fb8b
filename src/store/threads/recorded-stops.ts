import { sql, type Updateable } from 'kysely';
import { isInstalled, isTurn, placeInWorkspace } from '../filters.ts';
import { Queries } from '../queries.ts';
import type { SlackTs, Tables, Turn, TurnId } from '../schema.ts';

/** A person's request to stop a turn. */
export interface StopRequest {
  workspace: string;
  turn_id: string;
  user_id: string;
  /** When, by Slack's clock: a request that is delivered again counts once. */
  ts: SlackTs;
}

/** What a request means; `waits`: the stop was requested before, and it is too early to force it. */
export interface StopRequestResult {
  kind: 'asked' | 'same' | 'waits' | 'forced';
  turn: Turn;
}

/** Requests to stop turns, and what became of them. */
export class StopRequests extends Queries {
  /**
   * Records a request, in a transaction; undefined if the turn is over. The first person who asked stays recorded.
   * Another request forces the stop from `forceAfterSeconds` after the first.
   */
  async record(
    { workspace, turn_id: id, user_id, ts }: StopRequest,
    forceAfterSeconds: number,
  ): Promise<StopRequestResult | undefined> {
    const turn = await this.first(sql<Turn>`
      select * from turns
      where ${isTurn({ workspace, id })} and settled_at is null and finished_at is null for update`);
    if (turn === undefined) return undefined;
    if (turn.stop_requested_at === null) {
      const set = { stop_requested_by: user_id, stop_requested_at: new Date(), stop_requested_ts: ts };
      return { kind: 'asked', turn: await this.#update(turn, set) };
    }
    const sinceSeconds =
      Number(ts) - Number(turn.stop_requested_ts ?? turn.stop_requested_at.getTime() / 1_000);
    if (sinceSeconds <= 0 || turn.force_stop_requested_at !== null) return { kind: 'same', turn };
    if (sinceSeconds < forceAfterSeconds) return { kind: 'waits', turn };
    return { kind: 'forced', turn: await this.#update(turn, { force_stop_requested_at: new Date() }) };
  }

  /** The service has accepted a stop. */
  async markSent(turn: TurnId, how: 'graceful' | 'forced'): Promise<void> {
    await this.#update(
      turn,
      how === 'forced' ? { force_stop_sent_at: new Date() } : { stop_sent_at: new Date() },
    );
  }

  /**
   * Turns of all threads whose stop was requested and that have not settled: of each workspace some, in turn, and those
   * first whose stop the service does not know.
   */
  async unsettled(limit: number): Promise<Turn[]> {
    const isSent = sql`stop_sent_at is not null and (force_stop_requested_at is null or force_stop_sent_at is not null)`;
    return this.rows(sql<Turn>`
      with stopping as (
        select workspace, id, ${placeInWorkspace(sql`${isSent}, random()`)} from turns
        where ${isStopOpen}
      )
      select turns.* from turns join stopping using (workspace, id) order by place, id limit ${limit}`);
  }

  async #update(turn: TurnId, values: Updateable<Tables['turns']>): Promise<Turn> {
    const update = this.db.updateTable('turns').set(values).where(isTurn(turn));
    return update.returningAll().executeTakeFirstOrThrow();
  }
}

/** Whether a turn's stop was requested and it has not settled. For the table of turns. */
export const isStopOpen = sql<boolean>`stop_requested_at is not null and finished_at is null and settled_at is null and ${isInstalled}`;
