import type { ShownTask } from '../../reply/views/task-lines.ts';
import type { TurnOutcome } from '../../store/tables.ts';
import type { TaskRow } from '../../store/tasks.ts';

/** A row of our records as lists show it. */
export function shownTask(row: TaskRow): ShownTask {
  const { channel, root, title, model, begunAt, starter, permalink: url } = row;
  return { channel, root, title, state: stateOf(row), model, begunAt, starter, url };
}

/** What the end of the last turn says of its task; the others say nothing. */
const ends: Partial<Record<TurnOutcome, string>> = {
  completed: 'completed',
  length: 'completed',
  cancelled: 'cancelled',
  failed: 'failed',
};

/** How a task stands: what was read last, unless a turn is under way or has ended since. */
function stateOf({ open, state, readAt, outcome, finishedAt }: TaskRow): string {
  if (open) return 'running';
  const ended = outcome === null ? undefined : ends[outcome];
  const endedSince = finishedAt !== null && (readAt === null || readAt < finishedAt);
  return (endedSince ? ended : undefined) ?? state ?? ended ?? 'idle';
}
