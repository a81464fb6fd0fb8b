import type { RetentionDays } from '../../store/erasure/retention.ts';
import type { ThreadQueue } from '../../store/queue/thread-queue.ts';
import type { ThreadKey } from '../../store/schema.ts';
import type { WorkspaceRegistry } from '../installations/installed-workspaces.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import { Poller } from '../runtime/poller.ts';

/** How often threads without a job are queued again (ms): until then, their people wait in vain. */
const REQUEUE_INTERVAL_MS = 10_000;
/** How often expired rows are deleted (ms). */
const SWEEP_INTERVAL_MS = 60_000;
/** Most threads that one query reads. */
const MAX_THREADS_PER_PAGE = 1_000;

/** Queues threads that have work but no job: a process ended just after it recorded a message. */
export function requeuePoller(
  { store, log }: Pick<RelayDeps, 'store' | 'log'>,
  queue: Pick<ThreadQueue, 'threadsWithoutJob' | 'enqueue'>,
  /** Only the threads of its workspaces are queued: others have no token that could be used. */
  installations: Pick<WorkspaceRegistry, 'ids'>,
): Poller {
  const poller = new Poller({
    intervalMs: REQUEUE_INTERVAL_MS,
    startsAtOnce: true,
    poll: async () => {
      const served = new Set(installations.ids());
      for (let last: ThreadKey | undefined; !poller.signal.aborted; ) {
        const threads = await store.threads.withWork(MAX_THREADS_PER_PAGE, last);
        const runnable = threads.filter(({ workspace }) => served.has(workspace));
        for (const thread of runnable.length === 0 ? [] : await queue.threadsWithoutJob(runnable)) {
          log.warn({ ...thread }, 'a thread had work but no job; queued again');
          await queue.enqueue(store.db, thread);
        }
        if (threads.length < MAX_THREADS_PER_PAGE) return;
        last = threads.at(-1);
      }
    },
    onError: (err) => log.warn({ err }, 'threads without a job could not be queued; trying again later'),
  });
  return poller;
}

/** Deletes expired rows. `onFailed` gets a step that the next sweep tries again. */
export function sweepPoller(
  { store, log }: Pick<RelayDeps, 'store' | 'log'>,
  retention: RetentionDays,
  onFailed: (step: string) => void,
): Poller {
  const poller = new Poller({
    intervalMs: SWEEP_INTERVAL_MS,
    poll: async () => {
      const swept = await store.retention.deleteExpired(retention, {
        signal: poller.signal,
        onFailed: (step, error) => {
          log.error({ step, err: error }, 'deleting expired rows failed; trying again in a minute');
          onFailed(step);
        },
      });
      if (swept > 0) log.debug({ rows: swept }, 'deleted expired rows');
    },
    onError: (err) => log.warn({ err }, 'expired rows could not be deleted; trying again later'),
  });
  return poller;
}
