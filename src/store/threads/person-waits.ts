import { type RawBuilder, sql } from 'kysely';
import { JOB_KIND, jobInsert, jobWake, OR_WANT_AGAIN } from '../jobs/jobs.ts';
import { inThread, isReply, isTurn, maySend, millis, ofTurn, Queries, sameThread } from '../queries.ts';
import type { PostState, ThreadKey, Turn, TurnId, TurnLocation } from '../schema.ts';
import { END_PART, REMINDER_PART } from './posts.ts';
import { hasSent, isAtWork, isOpenTurn } from './turn-phase.ts';

/** What a turn waits for whose answer is a plan. Other waits have names of their own, by what the run had written. */
export const PLAN_WAIT = 'plan';

/** A turn that waits for a person, or did, and what its thread was told of that. */
export interface PersonWait extends Turn {
  is_open: boolean;
  /** The channel wants no reminders. */
  is_turned_off: boolean;
  /** A line at the turn's end has mentioned who asked. */
  is_end_told: boolean;
  /** Reminders of the thread's other turns in the last hour, those that were taken back included. */
  reminded_lately: number;
  /** For how long it waits (ms). */
  waited_ms: number;
  /** What became of the turn's reminder; null: there was none. */
  reminder: PostState | null;
}

/** Whether a turn waits for a person to answer its open run's question, or its plan. For the table of turns. */
export const waitsForPerson = sql<boolean>`(
  turns.waits_since is not null and turns.stop_requested_at is null
  and (turns.waits_for = ${sql.lit(PLAN_WAIT)} or ${isAtWork})
  and exists (
    select from threads as its where ${sameThread('its', 'turns')} and its.task_id is not distinct from turns.task_id)
  and not exists (
    select from messages
    where ${sameThread('messages', 'turns')} and ${isReply} and messages.ts <> turns.message_ts
      and messages.state in ('waiting', 'sending') and ${maySend})
  and not exists (
    select from turns as answers
    where ${sameThread('answers', 'turns')} and answers.started_at > turns.waits_since and answers.${hasSent}))`;

/** Turns that wait for a person, and the jobs that remind them. */
export class PersonWaits extends Queries {
  /** A turn waits for a person since `quietMs`; a reminder is due after `remindMs` of that. A wait that is known stays as it is. */
  async begin(turn: TurnLocation, wait: string, quietMs: number, remindMs: number): Promise<void> {
    const { workspace, channel, thread_ts, id: key } = turn;
    const job = { workspace, kind: JOB_KIND.reminder, channel, thread_ts, key };
    await this.changes(sql`
      with begun as (
        update turns set waits_for = ${wait}, waits_since = clock_timestamp() - ${millis(quietMs)}
        where ${isTurn(turn)} and waits_for is distinct from ${wait} and stop_requested_at is null
          and ${isOpenTurn} returning 1)
      ${jobInsert(job, Math.max(0, remindMs - quietMs), sql`exists (select from begun)`)} ${OR_WANT_AGAIN}`);
  }

  /** Somebody says stop where a plan waits, if one does: it needs no reminder. */
  async endPlans(thread: ThreadKey): Promise<void> {
    await this.#end(thread, inThread(thread), PLAN_WAIT);
  }

  /** The turn does not wait for this any more: it needs no reminder. */
  async end(turn: TurnLocation, wait: string): Promise<void> {
    await this.#end(turn, isTurn(turn), wait);
  }

  async #end(thread: ThreadKey, which: RawBuilder<boolean>, wait: string): Promise<void> {
    await this.changes(sql`
      with ended as (
        update turns set waits_since = null where ${which} and waits_for = ${wait} and waits_since is not null returning 1)
      ${jobWake(thread, [JOB_KIND.reminder])} and exists (select from ended)`);
  }

  /** The wait of a turn now; undefined if the turn is gone. */
  async get({ workspace, id }: TurnId): Promise<PersonWait | undefined> {
    const post = sql`from posts where ${ofTurn({ workspace, id })}`;
    const isTurnedOff = sql`exists (
      select from settings
      where (settings.workspace, settings.channel) = (turns.workspace, turns.channel) and not send_reminders)`;
    const others = sql`
      select count(*) from turns as others
      where ${sameThread('others', 'turns')} and others.waits_for is not null and others.id <> turns.id and exists (
        select from posts where (posts.workspace, posts.turn_id) = (others.workspace, others.id)
          and part = ${REMINDER_PART} and intended_at > clock_timestamp() - interval '1 hour')`;
    return this.first(sql<PersonWait>`
      select turns.*, ${waitsForPerson} as is_open,
        ${isTurnedOff} as is_turned_off, (${others})::int4 as reminded_lately,
        exists (select ${post} and part = ${END_PART} and state = 'posted') as is_end_told,
        coalesce(extract(epoch from clock_timestamp() - waits_since), 0)::float8 * 1000 as waited_ms,
        (select state ${post} and part = ${REMINDER_PART}) as reminder
      from turns where ${isTurn({ workspace, id })}`);
  }
}
