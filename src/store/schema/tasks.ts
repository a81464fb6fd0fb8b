import type { ProjectKey, SlackTs, ThreadKey } from '../keys.ts';
import type { MessageContent } from './threads.ts';

/**
 * Which replies in threads that people began are for the agent: those that mention it, also those of a conversation with
 * it, or all.
 */
export type ListenMode = 'mentions' | 'conversation' | 'replies';
/** Who may use the agent: full members, guests too, or everyone in the channel. */
export type AllowedUsers = 'members' | 'guests' | 'everyone';
/** Who may stop and change a task: the person who started it, everyone in the channel, or admins. */
export type TaskControl = 'starter' | 'channel' | 'admins';

/** A channel's project at the service. It is not created yet while `project_id` is null. */
export interface ProjectRow extends ProjectKey {
  project_id: string | null;
  /** The turn that creates or created it, so that two threads do not create two; null if people chose the project. */
  claimed_by: string | null;
  claimed_until: Date | null;
  /** Set just before the project is created, cleared when the outcome is known. */
  create_intended_at: Date | null;
  created_at: Date;
}

/** The settings of a channel, or of a whole workspace. */
export interface SettingsRow {
  workspace: string;
  /** '': the whole workspace. Null in a column: for a channel, the workspace's setting; for that, the operator's. */
  channel: string;
  /** The model of new tasks; null: the service's default. */
  model: string | null;
  /** `everything`, of channels alone: every message in the channel starts a thread, too. */
  listen_mode: ListenMode | 'everything' | null;
  allowed_users: AllowedUsers | null;
  /** Other bots and workflows (B…) that may use the agent. */
  allowed_bots: string[] | null;
  task_control: TaskControl | null;
  show_steps: boolean;
  /** The project gets the channel's name and purpose when they change; null: if it was created for the channel. */
  sync_project_name: boolean | null;
  /** Steps of Slack's workflows may ask the agent here. */
  allow_workflow_steps: boolean;
  changed_by: string;
  changed_at: Date;
}

/** draft: its form is open; posting: its question is being posted into the channel; done: it is in its thread. */
type TaskStartState = 'draft' | 'posting' | 'done';

/** A task that a person starts with a form, until it is in its thread. */
export interface TaskStart {
  workspace: string;
  id: string;
  state: TaskStartState;
  user_id: string;
  channel: string;
  /** The thread that it goes into; null: a new one, below a post of ours that is still to come. */
  thread_ts: SlackTs | null;
  /** When the form was requested: the ts of its message in the thread. */
  message_ts: SlackTs | null;
  /** The turn whose question is asked again. */
  source_turn_id: string | null;
  /** The message that the form is about: one that was chosen, or one that is asked again. */
  source_content: MessageContent | null;
  /** The question, once the form was sent. */
  content: MessageContent | null;
  created_at: Date;
}

/** Work to do later, by any process. */
export interface Job extends ThreadKey {
  kind: string;
  /** Which of its kind in this place. */
  key: string;
  /** Who asked for it, if a person did. */
  person: string;
  /** Opaque ids and times, never what people write. */
  payload: Readonly<Record<string, unknown>>;
  /** How often it was asked for. */
  version: number;
  due_at: Date;
  /** The claim of the process that runs it. */
  claim_id: string | null;
  claimed_until: Date | null;
  /** When it was first tried after its last progress. */
  tried_since: Date | null;
  /** Set just before what cannot be repeated happens. */
  intended_at: Date | null;
  /** Done, and remembered for some days. */
  done_at: Date | null;
  created_at: Date;
}

/** Identifies an upload: a Slack file and its project. */
export interface UploadKey {
  workspace: string;
  slack_file_id: string;
  project_id: string;
}

/** An upload under way: the turn that claimed it, and what the storage has. */
export interface UploadRow extends UploadKey {
  claimed_by: string;
  claimed_until: Date;
  /** The service's file id; null until the upload has started. */
  file_id: string | null;
  /** Null for an upload in one piece. */
  multipart_id: string | null;
  part_size_bytes: number | null;
  /** Headers that the storage requires with every part. */
  part_headers: Record<string, string> | null;
  size_bytes: number | null;
  /** The ETags of the parts that the storage has, by number. */
  part_etags: Record<string, string>;
  is_finalizing: boolean;
  started_at: Date;
}

/** The id is recorded before people can see the file; `sharing`: the outcome is unknown until it is `shared`. */
export type SlackFileState = 'begun' | 'staged' | 'sharing' | 'shared';

/** A file that we put into Slack. */
export interface SlackFileRow {
  workspace: string;
  turn_id: string;
  /** Which file of its turn it is: `rest`, … */
  part: string;
  slack_file_id: string;
  state: SlackFileState;
  intended_at: Date;
}

/** A result or a review that one post of the thread shows. */
export interface PostedResult extends ThreadKey {
  /** Of a review, `review:` and the id of the message with the findings, or `failed:` and the name of the failure. */
  result_id: string;
  turn_id: string;
  /** '' for the results at the turn's end, else the name of a later group; of a review, the same as `result_id`. */
  batch: string;
  /** When it was in the thread; for the turn's own results, `results_posted_at` of the turn records it. */
  posted_at: Date | null;
}
