import type { MessageKey, SlackTs, ThreadKey } from '../keys.ts';

/** A thread of ours. Its task is created when its first turn needs it. */
export interface Thread extends ThreadKey {
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
  task_intended_at: Date | null;
  /** People whose messages were sent to the task, in the order of their first message. */
  participant_ids: string[];
  /** When the task was created. */
  task_started_at: Date | null;
  /** The task's state when it was last read: the service's word, or `gone` if the task no longer exists. */
  task_state: string | null;
  task_state_read_at: Date | null;
  /** The thread's link in Slack, once it was requested. */
  permalink: string | null;
  /** Earlier tasks of the thread, which accept no more messages. */
  former_task_ids: string[];
  /** Those whose conversation goes with the first message to the next one: not a deleted one, nor another account's. */
  quotable_task_ids: string[];
  /** The stopped turn that paused the thread's waiting messages, until somebody resumes them. */
  paused_by_turn_id: string | null;
  /** Who mentioned the bot was refused: replies need a mention again. */
  is_dormant: boolean;
  /** People asked the agent to read every reply in a thread that people began. */
  listens_to_all: boolean;
  /** Who was told that their replies are not sent. */
  informed_ids: string[];
  /** The task was begun with "Plan first". */
  plans_first: boolean;
  last_used_at: Date;
  created_at: Date;
}

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
  /** It is the new text of a message that was edited after it was sent. */
  isCorrection?: true;
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
export interface Message extends MessageKey {
  thread_ts: SlackTs;
  user_id: string;
  state: MessageState;
  /** Null once the turn has ended and can no longer be retried, and until a waiting message is read back from Slack. */
  content: MessageContent | null;
  edited_ts: SlackTs | null;
  /** The turn whose content and files this message sends again. */
  resends_turn_id: string | null;
  /** The turn whose question this message asks again with other content or choices. */
  revises_turn_id: string | null;
  /** Whether the message has our waiting reaction in Slack. */
  has_waiting_reaction: boolean;
  /** Somebody asked to pass it on to the run at work. */
  is_urgent: boolean;
  /** The message that quoted this unsent one. */
  quoted_with_ts: SlackTs | null;
  received_at: Date;
}

/** An edit or a deletion that arrived before its message. */
export interface EarlyEditRow extends MessageKey {
  is_deletion: boolean;
  /** Whose words `content` is. */
  user_id: string | null;
  /** Null with a deletion, with an edit whose words are not kept, and once the message has these words. */
  content: MessageContent | null;
  edited_ts: SlackTs | null;
  /** The message that sends the edit to the agent, after a person pressed the button for it. */
  sent_as_ts: SlackTs | null;
  received_at: Date;
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
export interface Turn extends ThreadKey {
  id: string;
  message_ts: SlackTs;
  asked_by: string;
  /** The running turn that forwarded this turn's message; the answer may be part of that turn's reply. */
  forwarded_by_turn_id: string | null;
  /** The prompt, frozen with the message; a retry sends the same. */
  prompt: string | null;
  /** Whose words the prompt quotes, beside the asker's: erasing one of them erases it. */
  quoted_ids: string[];
  /** How many characters of the prompt's beginning quote the thread's former tasks: a retry leaves them out. */
  quotation_length: number;
  /** The service's ids of the attached files. */
  attached_file_ids: string[] | null;
  file_notes: FileNote[] | null;
  /** Whether retention still has to erase the prompt and the names of files. */
  has_text: boolean;
  /** The task's last message id when the send was intended; '' if it had none. */
  sent_after_message_id: string | null;
  send_intended_at: Date | null;
  user_message_id: string | null;
  assistant_message_id: string | null;
  /** The task that the message was sent to. */
  task_id: string | null;
  stop_requested_by: string | null;
  stop_requested_at: Date | null;
  /** When the stop was requested, by Slack's clock. */
  stop_requested_ts: SlackTs | null;
  /** When the service accepted the stop. */
  stop_sent_at: Date | null;
  /** When a person asked again because the turn did not end. */
  force_stop_requested_at: Date | null;
  force_stop_sent_at: Date | null;
  /** Offsets (characters) at which the answer continues in a new message because no edit was permitted in time. */
  split_offsets: number[];
  settled_at: Date | null;
  outcome: TurnOutcome | null;
  /** The skill that the message was sent with. */
  skill: string | null;
  /** How often the agent used each tool. */
  tool_counts: Record<string, number> | null;
  /** How often another process continued the turn. */
  takeovers: number;
  /** The turn that sends the files of this one, which had no text. */
  files_sent_with_turn_id: string | null;
  /** When a person pressed Continue, Try again, Choose again, Go ahead or Stop here. */
  button_used_at: Date | null;
  /** The message that the button made. */
  button_message_ts: SlackTs | null;
  /** When the results were posted, or there were none. */
  results_posted_at: Date | null;
  finished_at: Date | null;
  /** Takeovers since the last recorded step; too many end the turn. */
  attempts: number;
  /** When the first of them was. */
  attempts_since: Date;
  first_visible_at: Date | null;
  /** How many edits the reply took. */
  edit_count: number;
  uploaded_bytes: number;
  started_at: Date;
}

/** Which turn. */
export type TurnId = Pick<Turn, 'workspace' | 'id'>;
/** Which turn, and where. What works for hours keeps this, and not a row with people's content. */
export type TurnLocation = Pick<Turn, 'workspace' | 'id' | 'channel' | 'thread_ts'>;

/** The intent is recorded before the call; `ts` when Slack answered; gone when Slack no longer has it. */
export type PostState = 'intended' | 'posted' | 'gone';

/** A Slack message of ours: what it is for, and where it is. */
export interface Post extends ThreadKey {
  turn_id: string;
  /** `reply:0`, `reply:1`, …, `draft:<what>`, `results:0`, …, `end`, `notice:<name>`. */
  part: string;
  /** Identifies this post of the part in Slack, and no earlier one that Slack lost. */
  dedupe_key: string;
  state: PostState;
  /** It begins as a stream: it may be one still, and has its key in Slack only from its first edit on. */
  is_stream: boolean;
  ts: SlackTs | null;
  /** SHA-256 of the content, so that an edit that changes nothing is not sent. */
  content_hash: string | null;
  intended_at: Date;
}

/** One person's rating of one answer. */
export interface FeedbackRow {
  workspace: string;
  turn_id: string;
  user_id: string;
  is_positive: boolean;
  /** Null: none was written, or it was erased. */
  comment: string | null;
  given_at: Date;
}
