/** Threads, their messages, turns and our own posts. */
export const THREAD_TABLES = `
  create table threads (
    workspace text not null,
    channel text not null,
    thread_ts numeric(16,6) not null,
    account_id text not null,
    started_by text not null,
    adopted_ts numeric(16,6) not null,
    project_id text,
    task_id text,
    task_title text,
    task_model text,
    task_intended_at timestamptz,
    task_started_at timestamptz,
    task_state text,
    task_state_read_at timestamptz,
    former_task_ids text[] not null default '{}',
    quotable_task_ids text[] not null default '{}',
    participant_ids text[] not null default '{}',
    permalink text,
    paused_by_turn_id uuid,
    is_dormant boolean not null default false,
    listens_to_all boolean not null default false,
    informed_ids text[] not null default '{}',
    plans_first boolean not null default false,
    last_used_at timestamptz not null default now(),
    created_at timestamptz not null default now(),
    primary key (workspace, channel, thread_ts)
  ) with (fillfactor = 80);
  create unique index threads_task on threads (workspace, task_id, account_id) where task_id is not null;
  create index threads_task_intended on threads (workspace, project_id) where task_intended_at is not null;
  create index threads_paused on threads (workspace, channel, thread_ts) where paused_by_turn_id is not null;
  create index threads_last_used on threads (workspace, last_used_at);
  create index threads_started_by on threads (workspace, started_by, (coalesce(task_started_at, created_at)) desc)
    where task_id is not null;
  create index threads_channel on threads (workspace, channel, (coalesce(task_started_at, created_at)) desc)
    where task_id is not null;
  create index threads_titled on threads (last_used_at) where task_title is not null;

  create table messages (
    workspace text not null,
    channel text not null,
    ts numeric(16,6) not null,
    thread_ts numeric(16,6) not null,
    user_id text not null,
    state text not null,
    content jsonb,
    edited_ts numeric(16,6),
    resends_turn_id uuid,
    revises_turn_id uuid,
    has_waiting_reaction boolean not null default false,
    is_urgent boolean not null default false,
    quoted_with_ts numeric(16,6),
    received_at timestamptz not null default now(),
    primary key (workspace, channel, ts)
  ) with (fillfactor = 80);
  create index messages_waiting on messages (workspace, channel, thread_ts, ts) where state in ('waiting', 'sending');
  create index messages_waiting_reaction on messages (workspace) where has_waiting_reaction;
  create index messages_urgent on messages (workspace) where is_urgent and state = 'waiting';
  create index messages_replies on messages (workspace, channel, thread_ts, ts) where thread_ts <> ts;
  create index messages_received on messages (received_at) where state not in ('waiting', 'sending');
  create index messages_content on messages (received_at) where content is not null and state not in ('waiting', 'sending');

  create table early_edits (
    workspace text not null,
    channel text not null,
    ts numeric(16,6) not null,
    is_deletion boolean not null,
    user_id text,
    content jsonb,
    edited_ts numeric(16,6),
    sent_as_ts numeric(16,6),
    received_at timestamptz not null default now(),
    primary key (workspace, channel, ts)
  );
  create index early_edits_received on early_edits (received_at);

  create table orphan_replies (
    workspace text not null,
    channel text not null,
    thread_ts numeric(16,6) not null,
    ts numeric(16,6) not null,
    received_at timestamptz not null default now(),
    primary key (workspace, channel, thread_ts, ts)
  );
  create index orphan_replies_received on orphan_replies (received_at);

  create table turns (
    workspace text not null,
    id uuid not null,
    channel text not null,
    thread_ts numeric(16,6) not null,
    message_ts numeric(16,6) not null,
    asked_by text not null,
    forwarded_by_turn_id uuid,
    prompt text,
    quoted_ids text[] not null default '{}',
    quotation_length integer not null default 0,
    attached_file_ids jsonb,
    file_notes jsonb,
    has_text boolean not null default true,
    files_sent_with_turn_id uuid,
    skill text,
    task_id text,
    sent_after_message_id text,
    send_intended_at timestamptz,
    user_message_id text,
    assistant_message_id text,
    stop_requested_by text,
    stop_requested_at timestamptz,
    stop_requested_ts numeric(16,6),
    stop_sent_at timestamptz,
    force_stop_requested_at timestamptz,
    force_stop_sent_at timestamptz,
    split_offsets integer[] not null default '{}',
    tool_counts jsonb,
    edit_count integer not null default 0,
    uploaded_bytes bigint not null default 0,
    outcome text,
    first_visible_at timestamptz,
    settled_at timestamptz,
    results_posted_at timestamptz,
    finished_at timestamptz,
    button_used_at timestamptz,
    button_message_ts numeric(16,6),
    attempts integer not null default 0,
    attempts_since timestamptz not null default now(),
    takeovers integer not null default 0,
    started_at timestamptz not null default now(),
    unique (workspace, channel, message_ts),
    primary key (workspace, id)
  ) with (fillfactor = 70);
  create unique index turns_open on turns (workspace, channel, thread_ts)
    where finished_at is null and forwarded_by_turn_id is null;
  create index turns_unfinished on turns (workspace, channel, thread_ts, id) where finished_at is null;
  create index turns_thread on turns (workspace, channel, thread_ts, id);
  create index turns_stopping on turns (workspace, id) where stop_requested_at is not null and finished_at is null and settled_at is null;
  create index turns_kept on turns (workspace, channel, thread_ts) where outcome = 'kept';
  create index turns_started on turns (workspace, started_at);
  create index turns_asked on turns (workspace, asked_by, started_at);
  create index turns_finished on turns (finished_at) where finished_at is not null;
  -- No column of a step stands in it: an update of such a column alone writes into no index.
  create index turns_text on turns (finished_at) where finished_at is not null and has_text;

  create table posts (
    workspace text not null,
    turn_id uuid not null,
    part text not null,
    dedupe_key text not null,
    channel text not null,
    thread_ts numeric(16,6) not null,
    state text not null,
    is_stream boolean not null default false,
    ts numeric(16,6),
    content_hash text,
    intended_at timestamptz not null default now(),
    primary key (workspace, turn_id, part)
  ) with (fillfactor = 80);
  create index posts_ts on posts (workspace, channel, ts) where ts is not null;

  create table feedback (
    workspace text not null,
    turn_id uuid not null,
    user_id text not null,
    is_positive boolean not null,
    comment text,
    given_at timestamptz not null default now(),
    primary key (workspace, turn_id, user_id)
  );
  create index feedback_given on feedback (given_at);
  create index feedback_comment on feedback (given_at) where comment is not null;
`;
