import type { ColumnType, Generated } from 'kysely';
import type { MessageContent, SlackTs } from '../schema.ts';

type NullableTimeColumn = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;
type NullableJsonColumn<T> = ColumnType<T | null, string | null | undefined, string | null>;

/** How a task is to be begun, and how its first message is sent; what is left out is as usual. */
export interface TaskChoices {
  title?: string;
  /** `standard`, `fast`, `max`, or whatever somebody typed. */
  model?: string;
  /** Id or name. */
  skill?: string;
  /** Fail rather than use a fallback model. */
  noFallback?: boolean;
  mode?: 'auto' | 'plan';
}

/**
 * draft: its form is open; posting: the question is to be posted into the channel; done: it is in its thread.
 */
export type TaskStartState = 'draft' | 'posting' | 'done';

/** What somebody begins with a form, until it is in its thread. */
export interface TaskStartTable {
  workspace: string;
  id: string;
  state: TaskStartState;
  person: string;
  channel: string;
  /** The thread that it goes into; null: a new one, below a post of ours. */
  root: SlackTs | null;
  /** When the form was asked for: the ts that its message gets in the thread. */
  ts: SlackTs | null;
  /** The turn whose question is asked again. */
  turn: string | null;
  /** What the form is about: the message that was chosen, or that is asked again. */
  source: NullableJsonColumn<MessageContent>;
  /** What is asked, once the form was sent. */
  words: NullableJsonColumn<MessageContent>;
  /** When our post was first about to be sent. */
  intended_at: NullableTimeColumn;
  /** Who is at it, and until when. */
  holder: string | null;
  held_until: NullableTimeColumn;
  made_at: Generated<Date>;
}
