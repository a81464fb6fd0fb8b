import type { Logger } from 'pino';
import type { RetentionDays } from '../../store/erasure/retention.ts';
import type { ThreadQueue } from '../../store/queue/thread-queue.ts';
import type { ThreadKey } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { WaitingReactions } from '../controls/waiting-reactions.ts';
import type { WorkspaceRegistry } from '../installations/installed-workspaces.ts';
import { Poller } from '../runtime/poller.ts';

/** How often threads without a job are queued again (ms): until then, their people wait in vain. */
const REQUEUE_INTERVAL_MS = 10_000;
/** How often expired rows and reactions are cleaned up (ms). */
const SWEEP_INTERVAL_MS = 60_000;
/** Most threads that one query reads. */
const MAX_THREADS_PER_PAGE = 1_000;

export interface MaintenanceDeps {
  store: Store;
  /** Only the threads of its workspaces are queued: others have no token that could be used. */
  installations: Pick<WorkspaceRegistry, 'ids'>;
  queue: Pick<ThreadQueue, 'threadsWithoutJob' | 'enqueue'>;
  waitingReactions: Pick<WaitingReactions, 'cleanUp'>;
  retention: RetentionDays;
  /** A step of the deletion of expired rows failed; the next sweep tries it again. */
  onRetentionFailed: (step: string) => void;
  log: Logger;
}

/** Queues threads that have work but no job, and cleans up outdated waiting reactions and expired rows. */
export class Maintenance {
  readonly #deps: MaintenanceDeps;
  readonly #requeuePoller: Poller;
  readonly #sweepPoller: Poller;

  constructor(deps: MaintenanceDeps) {
    this.#deps = deps;
    const poller = (intervalMs: number, startsAtOnce: boolean, poll: () => Promise<void>) => {
      const onError = (err: unknown) => deps.log.warn({ err }, 'maintenance failed; trying again later');
      return new Poller({ intervalMs, startsAtOnce, poll, onError });
    };
    this.#requeuePoller = poller(REQUEUE_INTERVAL_MS, true, () => this.#requeueThreadsWithoutJob());
    this.#sweepPoller = poller(SWEEP_INTERVAL_MS, false, () => this.#sweep());
  }

  start(): void {
    this.#deps.waitingReactions.cleanUp();
    this.#requeuePoller.start();
    this.#sweepPoller.start();
  }

  /** Waits for the work under way. */
  async stop(): Promise<void> {
    await Promise.all([this.#requeuePoller.stop(), this.#sweepPoller.stop()]);
  }

  /** Queues the threads that have work but no job: a process ended just after it recorded a message. */
  async #requeueThreadsWithoutJob(): Promise<void> {
    const { store, queue, installations, log } = this.#deps;
    const served = new Set(installations.ids());
    for (let last: ThreadKey | undefined; !this.#requeuePoller.signal.aborted; ) {
      const threads = await store.threads.withWork(MAX_THREADS_PER_PAGE, last);
      const runnable = threads.filter(({ workspace }) => served.has(workspace));
      for (const thread of runnable.length === 0 ? [] : await queue.threadsWithoutJob(runnable)) {
        log.warn({ ...thread }, 'a thread had work but no job; queued again');
        await queue.enqueue(store.db, thread);
      }
      if (threads.length < MAX_THREADS_PER_PAGE) return;
      last = threads.at(-1);
    }
  }

  async #sweep(): Promise<void> {
    const { waitingReactions, store, retention, onRetentionFailed, log } = this.#deps;
    waitingReactions.cleanUp();
    const swept = await store.retention.deleteExpired(retention, {
      signal: this.#sweepPoller.signal,
      onFailed: (step, error) => {
        log.error({ step, err: error }, 'deleting expired rows failed; trying again in a minute');
        onRetentionFailed(step);
      },
    });
    if (swept > 0) log.debug({ rows: swept }, 'deleted expired rows');
  }
}
