import type { Generated, Selectable } from 'kysely';
import type { MessageKey, ThreadKey } from '../keys.ts';
import type { NullableJsonColumn, NullableTimeColumn, SlackTs } from './column-types.ts';

/** A thread of ours. Its task is created when its first turn needs it. */
interface ThreadTable extends ThreadKey {
  /** The service account that its task belongs to. */
  account_id: string;
  /** The person whose message made the thread ours. */
  started_by: string;
  /** The message that made the thread ours: later than `thread_ts` if people had talked in the thread before. */
  adopted_ts: SlackTs;
  project_id: string | null;
  task_id: string | null;
  task_title: string | null;
  /** The model requested for the task; null: the service's default. */
  task_model: string | null;
  /** Set just before the task is created, cleared when the outcome is known. */
  task_intended_at: NullableTimeColumn;
  /** People whose messages were sent to the task, in the order of their first message. */
  participant_ids: Generated<string[]>;
  /** When the task was created. */
  task_started_at: NullableTimeColumn;
  /** The task's state when it was last read: the service's word, or `gone` if the task no longer exists. */
  task_state: string | null;
  task_state_read_at: NullableTimeColumn;
  /** The thread's link in Slack, once it was requested. */
  permalink: string | null;
  /** Earlier tasks of the thread, which accept no more messages. */
  former_task_ids: Generated<string[]>;
  /** The stopped turn that paused the thread's waiting messages, until somebody resumes them. */
  paused_by_turn_id: Generated<string | null>;
  /** The mention led to no task (only help was shown): replies need a mention again. */
  is_dormant: Generated<boolean>;
  /** People asked the agent to read every reply in a thread that people began. */
  listens_to_all: Generated<boolean>;
  /** Who was told that their replies are not sent. */
  informed_ids: Generated<string[]>;
  /** The task was begun with "Plan first". */
  plans_first: Generated<boolean>;
  last_used_at: Generated<Date>;
  created_at: Generated<Date>;
}

export type Thread = Selectable<ThreadTable>;

/** How a task is created, and how its first message is sent; what is left out has the usual value. */
export interface TaskChoices {
  title?: string;
  /** `standard`, `fast`, `max`, or free text. */
  model?: string;
  /** Id or name. */
  skill?: string;
  /** Fail rather than use a fallback model. */
  noFallback?: boolean;
  mode?: 'auto' | 'plan';
}

/** A person's message, as Slack delivered it. */
export interface MessageContent {
  text: string;
  blocks?: unknown[];
  files?: unknown[];
  /** Of messages from apps, and of forwarded messages. */
  attachments?: unknown[];
  /** What was chosen in a form; it overrides what is typed in the text. */
  choices?: TaskChoices;
  /** The message that the question is about, as Slack delivered it. */
  about?: Record<string, unknown>;
  /** What a step of a workflow says of itself, until its question is posted. */
  step?: { label?: string; person?: string };
}

/**
 * waiting: arrived, not sent; sending: frozen, the send is under way or its outcome is unknown;
 * sent: at the service; withdrawn: taken back before it was sent; closed: its turn ended without a send;
 * refused: its writer has no access or is over a quota; unsent: people's talk, of which only the ids are kept.
 */
export type MessageState = 'waiting' | 'sending' | 'sent' | 'withdrawn' | 'closed' | 'refused' | 'unsent';

/** A person's message for the agent. Its key deduplicates the inbox. */
interface MessageTable extends MessageKey {
  thread_ts: SlackTs;
  user_id: string;
  state: MessageState;
  /** Null once the turn has ended and can no longer be retried, and until a waiting message is read back from Slack. */
  content: NullableJsonColumn<MessageContent>;
  edited_ts: SlackTs | null;
  /** The turn whose content and files this message sends again. */
  resends_turn_id: Generated<string | null>;
  /** The turn whose question this message asks again with other content or choices. */
  revises_turn_id: Generated<string | null>;
  /** Whether the message has our waiting reaction in Slack. */
  has_waiting_reaction: Generated<boolean>;
  /** Somebody asked to pass it on to the run at work. */
  is_urgent: Generated<boolean>;
  /** The message that quoted this unsent one. */
  quoted_with_ts: Generated<SlackTs | null>;
  received_at: Generated<Date>;
}

export type Message = Selectable<MessageTable>;

/** An edit or a deletion that arrived before its message. */
interface EarlyEditTable extends MessageKey {
  is_deletion: boolean;
  /** Whose words `content` is. */
  user_id: string | null;
  /** Null with a deletion, with an edit that is not for us, and once the message has these words. */
  content: NullableJsonColumn<MessageContent>;
  edited_ts: SlackTs | null;
  /** The message that sends the edit to the agent, after a person pressed the button for it. */
  sent_as_ts: Generated<SlackTs | null>;
  received_at: Generated<Date>;
}

