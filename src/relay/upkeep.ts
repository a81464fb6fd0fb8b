import type { Logger } from 'pino';
import type { ThreadQueue } from '../store/queue.ts';
import type { RetentionDays } from '../store/retention.ts';
import type { Store } from '../store/store.ts';
import type { Marks } from './controls/marks.ts';

/** How often it is done (ms). */
const everyMs = 60_000;
/** Threads that one look takes at most. */
const mostThreads = 1_000;

/** What upkeep needs. */
export interface UpkeepParts {
  store: Store;
  queue: Pick<ThreadQueue, 'missing' | 'send'>;
  marks: Pick<Marks, 'tidy'>;
  keep: RetentionDays;
  log: Logger;
}

/**
 * What must be put right now and then: threads with work but no job, marks of messages that
 * wait no more, and rows whose time is over.
 */
export class Upkeep {
  readonly #store: Store;
  readonly #queue: Pick<ThreadQueue, 'missing' | 'send'>;
  readonly #marks: Pick<Marks, 'tidy'>;
  readonly #keep: RetentionDays;
  readonly #log: Logger;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: UpkeepParts) {
    this.#store = parts.store;
    this.#queue = parts.queue;
    this.#marks = parts.marks;
    this.#keep = parts.keep;
    this.#log = parts.log;
  }

  start(): void {
    this.#marks.tidy();
    this.#timer = setInterval(() => {
      this.#running = this.once().catch((error: unknown) => {
        this.#log.warn({ err: error }, 'upkeep failed; it is tried again in a minute');
      });
    }, everyMs);
  }

  /** Waits for what is being done and does no more. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  /** Does it once. */
  async once(): Promise<void> {
    this.#marks.tidy();
    const threads = await this.#store.messages.threadsWithWork(mostThreads);
    for (const thread of await this.#queue.missing(threads)) {
      this.#log.warn({ ...thread }, 'a thread had work but no job; queued again');
      await this.#queue.send(this.#store.db, thread);
    }
    const swept = await this.#store.retention.sweep(this.#keep);
    if (swept > 0) this.#log.debug({ rows: swept }, 'rows whose time was over were cleaned up');
  }
}
