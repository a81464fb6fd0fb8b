import type { ColumnType, Generated, Selectable } from 'kysely';
import type { ChannelNoticeTable, ChannelSettingsTable } from './schema/channel-tables.ts';
import type { FeedbackTable, IntroductionTable } from './schema/feedback-tables.ts';
import type {
  FollowUpTable,
  ResultTable,
  ReviewTable,
  SlackFileTable,
  UploadedFileTable,
  UploadPartTable,
  UploadTable,
} from './schema/file-tables.ts';
import type { SharedRateLimitTables } from './schema/rate-limit-tables.ts';
import type { TaskChoices, TaskStartTable } from './schema/task-start-tables.ts';
import type { OneTimeNoticeTable, TaskDeletionTable } from './schema/task-tables.ts';
import type { WorkspaceTables } from './schema/workspace-tables.ts';

export type { SlackFileState } from './schema/file-tables.ts';
export type { TaskChoices } from './schema/task-start-tables.ts';

/** A Slack ts, `numeric(16,6)`: compares as a number and comes back as a string with six decimals. */
export type SlackTs = string;

type TimeColumn = ColumnType<Date, Date | string | undefined, Date | string>;
type NullableTimeColumn = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;
type NullableJsonColumn<T> = ColumnType<T | null, string | null | undefined, string | null>;

/** A channel's project at the service. Without `project_id` it is still to be made. */
export interface ProjectTable {
  workspace: string;
  channel: string;
  /** The service account that the project belongs to. */
  account: string;
  project_id: string | null;
  /** Who makes it, so that two threads of a channel do not make two, or made it; null where people chose it. */
  claimed_by: string | null;
  claimed_until: NullableTimeColumn;
  /** Set just before the project is made, cleared when the outcome is known. */
  intended_at: NullableTimeColumn;
  /** From when on the project is to get its channel's name and purpose. */
  name_due: NullableTimeColumn;
  /** Until when a process is at that. */
  name_held_until: NullableTimeColumn;
  created_at: Generated<Date>;
}

/** A thread that is ours. Its task is made when its first turn needs it. */
export interface ThreadTable {
  workspace: string;
  channel: string;
  root: SlackTs;
  account: string;
  /** The person whose message made the thread ours. */
  starter: string;
  /** The message that made the thread ours: later than `root` in the middle of a human thread. */
  began_ts: SlackTs;
  project_id: string | null;
  task_id: string | null;
  task_title: string | null;
  /** The model that the task was asked for with; null: the service's own choice. */
  model: string | null;
  /** Set just before the task is started, cleared when the outcome is known. */
  task_intended_at: NullableTimeColumn;
  /** People whose messages were sent to the task, in the order of their first. */
  writers: Generated<string[]>;
  /** When the task was started. */
  task_begun_at: NullableTimeColumn;
  /** The task's state as it was last read: the service's, or `gone` where it is not there any more. */
  task_state: string | null;
  task_read_at: NullableTimeColumn;
  /** The thread's address for people, once it was asked for. */
  permalink: string | null;
  /** Tasks that the thread had before, and that take no more messages. */
  former_tasks: Generated<string[]>;
  /** The stopped turn since which what waits is held, until somebody says go. */
  held_turn: Generated<string | null>;
  /** No task came of it (a help was shown): replies need a mention again. */
  dormant: Generated<boolean>;
  last_used_at: Generated<Date>;
  created_at: Generated<Date>;
}

/** The words of a person's message, as Slack delivered them. */
export interface MessageContent {
  text: string;
  blocks?: unknown[];
  files?: unknown[];
  /** Of messages that apps wrote, and of forwarded ones. */
  attachments?: unknown[];
  /** What was chosen in a form; it goes before what is typed in the text. */
  choices?: TaskChoices;
  /** The message that is asked about, as Slack gave it. */
  about?: Record<string, unknown>;
}

/**
 * waiting: arrived, not sent; sending: frozen, the send is under way or its outcome is being settled;
 * sent: at the service; withdrawn: taken back before it was sent; closed: its turn ended without a send;
 * refused: its writer may not use the bot, or uses it too much.
 */
