/** Projects, tasks, files, and jobs to do later. */
export const TASK_TABLES = `
  create table projects (
    workspace text not null,
    channel text not null,
    account_id text not null,
    project_id text,
    claimed_by uuid,
    claimed_until timestamptz,
    create_intended_at timestamptz,
    created_at timestamptz not null default now(),
    primary key (workspace, channel, account_id)
  );

  create table project_channels (
    workspace text not null,
    channel text not null,
    project_id text not null,
    primary key (workspace, channel, project_id)
  );
  create index project_channels_project_id on project_channels (project_id);

  create table task_starts (
    workspace text not null,
    id uuid not null,
    state text not null,
    user_id text not null,
    channel text not null,
    thread_ts numeric(16,6),
    message_ts numeric(16,6),
    source_turn_id uuid,
    source_content jsonb,
    content jsonb,
    created_at timestamptz not null default now(),
    primary key (workspace, id)
  );
  create index task_starts_created on task_starts (created_at);

  create table uploaded_files (
    workspace text not null,
    slack_file_id text not null,
    project_id text not null,
    file_id text,
    size_bytes bigint not null,
    created_at timestamptz not null default now(),
    primary key (workspace, slack_file_id, project_id)
  );

  create table uploads (
    workspace text not null,
    slack_file_id text not null,
    project_id text not null,
    claimed_by uuid not null,
    claimed_until timestamptz not null,
    file_id text,
    multipart_id text,
    part_size_bytes bigint,
    part_headers jsonb,
    size_bytes bigint,
    part_etags jsonb not null default '{}',
    is_finalizing boolean not null default false,
    started_at timestamptz not null default now(),
    primary key (workspace, slack_file_id, project_id)
  );

  create table slack_files (
    workspace text not null,
    turn_id uuid not null,
    part text not null,
    slack_file_id text not null,
    state text not null,
    intended_at timestamptz not null default now(),
    primary key (workspace, turn_id, part)
  );

  create table posted_results (
    workspace text not null,
    channel text not null,
    thread_ts numeric(16,6) not null,
    result_id text not null,
    turn_id uuid not null,
    batch text not null default '',
    posted_at timestamptz,
    primary key (workspace, channel, thread_ts, result_id)
  );

  create table jobs (
    workspace text not null,
    kind text not null,
    channel text not null,
    thread_ts numeric(16,6) not null,
    key text not null,
    person text not null,
    payload jsonb not null,
    version integer not null default 1,
    due_at timestamptz not null,
    claim_id uuid,
    claimed_until timestamptz,
    tried_since timestamptz,
    intended_at timestamptz,
    done_at timestamptz,
    created_at timestamptz not null default clock_timestamp(),
    primary key (workspace, kind, channel, thread_ts, key)
  ) with (fillfactor = 70);
  create index jobs_due on jobs (due_at) where done_at is null;
  create index jobs_claimed on jobs (claim_id) where claim_id is not null;
  create index jobs_done on jobs (done_at) where done_at is not null;
`;
