import { type Kysely, sql } from 'kysely';

/**
 * The audit trail. The database itself writes what happens to turns and messages into it, in the transaction in which
 * it happens, so that no way through the code can leave it out; and it lets nobody change what stands there, but for
 * the two reasons that a transaction must name: `expire` (rows whose time is over) and `forget` (whose they are).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table turns
      add column skill text,
      add column tools jsonb,
      add column takeovers integer not null default 0`.execute(db);
  await sql`
    create table audit (
      workspace text not null,
      id bigint generated always as identity,
      at timestamptz not null default clock_timestamp(),
      kind text not null,
      person text,
      channel text,
      root numeric(16,6),
      turn uuid,
      task text,
      details jsonb not null default '{}',
      primary key (workspace, id)
    )`.execute(db);
  await sql`create index audit_at on audit (at, id)`.execute(db);
  await guard(db);
  await turns(db);
  await messages(db);
}

async function guard(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function audit_guard() returns trigger language plpgsql as $$
    declare reason text := coalesce(current_setting('taskthread.audit', true), '');
    begin
      if tg_op = 'DELETE' and reason in ('expire', 'forget') then return old; end if;
      if tg_op = 'UPDATE' and reason = 'forget'
        and (to_jsonb(new) - 'person' - 'details') = (to_jsonb(old) - 'person' - 'details')
        and (new.details - 'stoppedBy') = (old.details - 'stoppedBy')
        and new.person is null then return new; end if;
      raise exception 'the audit trail is only added to';
    end $$`.execute(db);
  await sql`
    create trigger audit_guard before update or delete on audit
    for each row execute function audit_guard()`.execute(db);
  await sql`
    create trigger audit_guard_all before truncate on audit
    for each statement execute function audit_guard()`.execute(db);
}

async function turns(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function audit_turn() returns trigger language plpgsql as $$
    declare its_task text := (
      select task_id from threads
      where threads.workspace = new.workspace and threads.channel = new.channel and threads.root = new.root);
    begin
      if old.stop_asked_at is null and new.stop_asked_at is not null then
        insert into audit (workspace, kind, person, channel, root, turn, task)
        values (new.workspace, 'stop', new.stop_asked_by, new.channel, new.root, new.id, its_task);
      end if;
      if old.finished_at is null and new.finished_at is not null then
        insert into audit (workspace, kind, person, channel, root, turn, task, details)
        values (new.workspace, 'turn', new.asker, new.channel, new.root, new.id, its_task, jsonb_build_object(
          'message', new.message_ts::text,
          'outcome', new.outcome,
          'sent', new.user_message_id is not null,
          'skill', new.skill,
          'tools', coalesce(new.tools, '{}'),
          'filesIn', jsonb_array_length(coalesce(new.attached, '[]')),
          'bytesIn', new.bytes_up,
          'filesOut', (
            select count(*) from results where results.workspace = new.workspace and results.turn = new.id),
          'seconds', round(extract(epoch from new.finished_at - new.started_at)::numeric, 1),
          'retries', new.takeovers,
          'stoppedBy', new.stop_asked_by));
      end if;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger audit_turn after update of stop_asked_at, finished_at on turns
    for each row execute function audit_turn()`.execute(db);
}

async function messages(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function audit_withdrawal() returns trigger language plpgsql as $$
    begin
      insert into audit (workspace, kind, person, channel, root, details)
      values (new.workspace, 'withdrawal', new.person, new.channel, new.root,
        jsonb_build_object('message', new.ts::text));
      return null;
    end $$`.execute(db);
  await sql`
    create trigger audit_withdrawal after update of state on messages
    for each row when (new.state = 'withdrawn' and old.state <> 'withdrawn')
    execute function audit_withdrawal()`.execute(db);
}
