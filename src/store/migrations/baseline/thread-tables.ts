/** Columns of these domains hold one of a few words. */
export const THREAD_WORDS = {
  // waiting: arrived, not sent; sending: frozen, the send is under way or its outcome is unknown; sent: at the service;
  // withdrawn: taken back before it was sent; closed: its turn ended without a send; refused: its writer has no access or is
  // over a quota; unsent: talk of people and apps, of which only the ids are kept.
  message_state: ['waiting', 'sending', 'sent', 'withdrawn', 'closed', 'refused', 'unsent'],
  // How a turn ended. kept: files without text, which go with the next message.
  turn_outcome: [
    'completed',
    'length',
    'cancelled',
    'failed',
    'refused',
    'withdrawn',
    'helped',
    'kept',
    'abandoned',
  ],
  // Where a turn is. sending: the send is under way or its outcome is unknown; finishing: its reply has settled. Of a turn that
  // is over: unsent, doubted (nobody knows whether the service has its message), or ended, where the service has it.
  turn_phase: [
    'opening',
    'preparing',
    'frozen',
    'sending',
    'sent',
    'following',
    'finishing',
    'unsent',
    'doubted',
    'ended',
  ],
  // The intent is recorded before the call; the ts when Slack answered; gone when Slack no longer has it.
  post_state: ['intended', 'posted', 'gone'],
} as const;

