// Made from the migrated tables by `npm run vitest -- test/store/tables.test.ts -u`; change the baseline, not this file.
import type { Defaulted, Json, SlackTs, Timestamp } from './column-types.ts';

export type AllowedUsers = 'members' | 'guests' | 'everyone';
export type AnswersIn = 'invited' | 'listed' | 'channels';
export type AuditKind =
  | 'turn'
  | 'stop'
  | 'approval'
  | 'withdrawal'
  | 'deletion'
  | 'refusal'
  | 'forget'
  | 'setting'
  | 'files';
export type ListenSetting = 'mentions' | 'conversation' | 'replies' | 'everything';
export type MessageState = 'waiting' | 'sending' | 'sent' | 'withdrawn' | 'closed' | 'refused' | 'unsent';
export type OnOff = 'on' | 'off';
export type OneTimeNotice = 'shared' | 'introduction' | 'new_task_in_dm' | 'closed' | 'welcome';
export type PostState = 'intended' | 'posted' | 'gone';
export type SlackFileState = 'begun' | 'staged' | 'sharing' | 'shared';
export type TaskControl = 'starter' | 'channel' | 'admins';
export type TaskStartState = 'draft' | 'posting' | 'done';
export type TurnOutcome =
  | 'completed'
  | 'length'
  | 'cancelled'
  | 'failed'
  | 'refused'
  | 'withdrawn'
  | 'helped'
  | 'kept'
  | 'abandoned';
export type TurnPhase =
  | 'opening'
  | 'preparing'
  | 'frozen'
  | 'sending'
  | 'sent'
  | 'following'
  | 'finishing'
  | 'unsent'
  | 'doubted'
  | 'ended';

