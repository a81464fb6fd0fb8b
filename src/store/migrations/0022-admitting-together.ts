import { type Kysely, sql } from 'kysely';

/**
 * `admit` is `admit_message` (0014), which older processes go on with, and tells besides whether what waits in the thread
 * is held. `admit_all` takes messages together, in one transaction; in one order of their threads, so that no two such
 * transactions wait for each other.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function admit(
      in_workspace text, in_channel text, in_root text, in_ts numeric, in_person text, in_account text,
      in_words jsonb, in_edited_ts numeric, addressed boolean, obeyed_deleted boolean, obeyed_ts numeric,
      out decision text, out held boolean
    ) language plpgsql as $$
    declare
      thread_root numeric(16,6) := in_root::numeric;
      change early_changes%rowtype;
      thread threads%rowtype;
      is_new boolean;
      precedes boolean;
    begin
      held := false;
      -- Whether a reply is a stray must not depend on a mention that is being written at the same time.
      perform pg_advisory_xact_lock(hashtextextended(in_workspace || '/' || in_channel || '/' || in_root, 0));
      select * into change from early_changes
        where workspace = in_workspace and channel = in_channel and ts = in_ts;
      if found and (obeyed_deleted is null or change.deleted <> obeyed_deleted
          or change.edited_ts is distinct from obeyed_ts) then
        decision := 'changed';
        return;
      end if;
      select * into thread from threads
        where workspace = in_workspace and channel = in_channel and root = thread_root;
      is_new := not found or thread.dormant;
      -- What people said to each other before the mention is no message for us, whenever it arrives.
      precedes := not is_new and in_ts < thread.began_ts;
      if not addressed and (is_new or precedes) then
        insert into strays (workspace, channel, root, ts) values (in_workspace, in_channel, thread_root, in_ts)
          on conflict do nothing;
        decision := 'stray';
        return;
      end if;
      if precedes then
        update threads set began_ts = in_ts
          where workspace = in_workspace and channel = in_channel and root = thread_root;
      elsif is_new then
        insert into threads (workspace, channel, root, account, starter, began_ts)
          values (in_workspace, in_channel, thread_root, in_account, in_person, in_ts)
          on conflict (workspace, channel, root)
          do update set dormant = false, began_ts = excluded.began_ts, starter = excluded.starter;
      end if;
      insert into messages (workspace, channel, ts, root, person, state, words, edited_ts)
        values (in_workspace, in_channel, in_ts, thread_root, in_person,
          case when obeyed_deleted then 'withdrawn' else 'waiting' end, in_words, in_edited_ts)
        on conflict (workspace, channel, ts) do nothing;
      if not found then
        decision := 'known';
        return;
      end if;
      if obeyed_deleted then
        decision := 'withdrawn';
        return;
      end if;
      held := thread.held_turn is not null;
      if exists (
        select from messages where workspace = in_workspace and channel = in_channel and root = thread_root
          and state in ('waiting', 'sending') and ts < in_ts
      ) or exists (
        select from turns where workspace = in_workspace and channel = in_channel and root = thread_root
          and finished_at is null
      ) then
        decision := 'waits';
      else
        decision := 'next';
      end if;
    end $$`.execute(db);
  await sql`
    create function admit_all(in_arrived json)
    returns table (place integer, decision text, held boolean) language sql as $$
      select one.place, answer.decision, answer.held
      from (
        select * from json_to_recordset(in_arrived) as arrived (
          place integer, workspace text, channel text, root text, ts numeric, person text, account text, words jsonb,
          edited_ts numeric, addressed boolean, obeyed_deleted boolean, obeyed_ts numeric)
        order by workspace, channel, root, place
        offset 0
      ) as one
      cross join lateral admit(one.workspace, one.channel, one.root, one.ts, one.person, one.account, one.words,
        one.edited_ts, one.addressed, one.obeyed_deleted, one.obeyed_ts) as answer
    $$`.execute(db);
}
