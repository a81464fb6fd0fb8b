import type { Generated, Selectable } from 'kysely';
import type { ThreadKey } from '../keys.ts';
import type { NullableJsonColumn, NullableTimeColumn, TimeColumn } from './column-types.ts';

/** Identifies an upload: a Slack file and its project. */
export interface UploadKey {
  workspace: string;
  slack_file_id: string;
  project_id: string;
}

/** A Slack file at the service: uploaded once into a project, attached many times. */
interface UploadedFileTable extends UploadKey {
  /** The service's file id, set when the upload is finalized. */
  file_id: string | null;
  size_bytes: number;
  created_at: Generated<Date>;
}

/** An upload under way: the turn that claimed it, and what the storage has. */
interface UploadTable extends UploadKey {
  claimed_by: string;
  claimed_until: TimeColumn;
  /** The service's file id; null until the upload has started. */
  file_id: string | null;
  /** Null for an upload in one piece. */
  multipart_id: string | null;
  part_size_bytes: number | null;
  /** Headers that the storage requires with every part. */
  part_headers: NullableJsonColumn<Record<string, string>>;
  size_bytes: number | null;
  /** The ETags of the parts that the storage has, by number. */
  part_etags: Generated<Record<string, string>>;
  is_finalizing: Generated<boolean>;
  started_at: Generated<Date>;
}

/** The id is recorded before people can see the file; `sharing`: the outcome is unknown until it is `shared`. */
export type SlackFileState = 'begun' | 'staged' | 'sharing' | 'shared';

/** A file that we put into Slack. */
interface SlackFileTable {
  workspace: string;
  turn_id: string;
  /** Which file of its turn it is: `rest`, … */
  part: string;
  slack_file_id: string;
  state: SlackFileState;
  intended_at: Generated<Date>;
}

export type SlackFileRow = Selectable<SlackFileTable>;

/** A result or a review that one post of the thread shows. */
interface ResultTable extends ThreadKey {
  /** Of a review, `review:` and the id of the message with the findings, or `failed:` and the name of the failure. */
  result_id: string;
  turn_id: string;
  /** '' for the results at the turn's end, else the name of a later group; of a review, the same as `result_id`. */
  batch: Generated<string>;
  /** When it was in the thread; for the turn's own results, `results_posted_at` of the turn records it. */
  posted_at: NullableTimeColumn;
}

/** Files at the service and in Slack, results and reviews. */
export interface FileTables {
  uploaded_files: UploadedFileTable;
  uploads: UploadTable;
  slack_files: SlackFileTable;
  posted_results: ResultTable;
}
