import type { Generated } from 'kysely';
import type { NullableJsonColumn, NullableTimeColumn, SlackTs, TimeColumn } from './column-types.ts';
import type { MessageContent } from './threads.ts';

/** draft: its form is open; posting: its question is being posted into the channel; done: it is in its thread. */
type TaskStartState = 'draft' | 'posting' | 'done';

/** A task that a person starts with a form, until it is in its thread. */
export interface TaskStartTable {
  workspace: string;
  id: string;
  state: TaskStartState;
  person: string;
  channel: string;
  /** The thread that it goes into; null: a new one, below a post of ours. */
  root: SlackTs | null;
  /** When the form was requested: the ts of its message in the thread. */
  ts: SlackTs | null;
  /** The turn whose question is asked again. */
  turn: string | null;
  /** The message that the form is about: one that was chosen, or one that is asked again. */
  source: NullableJsonColumn<MessageContent>;
  /** The question, once the form was sent. */
  words: NullableJsonColumn<MessageContent>;
  /** When our post was first about to be sent. */
  intended_at: NullableTimeColumn;
  claimed_by: string | null;
  claimed_until: NullableTimeColumn;
  made_at: Generated<Date>;
}

/** A task whose deletion a person requested. Its thread has already left it; null columns are still to do. */
export interface TaskDeletionTable {
  workspace: string;
  task: string;
  account: string;
  channel: string;
  root: SlackTs;
  person: string;
  asked_at: Generated<Date>;
  /** When the task was known to be gone at the service. */
  deleted_at: NullableTimeColumn;
  /** Set just before the thread is notified. */
  telling_at: NullableTimeColumn;
  told_at: NullableTimeColumn;
  claimed_until: TimeColumn;
}

/** A thread whose task is checked after its turn has ended. */
export interface FollowUpTable {
  workspace: string;
  channel: string;
  root: SlackTs;
  /** The last turn that ended. */
  turn: string;
  checks: Generated<number>;
  next_check_at: TimeColumn;
  ends_at: TimeColumn;
  claimed_by: string | null;
  claimed_until: NullableTimeColumn;
}
