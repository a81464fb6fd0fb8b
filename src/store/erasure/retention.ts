import { type RawBuilder, sql } from 'kysely';
import { sleepUnlessAborted } from '../../calls/retries-and-waits.ts';
import { allowAuditChange } from '../audit-trail.ts';
import { StoreError } from '../errors.ts';
import { countChanges, daysAgo, hasTurn, isUnsent, Queries, sameThread } from '../queries.ts';
import type { ThreadKey } from '../schema.ts';
import { hasSent, isOpenTurn } from '../threads/turn-phase.ts';
import { Accounts } from '../workspaces/accounts.ts';
import { WorkspaceErasure } from './workspace-erasure.ts';

/** How many days data is kept. */
export interface RetentionDays {
  /** People's text after the turn has ended; until then a failed turn can be retried. */
  words: number;
  /** The rows of messages, turns and posts; never less than the 24 hours in which Slack redelivers events. */
  rows: number;
  /** The audit trail; threads that nobody uses, and which files the service has, not less than `rows`. */
  audit: number;
  /** All rows of a workspace after it uninstalled the app. */
  uninstalled: number;
}

/** The most rows of one statement, so that no lock is held for long. */
const BATCH_SIZE = 1_000;
/** In the text of a statement, where every plan of it counts with the limit. */
const batchSize = sql.lit(BATCH_SIZE);

