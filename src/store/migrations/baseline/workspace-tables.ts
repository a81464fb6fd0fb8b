/** Workspaces, how the app is installed in them, their service accounts and settings; what all processes share about Slack; the audit trail. */
export const WORKSPACE_TABLES = `
  -- Orders the changes of workspaces, installations and accounts, so that other processes notice them.
  create sequence installation_change_seq;

  create table workspaces (
    workspace text not null,
    name text not null,
    bot_user text not null,
    bot_id text not null,
    installation text,
    last_receiving_at timestamptz,
    left_at timestamptz,
    access_revoked_at timestamptz,
    created_at timestamptz not null default now(),
    version bigint not null default nextval('installation_change_seq'),
    primary key (workspace)
  );
  create index workspaces_change_seq on workspaces (version);

  create table installations (
    workspace text not null,
    enterprise text,
    organisation boolean not null,
    name text not null,
    bot_user text not null,
    bot_id text not null,
    sealed text,
    expires_at timestamptz,
    installed_at timestamptz not null default clock_timestamp(),
    left_at timestamptz,
    version bigint not null default nextval('installation_change_seq'),
    primary key (workspace)
  );
  create index installations_change_seq on installations (version);
  create index installations_token_expires on installations (expires_at) where expires_at is not null;

  create table used_oauth_states (
    state text not null,
    used_at timestamptz not null default clock_timestamp(),
    primary key (state)
  );

  create table accounts (
    workspace text not null,
    account text not null,
    base_url text not null,
    sealed text,
    set_by text not null,
    set_at timestamptz not null default clock_timestamp(),
    retired_at timestamptz,
    version bigint not null default nextval('installation_change_seq'),
    primary key (workspace, account)
  );
  create unique index accounts_current on accounts (workspace) where retired_at is null;
  create index accounts_change_seq on accounts (version);

  create table workspace_settings (
    workspace text not null,
    admits text check (admits in ('members', 'guests', 'everyone')),
    bots text[],
    changed_by text not null,
    changed_at timestamptz not null default now(),
    primary key (workspace)
  );

  create table channel_settings (
    workspace text not null,
    channel text not null,
    model text,
    listens text not null default 'mentions' check (listens in ('mentions', 'everything')),
    admits text check (admits in ('members', 'guests', 'everyone')),
    bots text[],
    controls text check (controls in ('starter', 'channel', 'admins')),
    show_steps boolean not null default true,
    follows_name boolean not null default false,
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
    app text not null,
    process uuid not null,
    sockets integer not null,
    expires_at timestamptz not null,
    primary key (workspace, app, process)
  ) with (fillfactor = 50);

  create table backfills (
    workspace text not null,
    channel text not null,
    root numeric(16,6) not null,
    since numeric(16,6) not null,
    last_used_at timestamptz not null,
    gaps integer not null default 1,
    claimed_by uuid,
    claimed_until timestamptz not null default 'epoch',
    queued_at timestamptz not null default clock_timestamp(),
    primary key (workspace, channel, root)
  );

  create table audit_events (
    workspace text not null,
    id bigint not null generated always as identity,
    at timestamptz not null default clock_timestamp(),
    kind text not null,
    person text,
    channel text,
    root numeric(16,6),
    turn uuid,
    task text,
    details jsonb not null default '{}',
    primary key (workspace, id)
  );
  create index audit_events_at on audit_events (at, id);

  create table one_time_notices (
    workspace text not null,
    channel text not null,
    notice text not null,
    turn_id uuid,
    claimed_at timestamptz not null default now(),
    primary key (workspace, channel, notice)
  );
`;
