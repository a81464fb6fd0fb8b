import type { ColumnType, Generated } from 'kysely';
import type { SlackTs } from './column-types.ts';

/** What somebody did. Rows are only added; triggers add those of turns, stops and withdrawals. */
export interface AuditEventTable {
  workspace: string;
  id: Generated<number>;
  at: Generated<Date>;
  kind: 'turn' | 'stop' | 'approval' | 'withdrawal' | 'deletion' | 'refusal' | 'forget' | 'setting';
  user_id: ColumnType<string | null, string | undefined, null>;
  channel: ColumnType<string | null, string | undefined, never>;
  thread_ts: ColumnType<SlackTs | null, SlackTs | undefined, never>;
  turn_id: ColumnType<string | null, string | undefined, never>;
  task_id: ColumnType<string | null, string | undefined, never>;
  details: ColumnType<Record<string, unknown>, string, never>;
}

/**
 * What a channel is told once. shared: another organisation can read the channel; introduction: answers come from an
 * automated system; new_task_in_dm: each message at the top of a direct channel starts a task.
 */
export type OneTimeNotice = 'shared' | 'introduction' | 'new_task_in_dm';

/** A notice that was posted in a channel, or is about to be. */
interface OneTimeNoticeTable {
  workspace: string;
  channel: string;
  notice: OneTimeNotice;
  /** The turn whose reply carries the notice; null for a post of its own. */
  turn_id: string | null;
}

/** One person's rating of one answer. */
interface FeedbackTable {
  workspace: string;
  turn_id: string;
  user_id: string;
  is_positive: boolean;
  /** Null: none was written, or it was erased. */
  comment: string | null;
  given_at: Generated<Date>;
}

/** The audit trail, notices and feedback. */
export interface AuditTables {
  audit_events: AuditEventTable;
  one_time_notices: OneTimeNoticeTable;
  feedback: FeedbackTable;
}
