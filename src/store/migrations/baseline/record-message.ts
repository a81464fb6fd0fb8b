/** The functions that write arriving messages. */
export const RECORD_MESSAGE_FUNCTIONS = `
  -- Writes an arriving message down, and its thread, in one statement. Slack is acknowledged after it. decision:
  --   changed: an edit or deletion that the caller has not applied came first; nothing is written
  --   stray: an orphan reply, in a thread that is not ours or from before it was; only its ids are kept
  --   known: it was written before
  --   withdrawn: it is written as withdrawn
  --   waits: it waits behind another message or an open turn
  --   next: it is the first in its thread
  create function record_message(
    in_workspace text, in_channel text, in_thread_ts text, in_ts numeric, in_user_id text, in_account_id text,
    in_content jsonb, in_edited_ts numeric, is_addressed boolean, applied_is_deletion boolean, applied_edited_ts numeric,
    out decision text, out held boolean
  ) language plpgsql as $$
  declare
    root_ts numeric(16,6) := in_thread_ts::numeric;
    edit early_edits%rowtype;
    thread threads%rowtype;
    is_new boolean;
    precedes boolean;
  begin
    held := false;
    -- Whether a reply is an orphan must not depend on a mention that is being written at the same time.
    -- The same lock as Threads.lock(): workspace/channel/root as text.
    perform pg_advisory_xact_lock(hashtextextended(in_workspace || '/' || in_channel || '/' || in_thread_ts, 0));
    select * into edit from early_edits
      where workspace = in_workspace and channel = in_channel and ts = in_ts;
    if found and (applied_is_deletion is null or edit.deleted <> applied_is_deletion
        or edit.edited_ts is distinct from applied_edited_ts) then
      decision := 'changed';
      return;
    end if;
    select * into thread from threads
      where workspace = in_workspace and channel = in_channel and root = root_ts;
    is_new := not found or thread.dormant;
    -- What people said to each other before the mention is no message for us, whenever it arrives.
    precedes := not is_new and in_ts < thread.began_ts;
    if not is_addressed and (is_new or precedes) then
      insert into orphan_replies (workspace, channel, root, ts) values (in_workspace, in_channel, root_ts, in_ts)
        on conflict do nothing;
      decision := 'stray';
      return;
    end if;
    if precedes then
      update threads set began_ts = in_ts
        where workspace = in_workspace and channel = in_channel and root = root_ts;
    elsif is_new then
      insert into threads (workspace, channel, root, account, starter, began_ts)
        values (in_workspace, in_channel, root_ts, in_account_id, in_user_id, in_ts)
        on conflict (workspace, channel, root)
        do update set dormant = false, began_ts = excluded.began_ts, starter = excluded.starter;
    end if;
    insert into messages (workspace, channel, ts, root, person, state, words, edited_ts)
      values (in_workspace, in_channel, in_ts, root_ts, in_user_id,
        case when applied_is_deletion then 'withdrawn' else 'waiting' end, in_content, in_edited_ts)
      on conflict (workspace, channel, ts) do nothing;
    if not found then
      decision := 'known';
      return;
    end if;
    if applied_is_deletion then
      decision := 'withdrawn';
      return;
    end if;
    held := thread.paused_by_turn_id is not null;
    if exists (
      select from messages where workspace = in_workspace and channel = in_channel and root = root_ts
        and state in ('waiting', 'sending') and ts < in_ts
    ) or exists (
      select from turns where workspace = in_workspace and channel = in_channel and root = root_ts
        and finished_at is null
    ) then
      decision := 'waits';
    else
      decision := 'next';
    end if;
  end $$;

  -- Several messages in one transaction, in one order of their threads, so that no two such transactions deadlock.
  create function record_messages(in_messages json)
  returns table (place integer, decision text, held boolean) language sql as $$
    select one.place, answer.decision, answer.held
    from (
      select * from json_to_recordset(in_messages) as arrived (
        place integer, workspace text, channel text, root text, ts numeric, person text, account text,
        words jsonb, edited_ts numeric, is_addressed boolean, applied_is_deletion boolean, applied_edited_ts numeric)
      order by workspace, channel, root, place
      offset 0
    ) as one
    cross join lateral record_message(one.workspace, one.channel, one.root, one.ts, one.person, one.account,
      one.words, one.edited_ts, one.is_addressed, one.applied_is_deletion, one.applied_edited_ts) as answer
  $$;
`;