/** A reply in a thread that was not ours when it arrived: ids only, for ten minutes. */
interface OrphanReplyTable extends ThreadKey {
  ts: SlackTs;
  received_at: Generated<Date>;
}

/** How a turn ended. */
export type TurnOutcome =
  | 'completed'
  | 'length'
  | 'cancelled'
  | 'failed'
  | 'refused'
  | 'withdrawn'
  | 'helped'
  /** Files without text: they go with the next message. */
  | 'kept'
  | 'abandoned';

/** What the reply says of one file of a message. */
export interface FileNote {
  /** '': the name was erased. */
  name: string;
  /** A key of the strings for a file that was left out; null for one that was sent. */
  reason: string | null;
  sizeBytes?: number;
  detail?: string;
  /** The address of a file that is passed on as a link. */
  link?: string;
}

/** One message to the agent and its reply. Each column records a step; null: not done yet. */
interface TurnTable extends ThreadKey {
  id: string;
  message_ts: SlackTs;
  asked_by: string;
  /** The running turn that forwarded this turn's message; the answer may be part of that turn's reply. */
  forwarded_by_turn_id: string | null;
  /** The prompt, frozen with the message; a retry sends the same. */
  prompt: string | null;
  /** The service's ids of the attached files. */
  attached_file_ids: NullableJsonColumn<string[]>;
  file_notes: NullableJsonColumn<FileNote[]>;
  /** Whether retention still has to erase the prompt and the names of files. */
  has_text: Generated<boolean>;
  /** The task's last message id when the send was intended; '' if it had none. */
  sent_after_message_id: string | null;
  send_intended_at: NullableTimeColumn;
  user_message_id: string | null;
  assistant_message_id: string | null;
  /** The task that the message was sent to. */
  task_id: Generated<string | null>;
  stop_requested_by: string | null;
  stop_requested_at: NullableTimeColumn;
  /** When the stop was requested, by Slack's clock. */
  stop_requested_ts: Generated<SlackTs | null>;
  /** When the service accepted the stop. */
  stop_sent_at: NullableTimeColumn;
  /** When a person asked again because the turn did not end. */
  force_stop_requested_at: NullableTimeColumn;
  force_stop_sent_at: NullableTimeColumn;
  /** Offsets (characters) at which the answer continues in a new message because no edit was permitted in time. */
  split_offsets: Generated<number[]>;
  settled_at: NullableTimeColumn;
  outcome: TurnOutcome | null;
  /** The skill that the message was sent with. */
  skill: string | null;
  /** How often the agent used each tool. */
  tool_counts: NullableJsonColumn<Record<string, number>>;
  /** How often another process continued the turn. */
  takeovers: Generated<number>;
  /** The turn that sends the files of this one, which had no text. */
  files_sent_with_turn_id: Generated<string | null>;
  /** When a person pressed Continue, Try again, Choose again, Go ahead or Stop here. */
  button_used_at: NullableTimeColumn;
  /** The message that the button made. */
  button_message_ts: Generated<SlackTs | null>;
  /** When the results were posted, or there were none. */
  results_posted_at: NullableTimeColumn;
  finished_at: NullableTimeColumn;
  /** Takeovers since the last recorded step; too many end the turn. */
  attempts: Generated<number>;
  /** When the first of them was. */
  attempts_since: Generated<Date>;
  first_visible_at: NullableTimeColumn;
  /** How many edits the reply took. */
  edit_count: Generated<number>;
  uploaded_bytes: Generated<number>;
  started_at: Generated<Date>;
}

export type Turn = Selectable<TurnTable>;
/** Which turn. */
export type TurnId = Pick<Turn, 'workspace' | 'id'>;
/** Which turn, and where. What works for hours keeps this, and not a row with people's content. */
export type TurnLocation = Pick<Turn, 'workspace' | 'id' | 'channel' | 'thread_ts'>;

/** The intent is recorded before the call; `ts` when Slack answered; gone when Slack no longer has it. */
export type PostState = 'intended' | 'posted' | 'gone';

/** A Slack message of ours: what it is for, and where it is. */
interface PostTable extends ThreadKey {
  turn_id: string;
  /** `reply:0`, `reply:1`, …, `results:0`, …, `end`, `notice:<name>`. */
  part: string;
  /** Identifies this post of the part in Slack, and no earlier one that Slack lost. */
  dedupe_key: string;
  state: PostState;
  ts: SlackTs | null;
  /** SHA-256 of the content, so that an edit that changes nothing is not sent. */
  content_hash: string | null;
  intended_at: Generated<Date>;
}

export type Post = Selectable<PostTable>;

/** Threads, their messages, turns and our posts. */
export interface ThreadTables {
  threads: ThreadTable;
  messages: MessageTable;
  early_edits: EarlyEditTable;
  orphan_replies: OrphanReplyTable;
  turns: TurnTable;
  posts: PostTable;
}
