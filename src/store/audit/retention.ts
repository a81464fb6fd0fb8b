import { type Kysely, type RawBuilder, sql } from 'kysely';
import { daysAgo } from '../clock.ts';
import type { Tables } from '../schema.ts';
import { Accounts } from '../workspaces/accounts.ts';
import { AuditTrail } from './audit-trail.ts';
import { Erasure } from './erasure.ts';

/** How long what is kept, in days. */
export interface RetentionDays {
  /** People's words after the turn is done: so long a failed turn can be tried again. */
  words: number;
  /** Messages, turns and posts after that; never less than Slack's redelivery of 24 hours. */
  rows: number;
  /** The audit trail. */
  audit: number;
  /** All rows of a workspace after the app was uninstalled there. */
  uninstalled: number;
}

/** Rows that one statement touches at most, so that nothing is held for long. */
const BATCH_SIZE = 1_000;

/** What is deleted when its time is over. */
export class Retention {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Deletes what is due; the answer is how many rows were touched. */
  async deleteExpired(days: RetentionDays): Promise<number> {
    let touched = 0;
    for (const statement of [
      ...LEFTOVER_DELETIONS,
      ...contentErasures(daysAgo(days.words)),
      ...rowDeletions(daysAgo(days.rows)),
    ]) {
      const { numAffectedRows } = await statement.execute(this.#db);
      touched += Number(numAffectedRows ?? 0);
    }
    touched += await new AuditTrail(this.#db).deleteExpired(days.audit);
    touched += await new Accounts(this.#db).deleteUnusedKeys();
    touched += await new Erasure(this.#db).eraseUninstalled(days.uninstalled);
    return touched;
  }
}

/** What is of no use any more after a while. */
const LEFTOVER_DELETIONS = [
  sql`delete from orphan_replies where received_at < now() - interval '10 minutes'`,
  sql`delete from early_edits where received_at < now() - interval '2 days'`,
  sql`delete from backfills where queued_at < now() - interval '3 days'`,
  sql`delete from socket_leases where expires_at < now() - interval '1 hour'`,
  // A lane that nobody used for so long is as good as new.
  sql`delete from rate_limits where greatest(theoretical_arrival_at, blocked_until) < now() - interval '1 day'`,
  sql`delete from used_oauth_states where used_at < now() - interval '1 day'`,
  sql`delete from uploads where started_at < now() - interval '7 days'`,
  // A form that nobody sent is dropped with what it is about; one that could not be posted was given up long ago.
  sql`
    delete from task_starts where made_at < now() - case
      when state = 'draft' and words is null then interval '2 hours' else interval '2 days' end`,
  sql`delete from task_deletions where told_at < now() - interval '7 days'`,
  sql`delete from follow_ups where ends_at < now() - interval '1 day'`,
];

const isDone = sql`messages.state not in ('waiting', 'sending')`;

/** Files that wait for the next message keep what must go along with it: where they lie. */
const isKeptFile = sql`(outcome is not distinct from 'kept' and files_sent_with_turn_id is null)`;
const notesWithoutNames = sql`(select jsonb_agg(note || '{"name": ""}') from jsonb_array_elements(file_notes) as note)`;

/** People's words that were said, or whose turn ended, before `then`. */
function contentErasures(then: RawBuilder<Date>) {
  return [
    // What is held and nobody lets go would stay for ever.
    sql`
      update messages set state = 'withdrawn', words = null where (workspace, channel, ts) in (
        select messages.workspace, messages.channel, messages.ts from messages
        join threads using (workspace, channel, root)
        where messages.state = 'waiting' and messages.resends is null and threads.paused_by_turn_id is not null
          and messages.received_at < ${then} limit ${BATCH_SIZE})`,
    sql`
      update threads set paused_by_turn_id = null where paused_by_turn_id is not null and not exists (
        select from messages where messages.workspace = threads.workspace
          and messages.channel = threads.channel and messages.root = threads.root
          and messages.state = 'waiting' and messages.resends is null)`,
    sql`
      update messages set words = null where (workspace, channel, ts) in (
        select workspace, channel, ts from messages
        where words is not null and ${isDone} and received_at < ${then} limit ${BATCH_SIZE})`,
    sql`
      update turns set content = null, file_notes = case when ${isKeptFile} then ${notesWithoutNames} end,
        skill = case when user_message_id is not null then skill end
      where (workspace, id) in (
        select workspace, id from turns
        where finished_at < ${then}
          and (content is not null or file_notes is not null and not (${isKeptFile} and file_notes = ${notesWithoutNames}))
        limit ${BATCH_SIZE})`,
    sql`
      update threads set task_title = null, model = case when task_id is not null then model end
      where (workspace, channel, root) in (
        select workspace, channel, root from threads
        where task_title is not null and last_used_at < ${then} and not exists (
          select from turns where turns.workspace = threads.workspace and turns.channel = threads.channel
            and turns.root = threads.root and turns.finished_at is null)
        limit ${BATCH_SIZE})`,
    sql`
      update feedback set comment = null where (workspace, turn, person) in (
        select workspace, turn, person from feedback
        where comment is not null and given_at < ${then} limit ${BATCH_SIZE})`,
  ];
}

/** Rows of what was over before `then`. */
function rowDeletions(then: RawBuilder<Date>) {
  return [
    sql`
      delete from feedback where (workspace, turn, person) in (
        select workspace, turn, person from feedback where given_at < ${then} limit ${BATCH_SIZE})`,
    sql`
      delete from posts where (workspace, turn) in (
        select workspace, id from turns where finished_at < ${then} limit ${BATCH_SIZE})`,
    sql`
      delete from slack_files where (workspace, turn) in (
        select workspace, id from turns where finished_at < ${then} limit ${BATCH_SIZE})`,
    sql`
      delete from turns where (workspace, id) in (
        select workspace, id from turns
        where finished_at < ${then}
          and not exists (select from posts where posts.workspace = turns.workspace and posts.turn = turns.id)
        limit ${BATCH_SIZE})`,
    sql`
      delete from messages where (workspace, channel, ts) in (
        select workspace, channel, ts from messages
        where ${isDone} and received_at < ${then} limit ${BATCH_SIZE})`,
  ];
}