/** Erases and deletes what is past its retention time. */
export class Retention extends Queries {
  /**
   * Erases and deletes all that is due, in steps of at most 1,000 rows with pauses as long as the steps: others work
   * meanwhile. Returns the number of affected rows. `signal` ends it after the current step. A step that fails keeps no
   * other from its work; `onFailed` gets its name. Throws a StoreError in an outage.
   */
  async deleteExpired(
    days: RetentionDays,
    { signal, onFailed }: { signal?: AbortSignal; onFailed?: (step: string, error: unknown) => void } = {},
  ): Promise<number> {
    const long = daysAgo(Math.max(days.audit, days.rows));
    const statements = {
      ...LEFTOVER_DELETIONS,
      // A deleted message must not be sent again as long as its words are kept.
      pending_edits: deletion(
        'pending_edits',
        sql`received_at < now() - interval '2 days' and (not is_deletion or received_at < ${daysAgo(days.words + 1)})`,
        'received_at',
      ),
      ...contentErasures(daysAgo(days.words)),
      ...rowDeletions(daysAgo(days.rows)),
      uploads: deletion('uploads', sql`started_at < ${long}`, 'started_at'),
      abandoned_uploads: deletion('uploads', isAbandoned, 'started_at'),
    };
    const whileFull = (step: () => Promise<number>) => () => repeatWhileFull(step, signal);
    const steps = [
      ...Object.entries(statements).map(
        ([name, statement]) => [name, whileFull(() => countChanges(this.db, statement))] as const,
      ),
      ['threads', whileFull(() => this.#deleteUnusedThreads(long))],
      ['audit_events', whileFull(() => this.#deleteAuditEvents(daysAgo(days.audit)))],
      ['keys', () => new Accounts(this.db).deleteUnusedKeys()],
      ['uninstalled', () => new WorkspaceErasure(this.db).eraseUninstalled(days.uninstalled)],
    ] as const;
    let affected = 0;
    let away: readonly [string, StoreError] | undefined;
    for (const [name, step] of steps) {
      try {
        affected += await step();
      } catch (error) {
        if (error instanceof StoreError) {
          if (away !== undefined) throw error;
          away = [name, error];
          continue;
        }
        onFailed?.(name, error);
      }
      // The database works, so that statement took too long by itself.
      if (away !== undefined) onFailed?.(...away);
      away = undefined;
    }
    return affected;
  }

  /**
   * Deletes threads that nobody has used since `then`, and which results they show. Each is locked before the last look, as
   * where an arriving message is recorded, which would be left without its thread.
   */
  async #deleteUnusedThreads(then: RawBuilder<Date>): Promise<number> {
    const isUnused = sql`task_title is null and last_used_at < ${then}
      and not exists (select from turns where ${sameThread('turns', 'threads')})
      and not exists (select from messages where ${sameThread('messages', 'threads')} and ${isUnsent})
      and not exists (select from jobs where ${sameThread('jobs', 'threads')} and done_at is null)`;
    return this.db.transaction().execute(async (trx) => {
      const { rows } = await sql<ThreadKey>`
        with unused as materialized (
          select workspace, channel, thread_ts from threads where ${isUnused} order by last_used_at limit ${batchSize})
        select * from unused
        where pg_try_advisory_xact_lock(hashtextextended(workspace || '/' || channel || '/' || thread_ts, 0))`.execute(
        trx,
      );
      if (rows.length === 0) return 0;
      const gone = await sql`
        with gone as (
          delete from threads
          using unnest(${rows.map(({ workspace }) => workspace)}::text[], ${rows.map(({ channel }) => channel)}::text[],
            ${rows.map(({ thread_ts }) => thread_ts)}::numeric[]) as unused (workspace, channel, thread_ts)
          where ${sameThread('threads', 'unused')} and ${isUnused} returning threads.workspace, threads.channel, threads.thread_ts
        ), shown as (delete from posted_results using gone where ${sameThread('posted_results', 'gone')})
        select from gone`.execute(trx);
      return gone.rows.length;
    });
  }

  async #deleteAuditEvents(then: RawBuilder<Date>): Promise<number> {
    return this.db.transaction().execute(async (trx) => {
      await allowAuditChange(trx, 'expire');
      return countChanges(trx, deletion('audit_events', sql`at < ${then}`, 'at'));
    });
  }
}

async function repeatWhileFull(step: () => Promise<number>, signal?: AbortSignal): Promise<number> {
  for (let total = 0; ; ) {
    const startedAt = performance.now();
    const affected = signal?.aborted === true ? 0 : await step();
    total += affected;
    if (affected < BATCH_SIZE) return total;
    await sleepUnlessAborted(performance.now() - startedAt, signal);
  }
}

/** The next rows of a table that meet a condition, oldest first; rows that others work on are left out. */
function nextRows(table: string, condition: RawBuilder<unknown>, time: string) {
  return sql`ctid = any (array(
    select ctid from ${sql.table(table)} where ${condition}
    order by ${sql.ref(time)} limit ${batchSize} for update skip locked))`;
}

function deletion(table: string, condition: RawBuilder<unknown>, time: string) {
  return sql`delete from ${sql.table(table)} where ${nextRows(table, condition, time)}`;
}

/** Short-lived rows that are no longer needed. */
const LEFTOVER_DELETIONS = {
  orphan_replies: deletion('orphan_replies', sql`received_at < now() - interval '10 minutes'`, 'received_at'),
  socket_leases: deletion('socket_leases', sql`expires_at < now() - interval '1 hour'`, 'expires_at'),
  // One of another host, or of a container that is gone, whose death nobody could prove.
  processes: deletion('processes', sql`started_at < now() - interval '90 days'`, 'started_at'),
  used_oauth_states: deletion('used_oauth_states', sql`used_at < now() - interval '1 day'`, 'used_at'),
  // One unused for a day is the same as a new one. An index on its times would slow down every permit.
  rate_limits: deletion(
    'rate_limits',
    sql`greatest(theoretical_arrival_at, blocked_until) < now() - interval '1 day'`,
    'theoretical_arrival_at',
  ),
  registry_answers: deletion('registry_answers', sql`expires_at < now()`, 'expires_at'),
  // A form that was never sent, or a question that was given up. Whose words were asked again in a thread, its form tells.
  task_starts: deletion(
    'task_starts',
    sql`created_at < now() - interval '2 hours'
      and (state = 'draft' and content is null or created_at < now() - interval '2 days')
      and not exists (
        select from turns where (turns.workspace, turns.id) = (task_starts.workspace, task_starts.source_turn_id)
          and task_starts.state = 'done' and turns.thread_ts <> task_starts.thread_ts)`,
    'created_at',
  ),
  jobs: deletion('jobs', sql`done_at < now() - interval '7 days'`, 'done_at'),
};

/** Nobody has gone on with an upload for days. */
const isAbandoned = sql`uploaded_at is null and started_at < now() - interval '7 days'`;
/** A message that is over: the turn that sends it may go on for days, and is continued by what it says. */
const isDone = sql`state not in ('waiting', 'sending') and not ${hasTurn(isOpenTurn, sql`coalesce(sent_with_ts, ts)`)}`;
const isUnresumed = sql`messages.state = 'waiting' and messages.resends_turn_id is null`;

/** Files that wait for the next message: their notes keep the links, which are sent with it. */
const isKeptFile = sql`(outcome is not distinct from 'kept' and files_sent_with_turn_id is null)`;
const notesWithoutNames = sql`case when jsonb_typeof(file_notes) = 'array' then
  (select jsonb_agg((note - 'remark') || '{"name": ""}') from jsonb_array_elements(file_notes) as notes (note)) end`;

/** Erases people's text that was written, or whose turn ended, before `then`. */
function contentErasures(then: RawBuilder<Date>) {
  const isPausedFor = sql`${isUnresumed} and received_at < ${then} and exists (
    select from threads where ${sameThread('threads', 'messages')} and threads.paused_by_turn_id is not null)`;
  const hasText = sql`finished_at < ${then} and has_text
    and not (${isKeptFile} and file_notes is not distinct from ${notesWithoutNames})`;
  const hasTitle = sql`task_title is not null and last_used_at < ${then} and not exists (
    select from turns where ${sameThread('turns', 'threads')} and ${isOpenTurn})`;
  return {
    // Paused messages that nobody resumes would stay forever.
    paused_messages: sql`
      update messages set state = 'withdrawn', content = null
      where ${nextRows('messages', isPausedFor, 'received_at')}`,
    pauses: sql`
      update threads set paused_by_turn_id = null where paused_by_turn_id is not null and not exists (
        select from messages where ${sameThread('messages', 'threads')} and ${isUnresumed})`,
    message_texts: sql`
      update messages set content = null
      where ${nextRows('messages', sql`content is not null and ${isDone} and received_at < ${then}`, 'received_at')}`,
    turn_texts: sql`
      update turns set prompt = null, quoted_ids = '{}', file_notes = case when ${isKeptFile} then ${notesWithoutNames} end,
        skill = case when ${hasSent} then skill end, has_text = ${isKeptFile}
      where ${nextRows('turns', hasText, 'finished_at')}`,
    titles: sql`
      update threads set task_title = null, task_model = case when task_id is not null then task_model end
      where ${nextRows('threads', hasTitle, 'last_used_at')}`,
    comments: sql`
      update feedback set comment = null
      where ${nextRows('feedback', sql`comment is not null and given_at < ${then}`, 'given_at')}`,
  };
}

/** The posts of the turns in `due`, found one turn at a time. */
const ofDueTurns = sql`ctid = any (array(
  select theirs.ctid from due cross join lateral (
    select ctid from posts where workspace = due.workspace and turn_id = due.id offset 0) as theirs))`;

/** Deletes the rows of what ended before `then`. */
function rowDeletions(then: RawBuilder<Date>) {
  return {
    feedback: deletion('feedback', sql`given_at < ${then}`, 'given_at'),
    notices: deletion('one_time_notices', sql`user_id <> '' and told_at < ${then}`, 'told_at'),
    turns: sql`
      with due as (
        select ctid as place, workspace, id from turns where finished_at < ${then}
        order by finished_at limit ${batchSize} for update skip locked
      ), posted as (delete from posts where ${ofDueTurns})
      delete from turns where ctid = any (array(select place from due))`,
    messages: deletion('messages', sql`${isDone} and received_at < ${then}`, 'received_at'),
  };
}
