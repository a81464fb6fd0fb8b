import type { ColumnType, Generated } from 'kysely';

type TimeColumn = ColumnType<Date, Date | string | undefined, Date | string>;
type NullableTimeColumn = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;
type NullableJsonColumn<T> = ColumnType<T | null, string | null | undefined, string | null>;

/** A Slack file at the service: uploaded once into a project, attached many times. */
export interface UploadedFileTable {
  workspace: string;
  slack_file: string;
  project_id: string;
  /** The service's file id, set when the upload is finalized. */
  file_id: string | null;
  /** '': nobody asks for it, and the service tells it. */
  name: string;
  size_bytes: number;
  created_at: Generated<Date>;
}

/** An upload under way: who is at it, and what the storage has. */
export interface UploadTable {
  workspace: string;
  slack_file: string;
  project_id: string;
  /** The turn that uploads it. */
  holder: string;
  held_until: TimeColumn;
  /** The service's file id; null until the upload has begun. */
  file_id: string | null;
  /** Null for an upload in one piece. */
  multipart_id: string | null;
  part_bytes: number | null;
  /** Headers that the storage wants with every part. */
  headers: NullableJsonColumn<Record<string, string>>;
  size_bytes: number | null;
  finalizing: Generated<boolean>;
  begun_at: TimeColumn;
}

/** A part that the storage has. */
export interface UploadPartTable {
  workspace: string;
  slack_file: string;
  project_id: string;
  number: number;
  etag: string;
}

/** The id is recorded before people can see the file; after `sharing` the outcome is unknown until it is `shared`. */
export type SlackFileState = 'begun' | 'staged' | 'sharing' | 'shared';

/** A file that we put into Slack. */
export interface SlackFileTable {
  workspace: string;
  turn: string;
  /** What it is of its turn: `rest`, … */
  part: string;
  slack_file: string;
  state: SlackFileState;
  intended_at: TimeColumn;
}

/** A result that was posted in its thread. */
export interface ResultTable {
  workspace: string;
  channel: string;
  /** A Slack ts. */
  root: string;
  result_id: string;
  turn: string;
  /** '' for the results at the turn's end, else those that came later together. */
  batch: Generated<string>;
  posted_at: Generated<Date>;
  /** When it stood in the thread; the turn's own are recorded by `results_at`. */
  shown_at: NullableTimeColumn;
}

/** A review of a task's work, and the turn that it is posted for. */
export interface ReviewTable {
  workspace: string;
  channel: string;
  /** A Slack ts. */
  root: string;
  /** The id of the message with the findings, or `failed:` and what says which failure it was. */
  review: string;
  turn: string;
  claimed_at: Generated<Date>;
  /** When it stood in the thread. */
  shown_at: NullableTimeColumn;
}

/** A thread whose task is looked at after its turn has ended. */
export interface FollowUpTable {
  workspace: string;
  channel: string;
  /** A Slack ts. */
  root: string;
  /** The last turn that ended. */
  turn: string;
  looks: Generated<number>;
  next_at: TimeColumn;
  until_at: TimeColumn;
  holder: string | null;
  held_until: NullableTimeColumn;
}
