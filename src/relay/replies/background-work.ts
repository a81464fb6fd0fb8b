import type { AgentClient } from '../../agent/agent-client.ts';
import type { Lease } from '../runtime/lease.ts';
import { sleepWithLease } from '../runtime/retry.ts';
import { isTaskSettled } from './reply-reader.ts';

/** How often a task that still works in the background is checked (ms). */
const BACKGROUND_POLL_INTERVAL_MS = 2_000;

/**
 * Waits until the task of a settled reply has settled too, for at most `maxWaitMs`: results and the next message wait
 * for it. `onWait` is called while the task works.
 */
export async function waitForBackgroundWork(
  agent: AgentClient,
  taskId: string,
  maxWaitMs: number,
  lease: Lease,
  onWait: () => void,
): Promise<'working' | 'cancelled' | 'finished'> {
  const until = performance.now() + maxWaitMs;
  for (;;) {
    const { status } = await agent.getTask(taskId, { signal: lease.signal });
    if (isTaskSettled(status)) return status === 'cancelled' ? 'cancelled' : 'finished';
    onWait();
    if (performance.now() >= until) return 'working';
    await sleepWithLease(BACKGROUND_POLL_INTERVAL_MS, lease);
  }
}
