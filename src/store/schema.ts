import type { ColumnType, InsertType, Selectable, SelectType, UpdateType } from 'kysely';
import type { SourceCheck, SourceChecks } from '../registries/source-check.ts';
import type { DEFINITIONS, WORDS } from './migrations/0001-baseline.ts';

type Definitions = typeof DEFINITIONS;
type Words = typeof WORDS;

/** A Slack ts, `numeric(16,6)`: compares as a number and comes back as a string with six decimals. */
export type SlackTs = string;

/** What `pg` makes of PostgreSQL's types, with the parsers of `database-client.ts`. */
interface ColumnTypes {
  bigint: number;
  boolean: boolean;
  'double precision': number;
  integer: number;
  'integer[]': number[];
  'numeric(16,6)': SlackTs;
  text: string;
  'text[]': string[];
  timestamptz: ColumnType<Date, Date | string, Date | string>;
  uuid: string;
  'uuid[]': string[];
}

/** The values of a type. `jsonb` is written as text, because `pg` would write an array as a PostgreSQL array. */
type ValueOf<Type, Name> = Type extends keyof ColumnTypes
  ? ColumnTypes[Type]
  : Type extends keyof Words
    ? Words[Type][number]
    : Name extends keyof JsonColumns
      ? ColumnType<JsonColumns[Name], string, string>
      : never;

/** A column that has a value without being given one. */
type Defaulted<T> = ColumnType<SelectType<T>, InsertType<T> | undefined, UpdateType<T>>;

type Column<Definition, Name> = Definition extends `${infer Type} not null${infer Rest}`
  ? Rest extends ` default ${string}` | ` generated ${string}`
    ? Defaulted<ValueOf<Type, Name>>
    : ValueOf<Type, Name>
  : ValueOf<Definition, Name> | null;

/** The tables that Kysely knows. The baseline in `migrations/` says what each column holds. */
export type Tables = {
  [Table in keyof Definitions]: {
    [Name in Exclude<keyof Definitions[Table], 'primary key' | 'unique' | 'check'>]: Column<
      Definitions[Table][Name],
      Name
    >;
  };
};

/** What the columns of `jsonb` hold, by their names. */
interface JsonColumns {
  content: MessageContent;
  source_content: MessageContent;
  file_notes: FileNote[];
  /** The service's ids of the attached files. */
  attached_file_ids: string[];
  /** How often the agent used each tool. */
  tool_counts: Record<string, number>;
  /** What registries say of one publication, and of an answer's sources. */
  source_check: SourceCheck;
  source_checks: SourceChecks;
  /** Opaque ids and times of a job, never what people write. */
  payload: Readonly<Record<string, unknown>>;
  /** Headers that the storage requires with every part of an upload. */
  part_headers: Readonly<Record<string, string>>;
  /** The ETags of the parts that the storage has, by number. */
  part_etags: Record<string, string>;
  instructions: EncryptedText;
  prompts: EncryptedText;
  /** Numbers and ids of an audit event; never people's text, names or file names. */
  details: Record<string, unknown>;
}

/** A text that a person has set, encrypted under `SECRET_KEY`; `set_at` is an ISO time. */
export interface EncryptedText {
  encrypted: string;
  set_by: string;
  set_at: string;
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

/** What the reply says of one file of a message. */
export interface FileNote {
  /** '': the name was erased. */
  name: string;
  /** A key of the strings for a file that was left out; null for one that was sent. */
  reason: string | null;
  sizeBytes?: number;
  detail?: string;
  /** What a spreadsheet seems to have altered in a table, in a sentence. */
  remark?: string;
  /** The address of a file that is passed on as a link. */
  link?: string;
}

export type AllowedUsers = Words['allowed_users'][number];
export type ListenSetting = Words['listen_setting'][number];
export type OneTimeNotice = Words['one_time_notice'][number];
export type PostState = Words['post_state'][number];
export type TaskControl = Words['task_control'][number];
export type TurnOutcome = Words['turn_outcome'][number];
export type TurnPhase = Words['turn_phase'][number];

export type AccountRow = Selectable<Tables['accounts']>;
export type AuditRow = Selectable<Tables['audit_events']>;
export type PendingEditRow = Selectable<Tables['pending_edits']>;
export type FeedbackRow = Selectable<Tables['feedback']>;
export type InstallationRow = Selectable<Tables['installations']>;
/** A job as its run knows it: when it is due, and whose it is until when, only statements compare. */
export type Job = Omit<Selectable<Tables['jobs']>, 'due_at' | 'claimed_until' | 'holder'>;
export type Message = Selectable<Tables['messages']>;
export type Post = Selectable<Tables['posts']>;
export type PostedResult = Selectable<Tables['posted_results']>;
export type ProjectRow = Selectable<Tables['projects']>;
export type SettingsRow = Selectable<Tables['settings']>;
export type SocketLease = Selectable<Tables['socket_leases']>;
export type TaskStart = Selectable<Tables['task_starts']>;
export type Thread = Selectable<Tables['threads']>;
export type Turn = Selectable<Tables['turns']>;
/** Where a turn has the message that a button made: those below its reply exclude each other, the one below its sources is apart. */
export type ButtonClaim = 'button_message_ts' | 'sources_message_ts';
export type UploadRow = Selectable<Tables['uploads']>;
export type WorkspaceRow = Selectable<Tables['workspaces']>;

/** Which replies in threads that people began are for the agent. */
export type ListenMode = Exclude<ListenSetting, 'everything'>;

/** Identifies a thread; `thread_ts` is the ts of its first message. */
export type ThreadKey = Pick<Thread, 'workspace' | 'channel' | 'thread_ts'>;
/** Identifies a message in Slack. */
export type MessageKey = Pick<Message, 'workspace' | 'channel' | 'ts'>;
/** Identifies a channel's project under a service account. */
export type ProjectKey = Pick<ProjectRow, 'workspace' | 'channel' | 'account_id'>;
/** Identifies a service account of a workspace. */
export type AccountKey = Pick<AccountRow, 'workspace' | 'account_id'>;
/** Identifies an upload: a Slack file and its project. */
export type UploadKey = Pick<UploadRow, 'workspace' | 'slack_file_id' | 'project_id'>;
export type TurnId = Pick<Turn, 'workspace' | 'id'>;
/** Which turn, and where. What works for hours keeps this, and not a row with people's content. */
export type TurnLocation = TurnId & ThreadKey;
/** Whether a workspace's events arrive: the app's own posts come back as events. */
export type EchoState = Pick<WorkspaceRow, 'unheard_posts' | 'unheard_since' | 'heard_at' | 'judged_deaf_at'>;

/** A thread's key as text: the name of its advisory lock, and of what a process does in the thread. */
export function threadKeyText({ workspace, channel, thread_ts }: ThreadKey): string {
  return `${workspace}/${channel}/${thread_ts}`;
}
