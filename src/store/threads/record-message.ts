/** The function that writes arriving messages, as the first release has it: a change to it is a new migration. */
export const RECORD_MESSAGE_FUNCTION = `
  -- The ids of the files of a message.
  create function file_ids_in(content jsonb) returns text[] language sql immutable
    as $$ select array(select file ->> 'id' from jsonb_path_query(content, '$.files[*]') as file where file ->> 'id' is not null) $$;

  -- Writes an arriving message down, its thread and the job of its turns, in one statement. Slack is acknowledged after it. decision:
  --   limited: people have set where the bot answers, and the caller has not checked that; nothing is written
  --   changed: an edit or deletion that the caller has not applied came first, or the thread became ours since the
  --     caller decided on in_state; nothing is written
  --   orphan: an orphan reply, in a thread that is not ours or from before it was; only its ids are kept
  --   unsent: it is not for the agent; only its ids are kept
  --   known: it was written before; known_ts: as this message
  --   withdrawn: it is written as withdrawn
  --   waits: it waits behind another message or an open turn
  --   next: it is the first in its thread
  -- job: the thread's, if it was asked for; a new one has the caller's claim
  create function record_message(
    in_workspace text, in_channel text, in_thread_ts text, in_ts numeric, in_user_id text, in_account_id text,
    in_content jsonb, in_edited_ts numeric, in_state text, is_addressed boolean, applied_is_deletion boolean, applied_edited_ts numeric,
    in_is_partial boolean, in_client_msg_id text, is_place_checked boolean, in_claim_id uuid, in_holder uuid, in_hold_ms float8,
    out decision text, out is_paused boolean, out known_ts numeric, out job jobs
  ) language plpgsql as $$
  declare
    root numeric(16,6) := in_thread_ts::numeric;
    edit pending_edits%rowtype;
    thread threads%rowtype;
    is_new boolean;
    precedes boolean;
    is_busy boolean;
    stopped_turn uuid;
  begin
    is_paused := false;
    if not is_place_checked and exists (
      select from settings where workspace = in_workspace and channel in ('', in_channel)
        and num_nonnulls(answers_in, answers_in_channels, direct_messages, group_messages, answers_here) > 0
    ) then
      decision := 'limited';
      return;
    end if;
    -- Whether a reply is an orphan must not depend on a mention that is being written at the same time.
    -- The same lock as Threads.lock(): workspace/channel/thread_ts as text.
    perform pg_advisory_xact_lock(hashtextextended(in_workspace || '/' || in_channel || '/' || in_thread_ts, 0));
    -- A client that sends a message again gives it another ts, and so another thread.
    if in_client_msg_id is not null then
      perform pg_advisory_xact_lock(hashtextextended(in_workspace || '/' || in_channel || '#' || in_client_msg_id, 0));
      select ts into known_ts from messages
        where workspace = in_workspace and channel = in_channel and client_msg_id = in_client_msg_id and ts <> in_ts
          and user_id = in_user_id and state not in ('withdrawn', 'unsent');
      if found then
        decision := 'known';
        return;
      end if;
    end if;
    select * into edit from pending_edits
      where workspace = in_workspace and channel = in_channel and ts = in_ts;
    if found and (applied_is_deletion is null or edit.is_deletion <> applied_is_deletion
        or edit.edited_ts is distinct from applied_edited_ts) then
      decision := 'changed';
      return;
    end if;
    select * into thread from threads
      where workspace = in_workspace and channel = in_channel and thread_ts = root;
    is_new := not found or thread.is_dormant;
    -- What people said to each other before the mention is no message for us, whenever it arrives.
    precedes := not is_new and in_ts < thread.adopted_ts;
    if not is_addressed and (is_new or precedes) then
      insert into orphan_replies (workspace, channel, thread_ts, ts) values (in_workspace, in_channel, root, in_ts)
        on conflict do nothing;
      decision := 'orphan';
      return;
    end if;
    if in_state is null then
      decision := 'changed';
      return;
    end if;
    insert into messages (workspace, channel, ts, thread_ts, said_ts, user_id, state, content, edited_ts, is_partial, client_msg_id)
      select in_workspace, in_channel, in_ts, root, in_ts, in_user_id,
        case when applied_is_deletion then 'withdrawn' else in_state end,
        case when in_state = 'waiting' then in_content end, in_edited_ts, in_is_partial, in_client_msg_id
      -- A conflict would lock the row of a known message, which is a write.
      where not exists (
        select from messages where workspace = in_workspace and channel = in_channel and ts = in_ts
          and not (state = 'unsent' and version = 0 and is_addressed))
      -- By its text alone, the other copy of a mention may have been for people. One that waited before was refused.
      on conflict (workspace, channel, ts)
      do update set state = excluded.state, content = excluded.content, edited_ts = excluded.edited_ts,
        is_partial = excluded.is_partial
        where messages.state = 'unsent' and messages.version = 0 and is_addressed;
    if not found then
      decision := 'known';
      known_ts := in_ts;
      return;
    end if;
    if precedes then
      update threads set adopted_ts = in_ts
        where workspace = in_workspace and channel = in_channel and thread_ts = root;
    elsif is_new then
      insert into threads (workspace, channel, thread_ts, account_id, started_by, adopted_ts)
        values (in_workspace, in_channel, root, in_account_id, in_user_id, in_ts)
        on conflict (workspace, channel, thread_ts)
        do update set is_dormant = false, adopted_ts = excluded.adopted_ts, started_by = excluded.started_by;
    end if;
    if in_ts = root and in_content -> 'files' is not null then
      update threads set root_file_ids = file_ids_in(in_content)
        where workspace = in_workspace and channel = in_channel and thread_ts = root;
    end if;
    if edit.ts is not null then
      update pending_edits set content = null, user_id = null
        where workspace = in_workspace and channel = in_channel and ts = in_ts;
    end if;
    if applied_is_deletion then
      decision := 'withdrawn';
      return;
    end if;
    if in_state = 'unsent' then
      decision := 'unsent';
      return;
    end if;
    -- What was said before a stop waits behind it, also where the stop arrived first.
    select count(*) > 0, (array_agg(id) filter (where stop_requested_ts > in_ts and not stop_sends_waiting))[1] into is_busy, stopped_turn
      from turns where workspace = in_workspace and channel = in_channel and thread_ts = root and finished_at is null;
    if thread.paused_by_turn_id is null and stopped_turn is not null then
      update threads set paused_by_turn_id = stopped_turn
        where workspace = in_workspace and channel = in_channel and thread_ts = root;
    end if;
    is_paused := coalesce(thread.paused_by_turn_id, stopped_turn) is not null;
    if not is_paused then
      insert into jobs (workspace, kind, channel, thread_ts, key, person, payload, due_at, claim_id, holder, claimed_until)
        values (in_workspace, 'turn', in_channel, root, '', '', '{}', clock_timestamp(), in_claim_id, in_holder,
          clock_timestamp() + in_hold_ms * interval '1 ms')
        on conflict (workspace, kind, channel, thread_ts, key)
        do update set version = jobs.version + 1, due_at = excluded.due_at
        returning * into job;
    end if;
    if is_busy or exists (
      select from messages where workspace = in_workspace and channel = in_channel and thread_ts = root
        and state in ('waiting', 'sending') and ts < in_ts
    ) then
      decision := 'waits';
    else
      decision := 'next';
    end if;
  end $$;
`;
