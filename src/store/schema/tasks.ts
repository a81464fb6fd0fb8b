import type { Generated, Selectable } from 'kysely';
import type { ThreadKey } from '../keys.ts';
import type { NullableJsonColumn, NullableTimeColumn, SlackTs, TimeColumn } from './column-types.ts';
import type { MessageContent } from './threads.ts';

/** draft: its form is open; posting: its question is being posted into the channel; done: it is in its thread. */
type TaskStartState = 'draft' | 'posting' | 'done';

/** A task that a person starts with a form, until it is in its thread. */
interface TaskStartTable {
  workspace: string;
  id: string;
  state: TaskStartState;
  user_id: string;
  channel: string;
  /** The thread that it goes into; null: a new one, below a post of ours. */
  thread_ts: SlackTs | null;
  /** When the form was requested: the ts of its message in the thread. */
  message_ts: SlackTs | null;
  /** The turn whose question is asked again. */
  source_turn_id: string | null;
  /** The message that the form is about: one that was chosen, or one that is asked again. */
  source_content: NullableJsonColumn<MessageContent>;
  /** The question, once the form was sent. */
  content: NullableJsonColumn<MessageContent>;
  /** When our post was first about to be sent. */
  post_intended_at: NullableTimeColumn;
  claimed_by: string | null;
  claimed_until: NullableTimeColumn;
  created_at: Generated<Date>;
}

/** Why a step of a workflow asked nothing: a key of the sentences for it. */
export type WorkflowStepRefusal = 'not_allowed' | 'limit' | 'invalid';

/** A step of a Slack workflow, from Slack's request to its completion. */
interface WorkflowStepTable {
  workspace: string;
  /** Slack's id of this run of the step. */
  execution_id: string;
  channel: string;
  /** The thread that it began; null until its question is posted. */
  thread_ts: SlackTs | null;
  /** The start that posts its question; there is none after a refusal. */
  start_id: string;
  refusal: WorkflowStepRefusal | null;
  /** It completes with the answer, not as soon as its task has begun. */
  waits_for_answer: boolean;
  claimed_until: NullableTimeColumn;
  completed_at: NullableTimeColumn;
  created_at: Generated<Date>;
}

/** A task whose deletion a person requested. Its thread has already left it; null columns are still to do. */
interface TaskDeletionTable extends ThreadKey {
  task_id: string;
  account_id: string;
  requested_by: string;
  requested_at: Generated<Date>;
  /** When the task was known to be gone at the service. */
  deleted_at: NullableTimeColumn;
  /** Set just before the thread is notified. */
  notice_intended_at: NullableTimeColumn;
  notified_at: NullableTimeColumn;
  claimed_until: TimeColumn;
}

/** A thread whose task is checked after its turn has ended. */
interface FollowUpTable extends ThreadKey {
  /** The last turn that ended. */
  turn_id: string;
  checks: Generated<number>;
  next_check_at: TimeColumn;
  ends_at: TimeColumn;
  claimed_by: string | null;
  claimed_until: NullableTimeColumn;
}

/** Starts, deletions and follow-ups of tasks, and steps of workflows. */
export interface TaskTables {
  task_starts: TaskStartTable;
  workflow_steps: WorkflowStepTable;
  task_deletions: TaskDeletionTable;
  follow_ups: FollowUpTable;
}

export type TaskStart = Selectable<TaskStartTable>;
export type WorkflowStep = Selectable<WorkflowStepTable>;
export type TaskDeletion = Selectable<TaskDeletionTable>;
export type FollowUp = Selectable<FollowUpTable>;
