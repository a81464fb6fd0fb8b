import { type Kysely, sql } from 'kysely';

/**
 * Names and titles that are still there are found fast, and the trail's row of a turn tells a model or a skill only
 * where the service took it: one that it does not know is words that somebody typed.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index files_named on files (workspace) where name <> ''`.execute(db);
  await sql`create index threads_titled on threads (last_used_at) where task_title is not null`.execute(db);
  await sql`
    create or replace function audit_turn() returns trigger language plpgsql as $$
    declare its threads%rowtype;
    begin
      select * into its from threads
        where threads.workspace = new.workspace and threads.channel = new.channel and threads.root = new.root;
      if old.stop_asked_at is null and new.stop_asked_at is not null then
        insert into audit (workspace, kind, person, channel, root, turn, task)
        values (new.workspace, 'stop', new.stop_asked_by, new.channel, new.root, new.id, its.task_id);
      end if;
      if old.finished_at is null and new.finished_at is not null then
        insert into audit (workspace, kind, person, channel, root, turn, task, details)
        values (new.workspace, 'turn', new.asker, new.channel, new.root, new.id, its.task_id, jsonb_build_object(
          'message', new.message_ts::text,
          'outcome', new.outcome,
          'sent', new.user_message_id is not null,
          'model', case when coalesce(new.task_id, its.task_id) is not null then its.model end,
          'skill', case when new.user_message_id is not null then new.skill end,
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
}
