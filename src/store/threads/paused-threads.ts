import { sql } from 'kysely';
import { hasTurn, inThread, isWaiting } from '../filters.ts';
import type { ThreadKey } from '../keys.ts';
import { Queries } from '../queries.ts';
import type { Message, SlackTs, Turn } from '../schema.ts';

/** Excludes a turn that only tries to forward its message. */
const isNotForwarding = sql<boolean>`not (forwarded_by_turn_id is not null and user_message_id is null and finished_at is null)`;

/** A message that waits, and that no button sent again. */
const isOrdinary = sql<boolean>`${isWaiting} and resends_turn_id is null`;

/** Threads whose waiting messages are paused because a turn was stopped. Call all methods under the thread's lock. */
export class PausedThreads extends Queries {
  /** Pauses the messages that wait behind a turn, if there are any and the thread is not paused. */
  async pause(turn: Turn): Promise<void> {
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

  /** Messages that wait for a turn of their own, those being forwarded included; without those that a button sent again. */
  async waitingMessages(thread: ThreadKey): Promise<Message[]> {
    return this.rows(sql<Message>`
      select * from messages where ${inThread(thread)} and ${isOrdinary} and not ${hasTurn(isNotForwarding)} order by ts`);
  }
}
