/** Columns of these domains hold one of a few words. */
export const TASK_WORDS = {
  // draft: its form is open; posting: its question is being posted into the channel; done: it is in its thread.
  task_start_state: ['draft', 'posting', 'done'],
} as const;

/** Projects, tasks, files, and jobs to do later. */
export const TASK_TABLES = {
  // A channel's project at the service. It is not created yet while 'project_id' is null.
  projects: {
    workspace: 'text not null',
    channel: 'text not null',
    account_id: 'text not null',
    project_id: 'text',
    // The turn that creates or created it, so that two threads do not create two; null if people chose the project.
    claimed_by: 'uuid',
    create_intended_at: 'timestamptz', // Set just before the project is created, cleared when the outcome is known.
    created_at: 'timestamptz not null default now()',
    'primary key': '(workspace, channel, account_id)',
  },
  project_channels: {
    workspace: 'text not null',
    channel: 'text not null',
    project_id: 'text not null',
    // Who took another channel's project; null in a channel of its own, '' once they are erased.
    taken_by: 'text',
    'primary key': '(workspace, channel, project_id)',
  },
  // A task that a person starts with a form, until it is in its thread.
  task_starts: {
    workspace: 'text not null',
    id: 'uuid not null',
    state: 'task_start_state not null',
    user_id: 'text not null',
    channel: 'text not null',
    thread_ts: 'numeric(16,6)', // The thread that it goes into; null: a new one, below a post of ours that is still to come.
    message_ts: 'numeric(16,6)', // When the form was requested.
    source_turn_id: 'uuid', // The turn whose question is asked again.
    source_content: 'jsonb', // The message that the form is about: one that was chosen, or one that is asked again.
    content: 'jsonb', // The question, once the form was sent.
    created_at: 'timestamptz not null default now()',
    'primary key': '(workspace, id)',
  },
  // An upload to the service: the turn that claimed it, and what the storage has.
  uploads: {
    workspace: 'text not null',
    slack_file_id: 'text not null',
    project_id: 'text not null',
    claimed_by: 'uuid', // Null once its attempt has failed.
    file_id: 'text', // The service's file id; null until the upload has started.
    multipart_id: 'text', // Null for an upload in one piece.
    part_size_bytes: 'bigint',
    part_headers: 'jsonb', // Headers that the storage requires with every part.
    size_bytes: 'bigint',
    part_etags: "jsonb not null default '{}'", // The ETags of the parts that the storage has, by number.
    is_finalizing: 'boolean not null default false',
    started_at: 'timestamptz not null default now()', // When it was claimed.
    uploaded_at: 'timestamptz', // When the service had the file.
    sha256: 'text', // In hexadecimal digits; null where no process sent all of its bytes.
    'primary key': '(workspace, slack_file_id, project_id)',
  },
  // A result or a review that one post of the thread shows: of a file that the agent has written again, the last one.
  posted_results: {
    workspace: 'text not null',
    channel: 'text not null',
    thread_ts: 'numeric(16,6) not null',
    // Of a review, 'review:' and the id of the message with the findings, or 'failed:' and the name of the failure.
    result_id: 'text not null',
    turn_id: 'uuid not null',
    // '' for the results at the turn's end, else the name of a later group; of a review, the same as 'result_id'.
    batch: "text not null default ''",
    size_bytes: 'bigint', // Of a result when it was claimed; null where the service does not tell.
    made_at: 'timestamptz', // The same; null also where it was made only just before.
    earlier_turn_ids: "uuid[] not null default '{}'", // The turns whose posts showed what the file held before.
    sha256: 'text', // Of a result that the thread shows itself, in hexadecimal digits.
    posted_at: 'timestamptz', // When it was in the thread; for the turn's own results, 'results_posted_at' of the turn records it.
    'primary key': '(workspace, channel, thread_ts, result_id)',
  },
  // Work to do later, by any process.
  jobs: {
    workspace: 'text not null',
    kind: 'text not null',
    channel: 'text not null',
    thread_ts: 'numeric(16,6) not null',
    key: 'text not null', // Which of its kind in this place.
    person: 'text not null', // Who asked for it, if a person did.
    payload: 'jsonb not null', // Opaque ids and times, never what people write.
    version: 'integer not null default 1', // How often it was asked for.
    due_at: 'timestamptz not null',
    claim_id: 'uuid', // The claim of the process that runs it.
    claimed_until: 'timestamptz',
    holder: 'uuid', // The process that has the claim.
    tried_since: 'timestamptz', // When it was first tried after its last progress.
    intended_at: 'timestamptz', // Set just before what cannot be repeated happens.
    done_at: 'timestamptz', // Done, and remembered for some days.
    created_at: 'timestamptz not null default clock_timestamp()',
    'primary key': '(workspace, kind, channel, thread_ts, key)',
  },
} as const;

/** Their indexes, and how full their pages are. */
export const TASK_INDEXES = `
  create index project_channels_project_id on project_channels (project_id);
  create index task_starts_created on task_starts (created_at);
  create index uploads_started on uploads (started_at);
  create index uploads_unfinished on uploads (started_at) where uploaded_at is null;
  alter table jobs set (fillfactor = 70);
  create index jobs_due on jobs (due_at) where done_at is null;
  create index jobs_claimed on jobs (claim_id) where claim_id is not null;
  create index jobs_done on jobs (done_at) where done_at is not null;
`;
