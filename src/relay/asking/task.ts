import { AgentError } from '../../agent/errors.ts';
import type { NewTask } from '../../agent/options.ts';
import type { Thread } from '../../store/tables.ts';
import type { RelayParts } from '../context.ts';
import type { Lease } from '../lease.ts';
import { pause } from '../patience.ts';
import { leftMs, serviceOverMs } from '../settling.ts';

/** What a task is started with, beside its project. */
export type TaskStart = Omit<NewTask, 'projectId' | 'initialMessages'>;

/** How far the service's clock may be behind ours (ms). */
const clockSkewMs = 2_000;

/**
 * The thread's task, started where it has none. After an unknown outcome the task is looked for first: it is
 * adopted only where it was made after the intent, is idle, has the intent's title, belongs to no thread and no
 * other thread of the project is waiting to know the same.
 */
export async function threadTask(
  parts: RelayParts,
  thread: Thread,
  projectId: string,
  start: TaskStart,
  lease: Lease,
): Promise<string> {
  if (thread.task_id !== null) return thread.task_id;
  const { store, log } = parts;
  const agent = parts.agent(thread.account);
  if (thread.task_intended_at !== null) {
    const left = leftMs(thread.task_intended_at, serviceOverMs);
    const found = (await adoptable(parts, thread, projectId)) ?? (await later());
    if (found !== undefined) {
      log.info({ task: found }, 'task adopted after a lost answer');
      return store.threads.bindTask(thread, found);
    }
    log.warn(
      { code: 'orphaned_task' },
      'A task may have been started at the service whose answer was lost; it stays there unused.',
    );
    async function later(): Promise<string | undefined> {
      if (left <= 0) return undefined;
      await pause(left, lease);
      return adoptable(parts, thread, projectId);
    }
  }
  await store.threads.intendTask(thread, projectId, start);
  try {
    const task = await agent.startTask({ projectId, ...start }, { guard: lease });
    // Where this process was frozen meanwhile, the thread may have another by now.
    const bound = await store.threads.bindTask(thread, task.id);
    log.info({ task: task.id }, 'task started');
    parts.onTask?.(thread, start.title);
    return bound;
  } catch (error) {
    if (error instanceof AgentError && error.outcome !== 'unknown' && lease.remainingMs() > 0)
      await store.threads.forgetTaskIntent(thread);
    throw error;
  }
}

async function adoptable(parts: RelayParts, thread: Thread, projectId: string): Promise<string | undefined> {
  const intendedAt = thread.task_intended_at?.getTime() ?? 0;
  const page = await parts.agent(thread.account).listTasks(projectId, { limit: 100 });
  for (const task of page.items) {
    const matches =
      task.status === 'idle' &&
      task.title === thread.task_title &&
      Date.parse(task.createdAt) >= intendedAt - clockSkewMs;
    if (matches && (await parts.store.threads.mayAdopt(thread, projectId, task.id))) return task.id;
  }
  return undefined;
}