export type MessageState = 'waiting' | 'sending' | 'sent' | 'withdrawn' | 'closed' | 'refused';

/** A person's message that is for the agent. Its key is the inbox's dedupe. */
export interface MessageTable {
  workspace: string;
  channel: string;
  ts: SlackTs;
  root: SlackTs;
  person: string;
  state: MessageState;
  /** Null when the turn is done and its time to retry is over. */
  words: NullableJsonColumn<MessageContent>;
  edited_ts: SlackTs | null;
  /** The turn whose words and files this message sends again. */
  resends: Generated<string | null>;
  /** The turn whose question this message asks again, with other words or choices, or corrects. */
  asks_again: Generated<string | null>;
  /** Whether the message carries our waiting mark in Slack. */
  marked: Generated<boolean>;
  received_at: Generated<Date>;
}

/** An edit or a deletion that arrived before the message that it is about. */
export interface EarlyEditTable {
  workspace: string;
  channel: string;
  ts: SlackTs;
  deleted: boolean;
  words: NullableJsonColumn<MessageContent>;
  edited_ts: SlackTs | null;
  /** The message that says so to the agent, since a person pressed the button. */
  taken_by: Generated<SlackTs | null>;
  seen_at: Generated<Date>;
}

/** A reply in a thread that was not ours when it arrived: ids only, for ten minutes. */
export interface OrphanReplyTable {
  workspace: string;
  channel: string;
  root: SlackTs;
  ts: SlackTs;
  seen_at: Generated<Date>;
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
  /** Files without words: they go with the next message. */
  | 'kept'
  | 'abandoned';

/** What the thread is told of one file of a message. */
export interface FileNote {
  /** '': it has left the database. */
  name: string;
  /** A key of the words for a file that was left out; null when it was sent. */
  reason: string | null;
  sizeBytes?: number;
  detail?: string;
  /** Where a file lies that is only linked to. */
  link?: string;
}

/** One message to the agent and its reply. Each column is the record of a step; null: not done yet. */
export interface TurnTable {
  id: string;
  workspace: string;
  channel: string;
  root: SlackTs;
  message_ts: SlackTs;
  asker: string;
  /** The running turn that sent this one's message to a silent run; its answer may stand in that one's reply. */
  passed_on_by: string | null;
  /** What is sent, frozen with the message; a retry sends the same. */
  content: string | null;
  /** The service's file ids that go with it. */
  attached: NullableJsonColumn<string[]>;
  file_notes: NullableJsonColumn<FileNote[]>;
  /** The task's last message id when the send was intended; '' when it had none. */
  send_after_id: string | null;
  send_intended_at: NullableTimeColumn;
  user_message_id: string | null;
  assistant_message_id: string | null;
  /** The task at the service that the message went to. */
  task_id: Generated<string | null>;
  stop_asked_by: string | null;
  stop_asked_at: NullableTimeColumn;
  /** When it was asked for, by Slack's clock. */
  stop_ts: Generated<SlackTs | null>;
  /** When the service took the stop. */
  stop_sent_at: NullableTimeColumn;
  /** When somebody asked again because it did not end. */
  force_asked_at: NullableTimeColumn;
  force_sent_at: NullableTimeColumn;
  /** Characters of the answer at which it goes on in a new message, because the budget had no edit for it. */
  breaks: Generated<number[]>;
  settled_at: NullableTimeColumn;
  outcome: TurnOutcome | null;
  /** The skill that the message was sent with. */
  skill: string | null;
  /** How often the agent used which tool. */
  tools: NullableJsonColumn<Record<string, number>>;
  /** How often a process took the turn up after the first. */
  takeovers: Generated<number>;
  /** The turn that the files of a turn without words go with. */
  kept_for: Generated<string | null>;
  /** Set when a person pressed Continue, Try again or Choose again. */
  followed_at: NullableTimeColumn;
  /** The message that the press made. */
  followed_by: Generated<SlackTs | null>;
  /** Set when the results have been posted (or there are none). */
  results_at: NullableTimeColumn;
  finished_at: NullableTimeColumn;
  /** Takeovers since the last step that was recorded; too many end the turn. */
  attempts: Generated<number>;
  /** When the first of them was. */
  attempts_since: Generated<Date>;
  first_visible_at: NullableTimeColumn;
  edits: Generated<number>;
  bytes_up: Generated<number>;
  started_at: Generated<Date>;
}

/** The intent is recorded before the call; `ts` when Slack answered; gone when Slack no longer has it. */
export type PostState = 'intended' | 'posted' | 'gone';

/** A Slack message of ours: what it is for, and where it went. */
export interface PostTable {
  workspace: string;
  turn: string;
  /** `reply:0`, `reply:1`, …, `results:0`, …, `end`, `notice:<what>`. */
  part: string;
  /** By which it is found in Slack: of this part, and of no earlier one that Slack lost. */
  key: string;
  channel: string;
  root: SlackTs;
  state: PostState;
  ts: SlackTs | null;
  /** SHA-256 of what it shows, so that an edit that changes nothing is not sent. */
  digest: string | null;
  intended_at: TimeColumn;
}

/** A process that may hold connections of a Slack app; dead when `held_until` is over. */
export interface SocketLeaseTable {
  workspace: string;
  app: string;
  process: string;
  /** How many connections it may have open, or still has. */
  sockets: number;
  held_until: TimeColumn;
}

/** A thread, or with the root 0 a channel, that is to be read back after a gap in receiving. */
export interface BackfillTable {
  workspace: string;
  channel: string;
  root: SlackTs;
  /** Nothing before this is missing. */
  since: SlackTs;
  last_used_at: Date;
  /** How many gaps it was noted for: one that comes while it is read must not be forgotten. */
  gaps: Generated<number>;
  claimed_by: string | null;
  claimed_until: TimeColumn;
  noted_at: Generated<Date>;
}

/** What somebody did. Rows are only added; turns, stops and withdrawals are noted by the database itself. */
export interface AuditEventTable {
  workspace: string;
  id: Generated<number>;
  at: Generated<Date>;
  kind: 'turn' | 'stop' | 'withdrawal' | 'deletion' | 'refusal' | 'forget' | 'setting';
  person: ColumnType<string | null, string | undefined, null>;
  channel: ColumnType<string | null, string | undefined, never>;
  root: ColumnType<SlackTs | null, SlackTs | undefined, never>;
  turn: ColumnType<string | null, string | undefined, never>;
  task: ColumnType<string | null, string | undefined, never>;
  details: ColumnType<Record<string, unknown>, string, never>;
}

/** Every table of the product; each carries the workspace. */
export interface Tables extends SharedRateLimitTables, WorkspaceTables {
  projects: ProjectTable;
  threads: ThreadTable;
  messages: MessageTable;
  early_changes: EarlyEditTable;
  strays: OrphanReplyTable;
  turns: TurnTable;
  posts: PostTable;
  channel_settings: ChannelSettingsTable;
  channel_notices: ChannelNoticeTable;
  files: UploadedFileTable;
  results: ResultTable;
  reviews: ReviewTable;
  receivers: SocketLeaseTable;
  catch_ups: BackfillTable;
  audit: AuditEventTable;
  uploads: UploadTable;
  upload_parts: UploadPartTable;
  slack_files: SlackFileTable;
  watches: FollowUpTable;
  starts: TaskStartTable;
  task_deletions: TaskDeletionTable;
  told_once: OneTimeNoticeTable;
  feedback: FeedbackTable;
  introductions: IntroductionTable;
}

export type Thread = Selectable<ThreadTable>;
export type Message = Selectable<MessageTable>;
export type Turn = Selectable<TurnTable>;
/** Which turn. */
export type TurnId = Pick<Turn, 'workspace' | 'id'>;
/** Which turn, and where. What works for hours holds on to this, and not to a row with people's words. */
export type TurnLocation = Pick<Turn, 'workspace' | 'id' | 'channel' | 'root'>;
export type Post = Selectable<PostTable>;
export type SlackFileRow = Selectable<SlackFileTable>;
export type FollowUp = Selectable<FollowUpTable>;
export type TaskStart = Selectable<TaskStartTable>;
export type TaskDeletion = Selectable<TaskDeletionTable>;
