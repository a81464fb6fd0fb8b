import type pg from 'pg';

/** How much history there is, and whose. */
export interface HistoryOptions {
  turns: number;
  /** The workspace that measures; the others have as many turns each. */
  workspace: string;
  /** The channel of the workspace that measures; its others have as many turns each. */
  channel: string;
  /** 200 by default, with 40 channels each. */
  workspaces?: number;
  channels?: number;
  /** People's text is kept for so many days. */
  textDays?: number;
}

/** How far the history goes back (days). */
export const HISTORY_DAYS = 89;
/** Threads of one transaction. */
const BATCH_SIZE = 50_000;

/** A part of the history, in batches of threads: `$1` to `$2` of `$3`. `$4` of `$5` is the workspace, `$6` of `$7` the channel; `$8` are the days of text, `$9` is the end. */
const THREADS = `
  with numbered as (
    select thread,
      case when thread % $5::integer = 0 then $4::text else 'THISTORY' || thread % $5 end as workspace,
      case when thread / $5 % $7::integer = 0 then $6::text else 'CHISTORY' || thread / $5 % $7 end as channel,
      'UHISTORY' || thread / $5 % 30 as person,
      $9::timestamptz - ${HISTORY_DAYS} * interval '1 day' * (1 - thread::float8 / $3) as at
    from generate_series($1::integer, $2::integer - 1) as thread
  ), history as (
    select *, (extract(epoch from date_trunc('second', at)) + thread % 1000000 / 1000000.0)::numeric(16,6) as thread_ts,
      at > $9 - $8::integer * interval '1 day' as has_text
    from numbered)`;

/** Each thread has two turns; the second comes ten minutes after the first. */
const TURNS = `${THREADS}, asked as (
    select *, thread_ts + number * 600 as ts, at + number * interval '10 minutes' as asked_at,
      (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008000'
        || lpad(to_hex(thread * 2 + number), 12, '0'))::uuid as id
    from history cross join generate_series(0, 1) as number)`;

const STATEMENTS = [
  `${THREADS} insert into threads (workspace, channel, thread_ts, account_id, started_by, adopted_ts, project_id, task_id,
      task_title, task_started_at, participant_ids, last_used_at, created_at)
    select workspace, channel, thread_ts, 'settings', person, thread_ts, 'prj_' || workspace || channel, 'tsk_' || thread,
      case when has_text then 'A question about a table' end, at, array[person], at, at from history`,
  `${TURNS} insert into messages (workspace, channel, ts, thread_ts, said_ts, user_id, state, content, received_at)
    select workspace, channel, ts, thread_ts, ts, person, 'sent',
      case when has_text then jsonb_build_object('text', repeat('What does this table say? ', 8)) end, asked_at from asked`,
  `${TURNS} insert into turns (workspace, id, channel, thread_ts, message_ts, asked_by, prompt, has_text, user_message_id,
      assistant_message_id, outcome, first_visible_at, settled_at, results_posted_at, finished_at, started_at)
    select workspace, id, channel, thread_ts, ts, person, case when has_text then repeat('What does this table say? ', 8) end, has_text,
      'msg_u' || id, 'msg_a' || id, 'completed', asked_at, asked_at, asked_at, asked_at + interval '1 minute', asked_at
    from asked`,
  `${TURNS} insert into posts (workspace, turn_id, part, dedupe_key, channel, thread_ts, state, ts, intended_at)
    select workspace, id, part, id || '/' || part, channel, thread_ts, 'posted', ts + place, asked_at
    from asked cross join (values ('reply:0', 1), ('results:0', 2)) as parts (part, place)`,
  `${THREADS} insert into posted_results (workspace, channel, thread_ts, result_id, turn_id, posted_at)
    select workspace, channel, thread_ts, 'res_' || thread, gen_random_uuid(), at from history`,
  `${TURNS} insert into audit_events (workspace, at, kind, user_id, channel, thread_ts, turn_id, task_id)
    select workspace, asked_at, 'turn', person, channel, thread_ts, id, 'tsk_' || thread from asked`,
  `${TURNS} insert into feedback (workspace, turn_id, user_id, is_positive, given_at)
    select workspace, id, person, thread % 3 > 0, asked_at from asked where thread % 10 = 0`,
  `${THREADS} insert into one_time_notices (workspace, channel, notice)
    select distinct workspace, channel, 'introduction' from history on conflict do nothing`,
  `${THREADS} insert into rate_limits (workspace, limit_key, theoretical_arrival_at)
    select distinct workspace, 'chat.postMessage/' || channel, $9::timestamptz from history on conflict do nothing`,
];

/** Writes the history of about three months into an app's database, the same each time, and updates its statistics. */
export async function fillHistory(client: pg.ClientBase, options: HistoryOptions): Promise<void> {
  const { turns, workspace, channel, workspaces = 200, channels = 40, textDays = 7 } = options;
  const threads = Math.ceil(turns / 2);
  const end = new Date();
  for (let first = 0; first < threads; first += BATCH_SIZE) {
    const last = Math.min(threads, first + BATCH_SIZE);
    const values = [first, last, threads, workspace, workspaces, channel, channels, textDays, end];
    for (const statement of STATEMENTS) await client.query(statement, values);
  }
  await client.query('vacuum analyze');
}

/** What was read of the tables that hold the history. */
export interface HistoryReads {
  table: string;
  rows: number;
  sequentialScans: number;
  /** Rows that scans of the table and of its indexes returned. */
  rowsRead: number;
}

/**
 * What was read of the tables with at least `minRows` rows since `pg_stat_reset()`. Exact once the connections that read
 * are closed.
 */
export async function historyReads(client: pg.ClientBase, minRows: number): Promise<HistoryReads[]> {
  const { rows } = await client.query<HistoryReads>(
    `select tables.relname as table, reltuples::int as rows, coalesce(seq_scan, 0)::int as "sequentialScans",
      (coalesce(seq_tup_read, 0) + (
        select coalesce(sum(idx_tup_read), 0) from pg_stat_user_indexes as ours where ours.relid = tables.relid))::int as "rowsRead"
    from pg_stat_user_tables as tables join pg_class on pg_class.oid = tables.relid where reltuples >= $1 order by 1`,
    [minRows],
  );
  return rows;
}
