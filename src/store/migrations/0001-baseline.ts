import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { RECORD_MESSAGE_FUNCTION } from '../threads/record-message.ts';
import { TASK_INDEXES, TASK_TABLES, TASK_WORDS } from './baseline/task-tables.ts';
import { THREAD_INDEXES, THREAD_TABLES, THREAD_WORDS } from './baseline/thread-tables.ts';
import { WORKSPACE_INDEXES, WORKSPACE_TABLES, WORKSPACE_WORDS } from './baseline/workspace-tables.ts';

/** Each table by its columns and constraints. */
export const DEFINITIONS = { ...WORKSPACE_TABLES, ...THREAD_TABLES, ...TASK_TABLES };
/** The words of each domain that holds one of a few. */
export const WORDS = { ...WORKSPACE_WORDS, ...THREAD_WORDS, ...TASK_WORDS };

const DOMAINS = Object.entries(WORDS).map(
  ([name, words]) => `create domain ${name} as text check (value in ('${words.join("', '")}'));`,
);

/** Orders the changes of workspaces, installations and accounts, so that other processes notice them. */
const CHANGE_SEQUENCE = 'create sequence installation_change_seq;';

const TABLES = Object.entries(DEFINITIONS).map(([name, definition]) => {
  const parts = Object.entries(definition).map(([part, text]) => `${part} ${text}`);
  return `create table ${name} (${parts.join(', ')});`;
});

/** The triggers that write the audit trail and protect it: no code path can leave an event out, or change one. */
const AUDIT_TRIGGERS = `
  -- Audit events are only added, but that refusals are counted. A transaction that changes more must name one of two reasons:
  -- select set_config('taskthread.audit_change', 'expire' | 'forget', true)
  create function forbid_audit_change() returns trigger language plpgsql as $$
  declare reason text := coalesce(current_setting('taskthread.audit_change', true), '');
  begin
    if tg_op = 'DELETE' and reason in ('expire', 'forget') then return old; end if;
    if tg_op = 'UPDATE' and reason = 'forget'
      and (to_jsonb(new) - 'user_id' - 'details') = (to_jsonb(old) - 'user_id' - 'details')
      and (new.details - 'stoppedBy') = (old.details - 'stoppedBy')
      and coalesce(new.user_id, old.user_id) is not distinct from old.user_id then return new; end if;
    if tg_op = 'UPDATE' and old.kind = 'refusal' and (to_jsonb(new) - 'details') = (to_jsonb(old) - 'details')
      and (new.details - 'count') = (old.details - 'count')
      and (new.details->>'count')::integer > coalesce((old.details->>'count')::integer, 1) then return new; end if;
    raise exception 'the audit trail is only added to';
  end $$;
  create trigger forbid_audit_change before update or delete on audit_events
    for each row execute function forbid_audit_change();
  create trigger forbid_audit_truncate before truncate on audit_events
    for each statement execute function forbid_audit_change();

  -- The model and the skill are recorded only once the service has accepted them: until then they are text that a person typed.
  create function audit_turn() returns trigger language plpgsql as $$
  declare its threads%rowtype;
  begin
    select * into its from threads
      where threads.workspace = new.workspace and threads.channel = new.channel and threads.thread_ts = new.thread_ts;
    if old.stop_requested_at is null and new.stop_requested_at is not null then
      insert into audit_events (workspace, kind, user_id, channel, thread_ts, turn_id, task_id)
      values (new.workspace, 'stop', new.stop_requested_by, new.channel, new.thread_ts, new.id, its.task_id);
    end if;
    if old.finished_at is null and new.finished_at is not null then
      insert into audit_events (workspace, kind, user_id, channel, thread_ts, turn_id, task_id, details)
      values (new.workspace, 'turn', nullif(new.asked_by, ''), new.channel, new.thread_ts, new.id, its.task_id, jsonb_build_object(
        'message', new.message_ts::text,
        'sentWith', (
          select coalesce(jsonb_agg(ts::text order by ts), '[]') from messages
          where messages.workspace = new.workspace and messages.channel = new.channel
            and messages.sent_with_ts = new.message_ts),
        'outcome', new.outcome,
        'sent', new.phase = 'ended',
        'model', case when coalesce(new.task_id, its.task_id) is not null then its.task_model end,
        'skill', case when new.phase = 'ended' then new.skill end,
        'tools', coalesce(new.tool_counts, '{}'),
        'filesIn', jsonb_array_length(coalesce(new.attached_file_ids, '[]')),
        'bytesIn', new.uploaded_bytes,
        'filesOut', (
          select count(*) from posted_results
          where posted_results.workspace = new.workspace and posted_results.channel = new.channel
            and posted_results.thread_ts = new.thread_ts and posted_results.turn_id = new.id
            and batch not like 'review:%'),
        'seconds', round(extract(epoch from new.finished_at - new.started_at)::numeric, 1),
        'retries', new.takeovers,
        'stoppedBy', new.stop_requested_by));
    end if;
    return null;
  end $$;
  create trigger audit_turn after update of stop_requested_at, finished_at on turns
    for each row execute function audit_turn();

  create function audit_withdrawal() returns trigger language plpgsql as $$
  begin
    insert into audit_events (workspace, kind, user_id, channel, thread_ts, details)
    values (new.workspace, 'withdrawal', nullif(new.user_id, ''), new.channel, new.thread_ts,
      jsonb_build_object('message', new.ts::text));
    return null;
  end $$;
  create trigger audit_withdrawal after update of state on messages
    for each row when (new.state = 'withdrawn' and old.state <> 'withdrawn')
    execute function audit_withdrawal();
`;

const STATEMENTS = [
  ...DOMAINS,
  CHANGE_SEQUENCE,
  ...TABLES,
  ...[WORKSPACE_INDEXES, THREAD_INDEXES, TASK_INDEXES, RECORD_MESSAGE_FUNCTION, AUDIT_TRIGGERS],
];

/** The same for the same SQL, whatever its comments and spaces. */
export function fingerprintOf(statements: readonly string[]): string {
  const text = statements.join('\n').replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ');
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** Which tables, functions and triggers this baseline makes. */
export const FINGERPRINT = fingerprintOf(STATEMENTS);

/** Creates every table, function and trigger of the first release. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statements of STATEMENTS) await sql.raw(statements).execute(db);
}
