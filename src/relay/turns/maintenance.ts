import type { Logger } from 'pino';
import type { RetentionDays } from '../../store/audit/retention.ts';
import type { ThreadKey } from '../../store/keys.ts';
import type { ThreadQueue } from '../../store/queue/thread-queue.ts';
import type { Store } from '../../store/store.ts';
import type { WaitingReactions } from '../controls/waiting-reactions.ts';
import { Poller } from '../runtime/poller.ts';

/** How often threads without a job are looked for (ms): whoever waits for an answer waits for this. */
const REQUEUE_INTERVAL_MS = 10_000;
/** How often the rest is done (ms). */
const SWEEP_INTERVAL_MS = 60_000;
/** Threads that one look takes at most. */
const MAX_THREADS_PER_PAGE = 1_000;

/** What upkeep needs. */
export interface MaintenanceDeps {
  store: Store;
  queue: Pick<ThreadQueue, 'threadsWithoutJob' | 'enqueue'>;
  waitingReactions: Pick<WaitingReactions, 'cleanUp'>;
  retention: RetentionDays;
  log: Logger;
}

/**
 * What must be put right now and then: threads with work but no job, marks of messages that
 * wait no more, and rows whose time is over.
 */
export class Maintenance {
  readonly #store: Store;
  readonly #queue: Pick<ThreadQueue, 'threadsWithoutJob' | 'enqueue'>;
  readonly #waitingReactions: Pick<WaitingReactions, 'cleanUp'>;
  readonly #retention: RetentionDays;
  readonly #log: Logger;
  readonly #requeuePoller: Poller;
  readonly #sweepPoller: Poller;

  constructor(deps: MaintenanceDeps) {
    this.#store = deps.store;
    this.#queue = deps.queue;
    this.#waitingReactions = deps.waitingReactions;
    this.#retention = deps.retention;
    this.#log = deps.log;
    const onError = (error: unknown) =>
      deps.log.warn({ err: error }, 'upkeep failed; it is tried again in a while');
    this.#requeuePoller = new Poller({
      intervalMs: REQUEUE_INTERVAL_MS,
      poll: () => this.#requeueThreadsWithoutJob(),
      onError,
    });
    this.#sweepPoller = new Poller({ intervalMs: SWEEP_INTERVAL_MS, poll: () => this.#sweep(), onError });
  }

  start(): void {
    this.#waitingReactions.cleanUp();
    this.#requeuePoller.start();
    this.#requeuePoller.pollNow();
    this.#sweepPoller.start();
  }

  /** Waits for what is being done and does no more. */
  async stop(): Promise<void> {
    await Promise.all([this.#requeuePoller.stop(), this.#sweepPoller.stop()]);
  }

  /** Queues the threads that have work and no job: a process ended just after it took a message in. */
  async #requeueThreadsWithoutJob(): Promise<void> {
    for (let last: ThreadKey | undefined; !this.#requeuePoller.signal.aborted; ) {
      const threads = await this.#store.threads.withWork(MAX_THREADS_PER_PAGE, last);
      for (const thread of await this.#queue.threadsWithoutJob(threads)) {
        this.#log.warn({ ...thread }, 'a thread had work but no job; queued again');
        await this.#queue.enqueue(this.#store.db, thread);
      }
      if (threads.length < MAX_THREADS_PER_PAGE) return;
      last = threads.at(-1);
    }
  }

  /** Takes marks away that say nothing any more, and deletes the rows whose time is over. */
  async #sweep(): Promise<void> {
    this.#waitingReactions.cleanUp();
    const swept = await this.#store.retention.deleteExpired(this.#retention);
    if (swept > 0) this.#log.debug({ rows: swept }, 'rows whose time was over were cleaned up');
  }
}
