import type { ColumnType, Generated } from 'kysely';

type TimeColumn = ColumnType<Date, Date | string, Date | string>;
type NullableTimeColumn = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;

/** A task that a person had deleted: its thread knows it no more, and what is left to do is in the null columns. */
export interface TaskDeletionTable {
  workspace: string;
  task: string;
  account: string;
  channel: string;
  /** A Slack ts. */
  root: string;
  person: string;
  asked_at: Generated<Date>;
  /** When it was surely gone at the service. */
  deleted_at: NullableTimeColumn;
  /** Set just before the thread is told of it. */
  telling_at: NullableTimeColumn;
  told_at: NullableTimeColumn;
  /** Until then some process is at it. */
  held_until: TimeColumn;
}

/** What was said in a channel and is not to be said again. */
export interface OneTimeNoticeTable {
  workspace: string;
  channel: string;
  what: string;
  told_at: Generated<Date>;
}
