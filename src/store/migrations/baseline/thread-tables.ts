/** Threads, their messages, turns and our own posts. */
export const THREAD_TABLES = `
  create table threads (
    workspace text not null,
    channel text not null,
    root numeric(16,6) not null,
    account text not null,
    starter text not null,
    began_ts numeric(16,6) not null,
    project_id text,
    task_id text,
    task_title text,
    model text,
    task_intended_at timestamptz,
    task_begun_at timestamptz,
    task_state text,
    task_read_at timestamptz,
    former_task_ids text[] not null default '{}',
    writers text[] not null default '{}',
    permalink text,
    paused_by_turn_id uuid,
    dormant boolean not null default false,
    last_used_at timestamptz not null default now(),
    created_at timestamptz not null default now(),
    primary key (workspace, channel, root)
  );
  create unique index threads_task on threads (workspace, account, task_id);
  create index threads_project on threads (workspace, project_id);
  create index threads_last_used on threads (workspace, last_used_at);
  create index threads_started_by on threads (workspace, starter, (coalesce(task_begun_at, created_at)) desc)
    where task_id is not null;
  create index threads_channel on threads (workspace, channel, (coalesce(task_begun_at, created_at)) desc)
    where task_id is not null;
  create index threads_titled on threads (last_used_at) where task_title is not null;

  create table messages (
    workspace text not null,
    channel text not null,
    ts numeric(16,6) not null,
    root numeric(16,6) not null,
    person text not null,
    state text not null,
    words jsonb,
    edited_ts numeric(16,6),
    resends uuid,
    asks_again uuid,
    marked boolean not null default false,
    received_at timestamptz not null default now(),
    primary key (workspace, channel, ts)
  );
  create index messages_waiting on messages (workspace, channel, root, ts) where state in ('waiting', 'sending');
  create index messages_waiting_reaction on messages (workspace) where marked;
  create index messages_refused on messages (workspace, channel, person) where state = 'refused';
  create index messages_received on messages (received_at);

  create table early_edits (
    workspace text not null,
    channel text not null,
    ts numeric(16,6) not null,
    deleted boolean not null,
    words jsonb,
    edited_ts numeric(16,6),
    sent_as_ts numeric(16,6),
    received_at timestamptz not null default now(),
    primary key (workspace, channel, ts)
  );

  create table orphan_replies (
    workspace text not null,
    channel text not null,
    root numeric(16,6) not null,
    ts numeric(16,6) not null,
    received_at timestamptz not null default now(),
    primary key (workspace, channel, root, ts)
  );

  create table turns (
    workspace text not null,
    id uuid not null,
    channel text not null,
    root numeric(16,6) not null,
    message_ts numeric(16,6) not null,
    asker text not null,
    passed_on_by uuid,
    content text,
    attached jsonb,
    file_notes jsonb,
    files_sent_with_turn_id uuid,
    skill text,
    task_id text,
    send_after_id text,
    send_intended_at timestamptz,
    user_message_id text,
    assistant_message_id text,
    stop_asked_by text,
    stop_asked_at timestamptz,
    stop_ts numeric(16,6),
    stop_sent_at timestamptz,
    force_asked_at timestamptz,
    force_sent_at timestamptz,
    breaks integer[] not null default '{}',
    tools jsonb,
    edits integer not null default 0,
    bytes_up bigint not null default 0,
    outcome text,
    first_visible_at timestamptz,
    settled_at timestamptz,
    results_at timestamptz,
    finished_at timestamptz,
    followed_at timestamptz,
    button_message_ts numeric(16,6),
    attempts integer not null default 0,
    attempts_since timestamptz not null default now(),
    takeovers integer not null default 0,
    started_at timestamptz not null default now(),
    unique (workspace, channel, message_ts),
    primary key (workspace, id)
  );
  create unique index turns_user_message on turns (workspace, user_message_id);
  create unique index turns_open on turns (workspace, channel, root)
    where finished_at is null and passed_on_by is null;
  create index turns_forwarded on turns (workspace, channel, root)
    where finished_at is null and passed_on_by is not null;
  create index turns_thread on turns (workspace, channel, root, id);
  create index turns_stopping on turns (workspace, id) where stop_asked_at is not null and finished_at is null;
  create index turns_kept on turns (workspace, channel, root) where outcome = 'kept';
  create index turns_started on turns (workspace, started_at, asker);

  create table posts (
    workspace text not null,
    turn uuid not null,
    part text not null,
    key text not null,
    channel text not null,
    root numeric(16,6) not null,
    state text not null,
    ts numeric(16,6),
    digest text,
    intended_at timestamptz not null default now(),
    primary key (workspace, turn, part)
  );
  create index posts_ts on posts (workspace, channel, ts);

  create table feedback (
    workspace text not null,
    turn uuid not null,
    person text not null,
    good boolean not null,
    comment text,
    given_at timestamptz not null default now(),
    primary key (workspace, turn, person)
  );
`;