/** Threads, their messages, turns and our own posts. */
export const THREAD_TABLES = {
  // A thread of ours. Its task is created when its first turn needs it.
  threads: {
    workspace: 'text not null',
    channel: 'text not null',
    thread_ts: 'numeric(16,6) not null',
    account_id: 'text not null', // The service account that its task belongs to.
    started_by: 'text not null', // The person whose message made the thread ours.
    // The message that made the thread ours: later than 'thread_ts' if people had talked in the thread before.
    adopted_ts: 'numeric(16,6) not null',
    project_id: 'text',
    task_id: 'text',
    task_title: 'text',
    task_model: 'text', // The model requested for the task; null: the service's default.
    task_intended_at: 'timestamptz', // Set just before the task is created, cleared when the outcome is known.
    task_started_at: 'timestamptz', // When the task was created.
    task_state: 'text', // The task's state when it was last read: the service's word, or 'gone' if the task no longer exists.
    task_state_read_at: 'timestamptz',
    former_task_ids: "text[] not null default '{}'", // Earlier tasks of the thread, which accept no more messages.
    // Those whose conversation goes with the first message to the next one: not a deleted one, nor another account's.
    quotable_task_ids: "text[] not null default '{}'",
    // People whose messages were sent to the task, in the order of their first message.
    participant_ids: "text[] not null default '{}'",
    permalink: 'text', // The thread's link in Slack, once it was requested.
    paused_by_turn_id: 'uuid', // The stopped turn that paused the thread's waiting messages, until somebody resumes them.
    is_dormant: 'boolean not null default false', // Who mentioned the bot was refused: replies need a mention again.
    listens_to_all: 'boolean not null default false', // People asked the agent to read every reply in a thread that people began.
    informed_ids: "text[] not null default '{}'", // Who was told that their replies are not sent.
    plans_first: 'boolean not null default false', // The task was begun with "Plan first".
    root_file_ids: "text[] not null default '{}'", // The files of a root that is for us: Slack may repeat them with replies.
    last_used_at: 'timestamptz not null default now()',
    created_at: 'timestamptz not null default now()',
    'primary key': '(workspace, channel, thread_ts)',
  },
  // A person's message for the agent. Its key deduplicates the inbox.
  messages: {
    workspace: 'text not null',
    channel: 'text not null',
    ts: 'numeric(16,6) not null',
    thread_ts: 'numeric(16,6) not null',
    // The message in Slack that shows its words; null: a button sent it, and none does.
    said_ts: 'numeric(16,6)',
    user_id: 'text not null',
    state: 'message_state not null',
    // Null once the turn has ended and can no longer be retried, and until a waiting message is read back from Slack.
    content: 'jsonb',
    edited_ts: 'numeric(16,6)',
    version: 'integer not null default 0', // Counts the changes of 'content'.
    is_partial: 'boolean not null default false', // Only its app_mention came so far, which may lack files.
    client_msg_id: 'text', // The same for two messages that a client sent for one.
    resends_turn_id: 'uuid', // The turn whose content and files this message sends again.
    revises_turn_id: 'uuid', // The turn whose question this message asks again with other content or choices.
    is_urgent: 'boolean not null default false', // Somebody asked to send it now: it goes before others that wait.
    quoted_with_ts: 'numeric(16,6)', // The message that quoted this unsent one.
    sent_with_ts: 'numeric(16,6)', // The earlier message of its writer whose turn sends it, too.
    received_at: 'timestamptz not null default now()',
    'primary key': '(workspace, channel, ts)',
  },
  // An edit or a deletion that its message's row does not have: it came before the message, or too late to be sent with it.
  pending_edits: {
    workspace: 'text not null',
    channel: 'text not null',
    ts: 'numeric(16,6) not null',
    is_deletion: 'boolean not null',
    user_id: 'text', // Whose words 'content' is.
    content: 'jsonb', // Null with a deletion, with an edit whose words are not kept, and once the message has these words.
    edited_ts: 'numeric(16,6)',
    sent_as_ts: 'numeric(16,6)', // The message that sends the edit to the agent, after a person pressed the button for it.
    received_at: 'timestamptz not null default now()',
    'primary key': '(workspace, channel, ts)',
  },
  orphan_replies: {
    workspace: 'text not null',
    channel: 'text not null',
    thread_ts: 'numeric(16,6) not null',
    ts: 'numeric(16,6) not null',
    received_at: 'timestamptz not null default now()',
    'primary key': '(workspace, channel, thread_ts, ts)',
  },
  // One message to the agent and its reply. Each step has a column; null: not done yet.
  turns: {
    workspace: 'text not null',
    id: 'uuid not null',
    channel: 'text not null',
    thread_ts: 'numeric(16,6) not null',
    message_ts: 'numeric(16,6) not null',
    asked_by: 'text not null',
    // The running turn that passed on this turn's message; the answer may be part of that turn's reply.
    passed_on_by_turn_id: 'uuid',
    prompt: 'text', // The prompt, frozen with the message; a retry sends the same.
    // Whose words the prompt quotes, beside the asker's: erasing one of them erases it.
    quoted_ids: "text[] not null default '{}'",
    // How many characters of the prompt's beginning quote the channel's instructions, and how many after them the thread's
    // former tasks: a retry leaves both out.
    instructions_length: 'integer not null default 0',
    quotation_length: 'integer not null default 0',
    // Who set these instructions, and when; '': that person was forgotten.
    instructions_set_by: 'text',
    instructions_set_at: 'timestamptz',
    attached_file_ids: 'jsonb', // The service's ids of the attached files.
    file_notes: 'jsonb',
    has_text: 'boolean not null default true', // Whether retention still has to erase the prompt and the names of files.
    files_sent_with_turn_id: 'uuid', // The turn that sends the files of this one, which had no text.
    skill: 'text', // The skill that the message was sent with.
    task_id: 'text', // The task that the message was sent to.
    sent_after_message_id: 'text', // The task's last message id when the send was intended; '' if it had none.
    send_intended_at: 'timestamptz',
    user_message_id: 'text',
    assistant_message_id: 'text',
    stop_requested_by: 'text',
    stop_requested_at: 'timestamptz',
    stop_requested_ts: 'numeric(16,6)', // When the stop was requested, by Slack's clock.
    stop_sends_waiting: 'boolean not null default false', // It was stopped to send what waits instead: nothing is paused.
    stop_sent_at: 'timestamptz', // When the service accepted the stop.
    force_stop_requested_at: 'timestamptz', // When a person asked again because the turn did not end.
    force_stop_sent_at: 'timestamptz',
    // Offsets (characters) at which the answer continues in a new message because no edit was permitted in time.
    split_offsets: "integer[] not null default '{}'",
    tool_counts: 'jsonb', // How often the agent used each tool.
    source_checks: 'jsonb', // What registries say of the answer's sources; null: nothing was asked.
    uploaded_bytes: 'bigint not null default 0',
    outcome: 'turn_outcome',
    first_visible_at: 'timestamptz',
    settled_at: 'timestamptz',
    results_posted_at: 'timestamptz', // When the results were posted, or there were none.
    finished_at: 'timestamptz',
    // What a run, or a plan, waited for last, and since when it waits for a person; null in the latter: it does not.
    waits_for: 'text',
    waits_since: 'timestamptz',
    button_message_ts: 'numeric(16,6)', // The message that Continue, Try again, Choose again, Go ahead or Stop here made.
    sources_message_ts: 'numeric(16,6)', // The message that the button below its sources made.
    attempts: 'integer not null default 0', // Takeovers since the last recorded step; too many end the turn.
    attempts_since: 'timestamptz not null default now()', // When the first of them was.
    takeovers: 'integer not null default 0', // How often another process continued the turn.
    started_at: 'timestamptz not null default now()',
    // What the columns of the steps come to: who records a step cannot forget it, whichever release that is.
    phase: `turn_phase not null generated always as (case
      when finished_at is not null and user_message_id is not null then 'ended'
      when finished_at is not null and send_intended_at is not null then 'doubted'
      when finished_at is not null then 'unsent'
      when settled_at is not null then 'finishing'
      when user_message_id is not null and assistant_message_id is not null then 'following'
      when user_message_id is not null then 'sent'
      when send_intended_at is not null then 'sending'
      when prompt is not null then 'frozen'
      when first_visible_at is not null then 'preparing'
      else 'opening' end) stored`,
    unique: '(workspace, channel, message_ts)',
    'primary key': '(workspace, id)',
  },
  // A message or file of ours in Slack: what it is for, and where it is.
  posts: {
    workspace: 'text not null',
    turn_id: 'uuid not null',
    part: 'text not null', // 'reply:0', 'reply:1', …, 'draft:<what>', 'results:0', …, 'end', 'notice:<name>'; of a file 'rest', 'result:<id>', ….
    dedupe_key: 'text not null', // Identifies this post of the part in Slack, and no earlier one that Slack lost: of a file, Slack's id.
    channel: 'text not null',
    thread_ts: 'numeric(16,6) not null',
    state: 'post_state not null',
    // It begins as a stream: it may be one still, and has its key in Slack only from its first edit on.
    is_stream: 'boolean not null default false',
    ts: 'numeric(16,6)', // Null of a file.
    intended_at: 'timestamptz not null default now()',
    'primary key': '(workspace, turn_id, part)',
  },
  // What a registry answered about a publication, until it is asked again.
  registry_answers: {
    workspace: 'text not null',
    source_id: 'text not null', // 'doi:' and a DOI in lower case, or 'pmid:' and a number.
    source_check: 'jsonb not null',
    expires_at: 'timestamptz not null',
    'primary key': '(workspace, source_id)',
  },
  // One person's rating of one answer.
  feedback: {
    workspace: 'text not null',
    turn_id: 'uuid not null',
    user_id: 'text not null',
    is_positive: 'boolean not null',
    comment: 'text', // Null: none was written, or it was erased.
    given_at: 'timestamptz not null default now()',
    'primary key': '(workspace, turn_id, user_id)',
  },
} as const;

