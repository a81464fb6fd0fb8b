/** Columns of these domains hold one of a few words. */
export const WORKSPACE_WORDS = {
  // Which replies in threads that people began are for the agent: those that mention it, also those of a conversation with
  // it, or all; everything, of channels alone: every message in the channel starts a thread, too.
  listen_setting: ['mentions', 'conversation', 'replies', 'everything'],
  // Who may use the agent: full members, guests too, or everyone in the channel.
  allowed_users: ['members', 'guests', 'everyone'],
  // Who may stop and change a task: the person who started it, everyone in the channel, or admins.
  task_control: ['starter', 'channel', 'admins'],
  // In which channels the bot answers: where it is invited, in listed ones, or where the channel says so.
  answers_in: ['invited', 'listed', 'channels'],
  on_off: ['on', 'off'],
  audit_kind: ['turn', 'stop', 'approval', 'withdrawal', 'deletion', 'refusal', 'forget', 'setting', 'files'],
  // shared: another organisation can read the channel; introduction: answers come from an automated system;
  // new_task_in_dm: each message at the top of a direct channel starts a task; closed: the bot does not answer there;
  // welcome: how to begin.
  one_time_notice: ['shared', 'introduction', 'new_task_in_dm', 'closed', 'welcome'],
} as const;

/** Workspaces, how the app is installed in them, their service accounts and settings; what all processes share about Slack; the audit trail. */
export const WORKSPACE_TABLES = {
  // A Slack workspace in which the bot is installed.
  workspaces: {
    workspace: 'text not null',
    name: 'text not null',
    bot_user_id: 'text not null',
    bot_id: 'text not null',
    // Whose token is used: the workspace's own installation or its organisation's; null: the token of the settings.
    installation_id: 'text',
    last_receiving_at: 'timestamptz', // When some process was last able to receive its events, or while 'receiving' says so.
    unheard_posts: 'integer not null default 0', // The app's posts and edits since one of them last came back as an event.
    unheard_since: 'timestamptz', // Since when these are enough for a verdict.
    heard_at: 'timestamptz', // When one of them last came back.
    judged_deaf_at: 'timestamptz', // The last verdict that no events arrive; null once one of the app's posts comes back.
    uninstalled_at: 'timestamptz', // When the app was uninstalled: the workspace's rows are erased some time later.
    access_revoked_at: 'timestamptz', // When its organisation revoked the app's access; null once it was restored.
    created_at: 'timestamptz not null default now()',
    change_seq: "bigint not null default nextval('installation_change_seq')",
    'primary key': '(workspace)',
  },
  // An OAuth installation of a workspace ('T…') or of an organisation ('E…').
  installations: {
    workspace: 'text not null',
    enterprise_id: 'text', // The organisation that a workspace belongs to.
    is_enterprise_install: 'boolean not null',
    name: 'text not null',
    bot_user_id: 'text not null',
    bot_id: 'text not null',
    encrypted_tokens: 'text', // The encrypted tokens; null once they are revoked.
    token_expires_at: 'timestamptz', // When the bot's token expires, if tokens are rotated.
    renewal_tried_since: 'timestamptz', // When the token's renewal was first tried after its last success.
    renewal_due_at: 'timestamptz', // Until then a process renews the token, which is valid once for that, or its failure is waited out.
    installed_at: 'timestamptz not null default clock_timestamp()',
    uninstalled_at: 'timestamptz',
    change_seq: "bigint not null default nextval('installation_change_seq')",
    'primary key': '(workspace)',
  },
  used_oauth_states: {
    state: 'text not null',
    used_at: 'timestamptz not null default clock_timestamp()',
    'primary key': '(state)',
  },
  // A service account that an admin of the workspace has set.
  accounts: {
    workspace: 'text not null',
    account_id: 'text not null', // An id of ours, which projects and threads refer to.
    base_url: 'text not null',
    encrypted_api_key: 'text', // The encrypted API key; null once no turn needs it.
    set_by: 'text not null',
    set_at: 'timestamptz not null default clock_timestamp()',
    retired_at: 'timestamptz', // When another account replaced it; null for the current one.
    change_seq: "bigint not null default nextval('installation_change_seq')",
    'primary key': '(workspace, account_id)',
  },
  // The settings of a channel, or of a whole workspace.
  settings: {
    workspace: 'text not null',
    // '': the whole workspace. Null in a column: for a channel, the workspace's setting; for that, the operator's.
    channel: 'text not null',
    model: 'text', // The model of new tasks; null: the service's default.
    listen_mode: 'listen_setting',
    check: "(listen_mode <> 'everything' or channel <> '')",
    allowed_users: 'allowed_users',
    allowed_bots: 'text[]', // Other bots and workflows (B…) that may use the agent.
    task_control: 'task_control',
    instructions: 'jsonb', // Quoted before the first message of each new task.
    prompts: 'jsonb', // What people can choose where they ask: a title, a line and a prompt each.
    answers_in: 'answers_in', // Of workspaces alone, as the next three.
    answers_in_channels: 'text[]',
    direct_messages: 'on_off', // Whether the bot answers there; null: on.
    group_messages: 'on_off',
    answers_here: 'on_off', // Of channels alone.
    welcomes: 'on_off', // Of workspaces alone: whether the bot says how to begin where it is invited; null: on.
    show_steps: 'boolean not null default true',
    show_sources: 'boolean not null default true', // A finished answer ends with a list of the sources that it names.
    send_reminders: 'boolean not null default true', // Who asked is reminded when the agent waits for them.
    // The project gets the channel's name and purpose when they change; null: if it was created for the channel.
    sync_project_name: 'boolean',
    allow_workflow_steps: 'boolean not null default false', // Steps of Slack's workflows may ask the agent here.
    changed_by: 'text not null',
    changed_at: 'timestamptz not null default now()',
    'primary key': '(workspace, channel)',
  },
  // The rate limit of one kind of call in one workspace, shared by all processes.
  rate_limits: {
    workspace: 'text not null',
    limit_key: 'text not null', // A Slack method, or a method and a channel.
    // GCRA's theoretical arrival time: when all permits granted so far are used up.
    theoretical_arrival_at: "timestamptz not null default 'epoch'",
    blocked_until: "timestamptz not null default 'epoch'", // No permit is granted before this time, because Slack answered 429.
    rate_factor: 'double precision not null default 1', // The share of the full rate after the last 429; it recovers with time.
    rate_reduced_at: "timestamptz not null default 'epoch'", // When that 429 was.
    'primary key': '(workspace, limit_key)',
  },
  // A process that may hold Socket Mode connections of a Slack app; it is dead after 'expires_at'.
  socket_leases: {
    workspace: 'text not null',
    app_id: 'text not null',
    process_id: 'uuid not null',
    sockets: 'integer not null', // How many connections it may open, or still has.
    expires_at: 'timestamptz not null',
    'primary key': '(workspace, app_id, process_id)',
  },
  // A process that may hold threads' jobs, and how others see that it is dead; see ProcessIdentity.
  processes: {
    id: 'uuid not null primary key',
    host: 'text not null',
    pid: 'integer not null',
    started: 'text not null',
    started_at: 'timestamptz not null default now()',
    locked_at: 'timestamptz', // Since when it has had its session lock, whose loss others may take for its death; see ProcessLock.
  },
  // One row: since when, and until when, some process could receive the events of all workspaces without a gap, and the same
  // before the last gap. What is in a workspace's own 'last_receiving_at' from then on need not be written again.
  receiving: {
    is_only: 'boolean not null primary key default true check (is_only)',
    since: 'timestamptz not null default now()',
    until: 'timestamptz not null default now()',
    since_before: 'timestamptz',
    until_before: 'timestamptz',
  },
  // What somebody did. Rows are only added; triggers add those of turns, stops and withdrawals.
  audit_events: {
    workspace: 'text not null',
    id: 'bigint not null generated always as identity',
    at: 'timestamptz not null default clock_timestamp()',
    kind: 'audit_kind not null',
    user_id: 'text',
    channel: 'text',
    thread_ts: 'numeric(16,6)',
    turn_id: 'uuid',
    task_id: 'text',
    details: "jsonb not null default '{}'",
    'primary key': '(workspace, id)',
  },
  one_time_notices: {
    workspace: 'text not null',
    channel: 'text not null',
    notice: 'one_time_notice not null',
    user_id: "text not null default ''", // Who was told, if each person is; '': all.
    turn_id: 'uuid',
    told_at: 'timestamptz not null default now()',
    'primary key': '(workspace, channel, notice, user_id)',
  },
} as const;