/** The tables that Kysely knows. */
export interface Tables {
  accounts: {
    workspace: string;
    account_id: string;
    base_url: string;
    encrypted_api_key: string | null;
    set_by: string;
    set_at: Defaulted<Timestamp>;
    retired_at: Timestamp | null;
    change_seq: Defaulted<number>;
  };
  audit_events: {
    workspace: string;
    id: Defaulted<number>;
    at: Defaulted<Timestamp>;
    kind: AuditKind;
    user_id: string | null;
    channel: string | null;
    thread_ts: SlackTs | null;
    turn_id: string | null;
    task_id: string | null;
    details: Defaulted<Json<'audit_details'>>;
  };
  early_edits: {
    workspace: string;
    channel: string;
    ts: SlackTs;
    is_deletion: boolean;
    user_id: string | null;
    content: Json<'message_content'> | null;
    edited_ts: SlackTs | null;
    sent_as_ts: SlackTs | null;
    received_at: Defaulted<Timestamp>;
  };
  feedback: {
    workspace: string;
    turn_id: string;
    user_id: string;
    is_positive: boolean;
    comment: string | null;
    given_at: Defaulted<Timestamp>;
  };
  installations: {
    workspace: string;
    enterprise_id: string | null;
    is_enterprise_install: boolean;
    name: string;
    bot_user_id: string;
    bot_id: string;
    encrypted_tokens: string | null;
    token_expires_at: Timestamp | null;
    renewal_tried_since: Timestamp | null;
    renewal_due_at: Timestamp | null;
    installed_at: Defaulted<Timestamp>;
    uninstalled_at: Timestamp | null;
    change_seq: Defaulted<number>;
  };
  jobs: {
    workspace: string;
    kind: string;
    channel: string;
    thread_ts: SlackTs;
    key: string;
    person: string;
    payload: Json<'job_payload'>;
    version: Defaulted<number>;
    due_at: Timestamp;
    claim_id: string | null;
    claimed_until: Timestamp | null;
    holder: string | null;
    tried_since: Timestamp | null;
    intended_at: Timestamp | null;
    done_at: Timestamp | null;
    created_at: Defaulted<Timestamp>;
  };
  messages: {
    workspace: string;
    channel: string;
    ts: SlackTs;
    thread_ts: SlackTs;
    said_ts: SlackTs | null;
    user_id: string;
    state: MessageState;
    content: Json<'message_content'> | null;
    edited_ts: SlackTs | null;
    version: Defaulted<number>;
    is_partial: Defaulted<boolean>;
    client_msg_id: string | null;
    resends_turn_id: string | null;
    revises_turn_id: string | null;
    is_urgent: Defaulted<boolean>;
    quoted_with_ts: SlackTs | null;
    sent_with_ts: SlackTs | null;
    received_at: Defaulted<Timestamp>;
  };
  orphan_replies: {
    workspace: string;
    channel: string;
    thread_ts: SlackTs;
    ts: SlackTs;
    received_at: Defaulted<Timestamp>;
  };
  posted_results: {
    workspace: string;
    channel: string;
    thread_ts: SlackTs;
    result_id: string;
    turn_id: string;
    batch: Defaulted<string>;
    sha256: string | null;
    posted_at: Timestamp | null;
  };
  posts: {
    workspace: string;
    turn_id: string;
    part: string;
    dedupe_key: string;
    channel: string;
    thread_ts: SlackTs;
    state: PostState;
    is_stream: Defaulted<boolean>;
    ts: SlackTs | null;
    intended_at: Defaulted<Timestamp>;
  };
  projects: {
    workspace: string;
    channel: string;
    account_id: string;
    project_id: string | null;
    claimed_by: string | null;
    claimed_until: Timestamp | null;
    create_intended_at: Timestamp | null;
    created_at: Defaulted<Timestamp>;
  };
  rate_limits: {
    workspace: string;
    limit_key: string;
    theoretical_arrival_at: Defaulted<Timestamp>;
    blocked_until: Defaulted<Timestamp>;
    rate_factor: Defaulted<number>;
    rate_reduced_at: Defaulted<Timestamp>;
  };
  registry_answers: {
    workspace: string;
    source_id: string;
    source_check: Json<'source_check'>;
    expires_at: Timestamp;
  };
  settings: {
    workspace: string;
    channel: string;
    model: string | null;
    listen_mode: ListenSetting | null;
    allowed_users: AllowedUsers | null;
    allowed_bots: string[] | null;
    task_control: TaskControl | null;
    instructions: Json<'signed_text'> | null;
    prompts: Json<'signed_text'> | null;
    answers_in: AnswersIn | null;
    answers_in_channels: string[] | null;
    direct_messages: OnOff | null;
    group_messages: OnOff | null;
    answers_here: OnOff | null;
    welcomes: OnOff | null;
    show_steps: Defaulted<boolean>;
    show_sources: Defaulted<boolean>;
    send_reminders: Defaulted<boolean>;
    sync_project_name: boolean | null;
    allow_workflow_steps: Defaulted<boolean>;
    changed_by: string;
    changed_at: Defaulted<Timestamp>;
  };
  slack_files: {
    workspace: string;
    turn_id: string;
    part: string;
    slack_file_id: string;
    state: SlackFileState;
    intended_at: Defaulted<Timestamp>;
  };
  socket_leases: {
    workspace: string;
    app_id: string;
    process_id: string;
    sockets: number;
    expires_at: Timestamp;
  };
  task_starts: {
    workspace: string;
    id: string;
    state: TaskStartState;
    user_id: string;
    channel: string;
    thread_ts: SlackTs | null;
    message_ts: SlackTs | null;
    source_turn_id: string | null;
    source_content: Json<'message_content'> | null;
    content: Json<'message_content'> | null;
    created_at: Defaulted<Timestamp>;
  };
  threads: {
    workspace: string;
    channel: string;
    thread_ts: SlackTs;
    account_id: string;
    started_by: string;
    adopted_ts: SlackTs;
    project_id: string | null;
    task_id: string | null;
    task_title: string | null;
    task_model: string | null;
    task_intended_at: Timestamp | null;
    task_started_at: Timestamp | null;
    task_state: string | null;
    task_state_read_at: Timestamp | null;
    former_task_ids: Defaulted<string[]>;
    quotable_task_ids: Defaulted<string[]>;
    participant_ids: Defaulted<string[]>;
    permalink: string | null;
    paused_by_turn_id: string | null;
    is_dormant: Defaulted<boolean>;
    listens_to_all: Defaulted<boolean>;
    informed_ids: Defaulted<string[]>;
    plans_first: Defaulted<boolean>;
    root_file_ids: Defaulted<string[]>;
    last_used_at: Defaulted<Timestamp>;
    created_at: Defaulted<Timestamp>;
  };
  turns: {
    workspace: string;
    id: string;
    channel: string;
    thread_ts: SlackTs;
    message_ts: SlackTs;
    asked_by: string;
    forwarded_by_turn_id: string | null;
    prompt: string | null;
    quoted_ids: Defaulted<string[]>;
    instructions_length: Defaulted<number>;
    quotation_length: Defaulted<number>;
    instructions_set_by: string | null;
    instructions_set_at: Timestamp | null;
    attached_file_ids: Json<'attached_ids'> | null;
    file_notes: Json<'file_notes'> | null;
    has_text: Defaulted<boolean>;
    files_sent_with_turn_id: string | null;
    skill: string | null;
    task_id: string | null;
    sent_after_message_id: string | null;
    send_intended_at: Timestamp | null;
    user_message_id: string | null;
    assistant_message_id: string | null;
    stop_requested_by: string | null;
    stop_requested_at: Timestamp | null;
    stop_requested_ts: SlackTs | null;
    stop_sends_waiting: Defaulted<boolean>;
    stop_sent_at: Timestamp | null;
    force_stop_requested_at: Timestamp | null;
    force_stop_sent_at: Timestamp | null;
    split_offsets: Defaulted<number[]>;
    tool_counts: Json<'tool_counts'> | null;
    source_checks: Json<'source_checks'> | null;
    uploaded_bytes: Defaulted<number>;
    outcome: TurnOutcome | null;
    first_visible_at: Timestamp | null;
    settled_at: Timestamp | null;
    results_posted_at: Timestamp | null;
    finished_at: Timestamp | null;
    waits_for: string | null;
    waits_since: Timestamp | null;
    button_message_ts: SlackTs | null;
    attempts: Defaulted<number>;
    attempts_since: Defaulted<Timestamp>;
    takeovers: Defaulted<number>;
    started_at: Defaulted<Timestamp>;
    phase: Defaulted<TurnPhase>;
  };
  uploads: {
    workspace: string;
    slack_file_id: string;
    project_id: string;
    claimed_by: string;
    claimed_until: Timestamp;
    file_id: string | null;
    multipart_id: string | null;
    part_size_bytes: number | null;
    part_headers: Json<'part_headers'> | null;
    size_bytes: number | null;
    part_etags: Defaulted<Json<'part_etags'>>;
    is_finalizing: Defaulted<boolean>;
    started_at: Defaulted<Timestamp>;
  };
  workspaces: {
    workspace: string;
    name: string;
    bot_user_id: string;
    bot_id: string;
    installation_id: string | null;
    last_receiving_at: Timestamp | null;
    unheard_posts: Defaulted<number>;
    unheard_since: Timestamp | null;
    heard_at: Timestamp | null;
    judged_deaf_at: Timestamp | null;
    uninstalled_at: Timestamp | null;
    access_revoked_at: Timestamp | null;
    created_at: Defaulted<Timestamp>;
    change_seq: Defaulted<number>;
  };
}
