import type { TaskSummary } from '../../render/blocks/task-lines.ts';
import type { TurnOutcome } from '../../store/schema.ts';
import type { TaskRow } from '../../store/tasks/task-records.ts';

/** A task's record as lists show it. */
export function taskSummary(row: TaskRow): TaskSummary {
  const { channel, root, title, model, begunAt, starter, permalink: url } = row;
  return { channel, root, title, state: currentState(row), model, begunAt, starter, url };
}

/** A task's state after its last turn; undefined for outcomes that do not determine it. */
const STATE_BY_TURN_OUTCOME: Partial<Record<TurnOutcome, string>> = {
  completed: 'completed',
  length: 'completed',
  cancelled: 'cancelled',
  failed: 'failed',
};

/** The state that was last read, unless a turn is running or has ended since. */
function currentState({ open, state, readAt, outcome, finishedAt }: TaskRow): string {
  if (open) return 'running';
  const endState = outcome === null ? undefined : STATE_BY_TURN_OUTCOME[outcome];
  const hasEndedSince = finishedAt !== null && (readAt === null || readAt < finishedAt);
  return (hasEndedSince ? endState : undefined) ?? state ?? endState ?? 'idle';
}