/** Their indexes, and how full their pages are. */
export const WORKSPACE_INDEXES = `
  alter table workspaces set (fillfactor = 70);
  create index workspaces_change_seq on workspaces (change_seq);
  create index workspaces_installation on workspaces (installation_id);
  create index workspaces_left on workspaces (workspace) where uninstalled_at is not null or access_revoked_at is not null;
  create index workspaces_uninstalled on workspaces (uninstalled_at) where uninstalled_at is not null;
  create index installations_change_seq on installations (change_seq);
  create index installations_uninstalled on installations (uninstalled_at) where uninstalled_at is not null;
  create index installations_token_expires on installations (token_expires_at) where token_expires_at is not null;
  create index used_oauth_states_used on used_oauth_states (used_at);
  create unique index accounts_current on accounts (workspace) where retired_at is null;
  create index accounts_unused_key on accounts (workspace) where retired_at is not null and encrypted_api_key is not null;
  create index accounts_change_seq on accounts (change_seq);
  alter table rate_limits set (fillfactor = 50);
  alter table socket_leases set (fillfactor = 50);
  alter table receiving set (fillfactor = 50);
  create index audit_events_at on audit_events (at, id);
  create index audit_events_turns on audit_events (workspace, at) where kind = 'turn';
  create index one_time_notices_told on one_time_notices (told_at) where user_id <> '';
`;
