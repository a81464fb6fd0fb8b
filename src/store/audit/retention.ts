import { type RawBuilder, sql } from 'kysely';
import { daysAgo } from '../clock.ts';
import { Queries } from '../queries.ts';
import { Accounts } from '../workspaces/accounts.ts';
import { AuditTrail } from './audit-trail.ts';
import { Erasure } from './erasure.ts';

/** How many days data is kept. */
export interface RetentionDays {
  /** People's text after the turn has ended; until then a failed turn can be retried. */
  words: number;
  /** The rows of messages, turns and posts; never less than the 24 hours in which Slack redelivers events. */
  rows: number;
  /** The audit trail. */
  audit: number;
  /** All rows of a workspace after it uninstalled the app. */
  uninstalled: number;
}

/** The most rows of one statement, so that no lock is held for long. */
const BATCH_SIZE = 1_000;

/** Erases and deletes what is past its retention time. */
export class Retention extends Queries {
  /** Erases and deletes what is due; returns the number of affected rows. */
  async deleteExpired(days: RetentionDays): Promise<number> {
    let affected = 0;
    for (const statement of [
      ...LEFTOVER_DELETIONS,
      ...contentErasures(daysAgo(days.words)),
      ...rowDeletions(daysAgo(days.rows)),
    ]) {
      const { numAffectedRows } = await statement.execute(this.db);
      affected += Number(numAffectedRows ?? 0);
    }
    affected += await new AuditTrail(this.db).deleteExpired(days.audit);
    affected += await new Accounts(this.db).deleteUnusedKeys();
    affected += await new Erasure(this.db).eraseUninstalled(days.uninstalled);
    return affected;
  }
}

/** Short-lived rows that are no longer needed. */
const LEFTOVER_DELETIONS = [
  sql`delete from orphan_replies where received_at < now() - interval '10 minutes'`,
  sql`delete from early_edits where received_at < now() - interval '2 days'`,
  sql`delete from backfills where queued_at < now() - interval '3 days'`,
  sql`delete from socket_leases where expires_at < now() - interval '1 hour'`,
  // A rate limit unused for a day is the same as a new one.
  sql`delete from rate_limits where greatest(theoretical_arrival_at, blocked_until) < now() - interval '1 day'`,
  sql`delete from used_oauth_states where used_at < now() - interval '1 day'`,
  sql`delete from uploads where started_at < now() - interval '7 days'`,
  // A form that was never sent, or a question that was given up.
  sql`
    delete from task_starts where created_at < now() - case
      when state = 'draft' and content is null then interval '2 hours' else interval '2 days' end`,
  sql`delete from task_deletions where notified_at < now() - interval '7 days'`,
  sql`delete from follow_ups where ends_at < now() - interval '1 day'`,
];

const isDone = sql`messages.state not in ('waiting', 'sending')`;

/** Files that wait for the next message: their notes keep the links, which are sent with it. */
const isKeptFile = sql`(outcome is not distinct from 'kept' and files_sent_with_turn_id is null)`;
const notesWithoutNames = sql`(select jsonb_agg(note || '{"name": ""}') from jsonb_array_elements(file_notes) as note)`;

/** Erases people's text that was written, or whose turn ended, before `then`. */
function contentErasures(then: RawBuilder<Date>) {
  return [
    // Paused messages that nobody resumes would stay forever.
    sql`
      update messages set state = 'withdrawn', content = null where (workspace, channel, ts) in (
        select messages.workspace, messages.channel, messages.ts from messages
        join threads using (workspace, channel, thread_ts)
        where messages.state = 'waiting' and messages.resends_turn_id is null and threads.paused_by_turn_id is not null
          and messages.received_at < ${then} limit ${BATCH_SIZE})`,
    sql`
      update threads set paused_by_turn_id = null where paused_by_turn_id is not null and not exists (
        select from messages where messages.workspace = threads.workspace
          and messages.channel = threads.channel and messages.thread_ts = threads.thread_ts
          and messages.state = 'waiting' and messages.resends_turn_id is null)`,
    sql`
      update messages set content = null where (workspace, channel, ts) in (
        select workspace, channel, ts from messages
        where content is not null and ${isDone} and received_at < ${then} limit ${BATCH_SIZE})`,
    sql`
      update turns set prompt = null, file_notes = case when ${isKeptFile} then ${notesWithoutNames} end,
        skill = case when user_message_id is not null then skill end
      where (workspace, id) in (
        select workspace, id from turns
        where finished_at < ${then}
          and (prompt is not null or file_notes is not null and not (${isKeptFile} and file_notes = ${notesWithoutNames}))
        limit ${BATCH_SIZE})`,
    sql`
      update threads set task_title = null, task_model = case when task_id is not null then task_model end
      where (workspace, channel, thread_ts) in (
        select workspace, channel, thread_ts from threads
        where task_title is not null and last_used_at < ${then} and not exists (
          select from turns where turns.workspace = threads.workspace and turns.channel = threads.channel
            and turns.thread_ts = threads.thread_ts and turns.finished_at is null)
        limit ${BATCH_SIZE})`,
    sql`
      update feedback set comment = null where (workspace, turn_id, user_id) in (
        select workspace, turn_id, user_id from feedback
        where comment is not null and given_at < ${then} limit ${BATCH_SIZE})`,
  ];
}

/** Deletes the rows of what ended before `then`. */
function rowDeletions(then: RawBuilder<Date>) {
  return [
    sql`
      delete from feedback where (workspace, turn_id, user_id) in (
        select workspace, turn_id, user_id from feedback where given_at < ${then} limit ${BATCH_SIZE})`,
    sql`
      delete from posts where (workspace, turn_id) in (
        select workspace, id from turns where finished_at < ${then} limit ${BATCH_SIZE})`,
    sql`
      delete from slack_files where (workspace, turn_id) in (
        select workspace, id from turns where finished_at < ${then} limit ${BATCH_SIZE})`,
    sql`
      delete from turns where (workspace, id) in (
        select workspace, id from turns
        where finished_at < ${then}
          and not exists (select from posts where posts.workspace = turns.workspace and posts.turn_id = turns.id)
        limit ${BATCH_SIZE})`,
    sql`
      delete from messages where (workspace, channel, ts) in (
        select workspace, channel, ts from messages
        where ${isDone} and received_at < ${then} limit ${BATCH_SIZE})`,
  ];
}
