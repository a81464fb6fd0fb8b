import { sql, type Updateable } from 'kysely';
import { hasTurn, inThread, isInstalled, isTurn, isWaiting, Queries } from '../queries.ts';
import type { Message, SlackTs, Tables, ThreadKey, Turn, TurnId } from '../schema.ts';
import { hasSent, isAtWork, isOpenTurn } from './turn-phase.ts';

/** Requests to stop turns, and what became of them. */
export class StopRequests extends Queries {
  /**
   * Records a person's request, in a transaction; undefined if the turn is over. The first person who asked stays recorded; a
   * request of the same ts counts once. Another one forces the stop from `forceAfterSeconds` after the first; before, the stop
   * was `already_asked` for. `isBackground`: it is about what the task still does after the turn; `sendsWaiting`: what waits is
   * sent instead, so that the stop pauses nothing.
   */
  async record(
    {
      workspace,
      turn_id: id,
      user_id,
      ts,
    }: Pick<Message, 'workspace' | 'user_id' | 'ts'> & { turn_id: string },
    forceAfterSeconds: number,
    { isBackground = false, sendsWaiting = false } = {},
  ): Promise<{ kind: 'asked' | 'same' | 'already_asked' | 'forced'; turn: Turn } | undefined> {
    const turn = await this.first(sql<Turn>`
      select * from turns
      where ${isTurn({ workspace, id })}
        and (${isBackground} or ${isAtWork}) for update`);
    if (turn === undefined) return undefined;
    if (turn.stop_requested_at === null) {
      const set = {
        ...{ stop_requested_by: user_id, stop_requested_at: new Date(), stop_requested_ts: ts },
        stop_sends_waiting: sendsWaiting,
      };
      return { kind: 'asked', turn: await this.#update(turn, set) };
    }
    const sinceSeconds =
      Number(ts) - Number(turn.stop_requested_ts ?? turn.stop_requested_at.getTime() / 1_000);
    if (sinceSeconds === 0 && turn.stop_requested_by === user_id) return { kind: 'same', turn };
    // Who pressed at the same moment may have pressed a little earlier.
    if (sinceSeconds < forceAfterSeconds || turn.force_stop_requested_at !== null)
      return { kind: 'already_asked', turn };
    return { kind: 'forced', turn: await this.#update(turn, { force_stop_requested_at: new Date() }) };
  }

  /** The service has accepted a stop. */
  async markSent(turn: TurnId, how: 'graceful' | 'forced'): Promise<void> {
    await this.#update(
      turn,
      how === 'forced' ? { force_stop_sent_at: new Date() } : { stop_sent_at: new Date() },
    );
  }

  /** Turns whose stop has not settled: of each workspace some, in turn, and first those whose stop the service does not know. */
  async unsettled(limit: number): Promise<Turn[]> {
    const isSent = sql`stop_sent_at is not null and (force_stop_requested_at is null or force_stop_sent_at is not null)`;
    return this.rows(sql<Turn>`
      with stopping as (
        select workspace, id, row_number() over (partition by workspace order by ${isSent}, random()) as place
        from turns where ${isStopOpen}
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

/** Excludes a turn whose message a run only tries to pass on. */
const isNotBeingPassedOn = sql<boolean>`not (passed_on_by_turn_id is not null and not ${hasSent} and ${isOpenTurn})`;

/** A message that waits, and that no button sent again. */
const isOrdinary = sql<boolean>`${isWaiting} and resends_turn_id is null`;

/** Threads whose waiting messages are paused because a turn was stopped. Call all methods under the thread's lock. */
export class PausedThreads extends Queries {
  /** Pauses the messages that wait behind a stopped turn, if there are any and the thread is not paused. */
  async pause(turn: Turn): Promise<void> {
    if (turn.stop_sends_waiting) return;
    await this.changes(sql`
      update threads set paused_by_turn_id = coalesce(paused_by_turn_id, ${turn.id}) where ${inThread(turn)} and exists (
        select from messages where ${inThread(turn)} and ${isOrdinary} and ts <> ${turn.message_ts})`);
  }

  /** The stopped turn that paused the thread, if it is paused. */
  async pausedBy(thread: ThreadKey): Promise<string | undefined> {
    const row = await this.first(sql<{ paused_by_turn_id: string | null }>`
      select paused_by_turn_id from threads where ${inThread(thread)}`);
    return row?.paused_by_turn_id ?? undefined;
  }

  /** Resumes a thread that this turn paused; false if it did not. */
  async resume(thread: ThreadKey, turnId: string): Promise<boolean> {
    return this.changes(sql`
      update threads set paused_by_turn_id = null where ${inThread(thread)} and paused_by_turn_id = ${turnId}`);
  }

  /** Resumes a thread that this turn paused if only the message `ts` waits; false if more does. */
  async resumeIfNothingElseWaits(thread: ThreadKey, turnId: string, ts: SlackTs): Promise<boolean> {
    const waiting = await this.waitingMessages(thread);
    return waiting.every((message) => message.ts === ts) && (await this.resume(thread, turnId));
  }

  /** Messages that wait for a turn of their own, or are being passed on; not those that a button resent. */
  async waitingMessages(thread: ThreadKey): Promise<Message[]> {
    return this.rows(sql<Message>`
      select * from messages where ${inThread(thread)} and ${isOrdinary} and not ${hasTurn(isNotBeingPassedOn)} order by ts`);
  }
}
