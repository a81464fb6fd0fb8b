/** Workspaces, how the app is installed in them, their service accounts and settings; what all processes share about Slack; the audit trail. */
export const WORKSPACE_TABLES = `
  -- Orders the changes of workspaces, installations and accounts, so that other processes notice them.
  create sequence installation_change_seq;

  create table workspaces (
    workspace text not null,
    name text not null,
    bot_user_id text not null,
    bot_id text not null,
    installation_id text,
    last_receiving_at timestamptz,
    unheard_posts integer not null default 0,
    unheard_since timestamptz,
    heard_at timestamptz,
    judged_deaf_at timestamptz,
    uninstalled_at timestamptz,
    access_revoked_at timestamptz,
    created_at timestamptz not null default now(),
    change_seq bigint not null default nextval('installation_change_seq'),
    primary key (workspace)
  ) with (fillfactor = 70);
  create index workspaces_change_seq on workspaces (change_seq);
  create index workspaces_installation on workspaces (installation_id);
  create index workspaces_left on workspaces (workspace) where uninstalled_at is not null or access_revoked_at is not null;
  create index workspaces_uninstalled on workspaces (uninstalled_at) where uninstalled_at is not null;

  create table installations (
    workspace text not null,
    enterprise_id text,
    is_enterprise_install boolean not null,
    name text not null,
    bot_user_id text not null,
    bot_id text not null,
    encrypted_tokens text,
    token_expires_at timestamptz,
    renewal_claimed_by text,
    renewal_claimed_until timestamptz,
    installed_at timestamptz not null default clock_timestamp(),
    uninstalled_at timestamptz,
    change_seq bigint not null default nextval('installation_change_seq'),
    primary key (workspace)
  );
  create index installations_change_seq on installations (change_seq);
  create index installations_uninstalled on installations (uninstalled_at) where uninstalled_at is not null;
  create index installations_token_expires on installations (token_expires_at) where token_expires_at is not null;

  create table used_oauth_states (
    state text not null,
    used_at timestamptz not null default clock_timestamp(),
    primary key (state)
  );
  create index used_oauth_states_used on used_oauth_states (used_at);

  create table accounts (
    workspace text not null,
    account_id text not null,
    base_url text not null,
    encrypted_api_key text,
    set_by text not null,
    set_at timestamptz not null default clock_timestamp(),
    retired_at timestamptz,
    change_seq bigint not null default nextval('installation_change_seq'),
    primary key (workspace, account_id)
  );
  create unique index accounts_current on accounts (workspace) where retired_at is null;
  create index accounts_unused_key on accounts (workspace) where retired_at is not null and encrypted_api_key is not null;
  create index accounts_change_seq on accounts (change_seq);

  create table settings (
    workspace text not null,
    channel text not null,
    model text,
    listen_mode text check (listen_mode in ('mentions', 'conversation', 'replies', 'everything')),
    check (listen_mode <> 'everything' or channel <> ''),
    allowed_users text check (allowed_users in ('members', 'guests', 'everyone')),
    allowed_bots text[],
    task_control text check (task_control in ('starter', 'channel', 'admins')),
    show_steps boolean not null default true,
    sync_project_name boolean,
    allow_workflow_steps boolean not null default false,
    changed_by text not null,
    changed_at timestamptz not null default now(),
    primary key (workspace, channel)
  );

  create table rate_limits (
    workspace text not null,
    limit_key text not null,
    theoretical_arrival_at timestamptz not null default 'epoch',
    blocked_until timestamptz not null default 'epoch',
    rate_factor double precision not null default 1,
    rate_reduced_at timestamptz not null default 'epoch',
    primary key (workspace, limit_key)
  ) with (fillfactor = 50);

  create table socket_leases (
    workspace text not null,
    app_id text not null,
    process_id uuid not null,
    sockets integer not null,
    expires_at timestamptz not null,
    primary key (workspace, app_id, process_id)
  ) with (fillfactor = 50);

  create table audit_events (
    workspace text not null,
    id bigint not null generated always as identity,
    at timestamptz not null default clock_timestamp(),
    kind text not null,
    user_id text,
    channel text,
    thread_ts numeric(16,6),
    turn_id uuid,
    task_id text,
    details jsonb not null default '{}',
    primary key (workspace, id)
  );
  create index audit_events_at on audit_events (at, id);
  create index audit_events_turns on audit_events (workspace, at) where kind = 'turn';

  create table one_time_notices (
    workspace text not null,
    channel text not null,
    notice text not null,
    turn_id uuid,
    primary key (workspace, channel, notice)
  );
`;
