import type { TaskSummary } from '../../render/blocks/task-lines.ts';
import type { TurnOutcome } from '../../store/schema.ts';
import type { TaskRow } from '../../store/tasks/task-records.ts';

/** A task's record as lists show it. */
export function taskSummary(row: TaskRow): TaskSummary {
  const { channel, thread_ts, task_title, task_model, started_at, started_by, permalink: url } = row;
  return {
    channel,
    root: thread_ts,
    title: task_title,
    state: currentState(row),
    model: task_model,
    begunAt: started_at,
    starter: started_by,
    url,
  };
}

/** A task's state after its last turn; undefined for outcomes that do not determine it. */
const STATE_BY_TURN_OUTCOME: Partial<Record<TurnOutcome, string>> = {
  completed: 'completed',
  length: 'completed',
  cancelled: 'cancelled',
  failed: 'failed',
};

/** The state that was last read, unless a turn is running or has ended since. */
function currentState({
  has_open_turn,
  task_state,
  task_state_read_at,
  outcome,
  finished_at,
}: TaskRow): string {
  if (has_open_turn) return 'running';
  const endState = outcome === null ? undefined : STATE_BY_TURN_OUTCOME[outcome];
  const hasEndedSince =
    finished_at !== null && (task_state_read_at === null || task_state_read_at < finished_at);
  return (hasEndedSince ? endState : undefined) ?? task_state ?? endState ?? 'idle';
}
