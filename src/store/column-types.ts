import type { ColumnType, InsertType, SelectType, UpdateType } from 'kysely';
import type { SourceCheck, SourceChecks } from '../registries/source-check.ts';

/** A Slack ts, `numeric(16,6)`: compares as a number and comes back as a string with six decimals. */
export type SlackTs = string;

export type Timestamp = ColumnType<Date, Date | string, Date | string>;

/** A column that has a value without being given one. */
export type Defaulted<T> = ColumnType<SelectType<T>, InsertType<T> | undefined, UpdateType<T>>;

/** A `jsonb` column, by its domain. It is written as text, because `pg` would write an array as a PostgreSQL array. */
export type Json<Domain extends keyof JsonColumns> = ColumnType<JsonColumns[Domain], string, string>;

/** What the domains of `jsonb` hold. */
interface JsonColumns {
  message_content: MessageContent;
  file_notes: FileNote[];
  /** The service's ids of the attached files. */
  attached_ids: string[];
  /** How often the agent used each tool. */
  tool_counts: Record<string, number>;
  /** What registries say of one publication, and of an answer's sources. */
  source_check: SourceCheck;
  source_checks: SourceChecks;
  /** Opaque ids and times, never what people write. */
  job_payload: Readonly<Record<string, unknown>>;
  /** Headers that the storage requires with every part of an upload. */
  part_headers: Readonly<Record<string, string>>;
  /** The ETags of the parts that the storage has, by number. */
  part_etags: Record<string, string>;
  signed_text: EncryptedText;
  /** Numbers and ids; never people's text, names or file names. */
  audit_details: Record<string, unknown>;
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