/** Their indexes, and how full their pages are. */
export const THREAD_INDEXES = `
  alter table threads set (fillfactor = 80);
  create unique index threads_task on threads (workspace, task_id, account_id) where task_id is not null;
  create index threads_place on threads (channel, thread_ts);
  create index threads_task_intended on threads (workspace, project_id) where task_intended_at is not null;
  create index threads_paused on threads (workspace, channel, thread_ts) where paused_by_turn_id is not null;
  create index threads_last_used on threads (workspace, last_used_at);
  create index threads_started_by on threads (workspace, started_by, (coalesce(task_started_at, created_at)) desc)
    where task_id is not null;
  create index threads_channel on threads (workspace, channel, (coalesce(task_started_at, created_at)) desc)
    where task_id is not null;
  create index threads_participants on threads using gin (participant_ids) where task_id is not null;
  create index threads_titled on threads (last_used_at) where task_title is not null;
  create index threads_untitled on threads (last_used_at) where task_title is null;
  alter table messages set (fillfactor = 80);
  create index messages_client on messages (workspace, channel, client_msg_id) where client_msg_id is not null;
  create index messages_waiting on messages (workspace, channel, thread_ts, ts) where state in ('waiting', 'sending');
  create index messages_urgent on messages (workspace) where is_urgent and state = 'waiting';
  create index messages_sent_with on messages (workspace, channel, sent_with_ts) where sent_with_ts is not null;
  create index messages_replies on messages (workspace, channel, thread_ts, ts) where thread_ts <> ts;
  create index messages_received on messages (received_at) where state not in ('waiting', 'sending');
  create index messages_content on messages (received_at) where content is not null and state not in ('waiting', 'sending');
  create index pending_edits_received on pending_edits (received_at);
  create index orphan_replies_received on orphan_replies (received_at);
  alter table turns set (fillfactor = 70);
  create unique index turns_open on turns (workspace, channel, thread_ts)
    where finished_at is null and passed_on_by_turn_id is null;
  create index turns_unfinished on turns (workspace, channel, thread_ts, id) where finished_at is null;
  create index turns_thread on turns (workspace, channel, thread_ts, id);
  create index turns_stopping on turns (workspace, id) where stop_requested_at is not null and finished_at is null and settled_at is null;
  create index turns_waiting on turns (workspace, channel, thread_ts) where waits_since is not null;
  create index turns_kept on turns (workspace, channel, thread_ts) where outcome = 'kept';
  create index turns_started on turns (workspace, started_at);
  create index turns_asked on turns (workspace, asked_by, started_at);
  create index turns_finished on turns (finished_at) where finished_at is not null;
  -- No column of a step stands in it: an update of such a column alone writes into no index.
  create index turns_text on turns (finished_at) where finished_at is not null and has_text;
  alter table posts set (fillfactor = 80);
  create index posts_ts on posts (workspace, channel, ts) where ts is not null;
  create index registry_answers_expired on registry_answers (expires_at);
  create index feedback_given on feedback (given_at);
  create index feedback_comment on feedback (given_at) where comment is not null;
`;
