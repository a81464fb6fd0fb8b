import type { TaskSummary } from '../../render/blocks/task-lines.ts';
import type { TurnOutcome } from '../../store/schema.ts';
import type { TaskRow } from '../../store/tasks/task-records.ts';

/** A row of our records as lists show it. */
export function taskSummary(row: TaskRow): TaskSummary {
  const { channel, root, title, model, begunAt, starter, permalink: url } = row;
  return { channel, root, title, state: currentState(row), model, begunAt, starter, url };
}

/** What the end of the last turn says of its task; the others say nothing. */
const STATE_BY_TURN_OUTCOME: Partial<Record<TurnOutcome, string>> = {
  completed: 'completed',
  length: 'completed',
  cancelled: 'cancelled',
  failed: 'failed',
};

/** How a task stands: what was read last, unless a turn is under way or has ended since. */
function currentState({ open, state, readAt, outcome, finishedAt }: TaskRow): string {
  if (open) return 'running';
  const endState = outcome === null ? undefined : STATE_BY_TURN_OUTCOME[outcome];
  const hasEndedSince = finishedAt !== null && (readAt === null || readAt < finishedAt);
  return (hasEndedSince ? endState : undefined) ?? state ?? endState ?? 'idle';
}
