import type { Logger } from 'pino';
import type { ThreadKey } from '../store/keys.ts';
import type { ThreadQueue } from '../store/queue.ts';
import type { RetentionDays } from '../store/retention.ts';
import type { Store } from '../store/store.ts';
import type { Marks } from './controls/marks.ts';
import { Rounds } from './rounds.ts';

/** How often threads without a job are looked for (ms): whoever waits for an answer waits for this. */
const lookMs = 10_000;
/** How often the rest is done (ms). */
const sweepMs = 60_000;
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
  readonly #queueing: Rounds;
  readonly #sweeping: Rounds;

  constructor(parts: UpkeepParts) {
    this.#store = parts.store;
    this.#queue = parts.queue;
    this.#marks = parts.marks;
    this.#keep = parts.keep;
    this.#log = parts.log;
    const onError = (error: unknown) =>
      parts.log.warn({ err: error }, 'upkeep failed; it is tried again in a while');
    this.#queueing = new Rounds({ everyMs: lookMs, round: () => this.#queueAgain(), onError });
    this.#sweeping = new Rounds({ everyMs: sweepMs, round: () => this.#sweep(), onError });
  }

  start(): void {
    this.#marks.tidy();
    this.#queueing.start();
    this.#queueing.look();
    this.#sweeping.start();
  }

  /** Waits for what is being done and does no more. */
  async stop(): Promise<void> {
    await Promise.all([this.#queueing.stop(), this.#sweeping.stop()]);
  }

  /** Queues the threads that have work and no job: a process ended just after it took a message in. */
  async #queueAgain(): Promise<void> {
    for (let last: ThreadKey | undefined; !this.#queueing.signal.aborted; ) {
      const threads = await this.#store.messages.threadsWithWork(mostThreads, last);
      for (const thread of await this.#queue.missing(threads)) {
        this.#log.warn({ ...thread }, 'a thread had work but no job; queued again');
        await this.#queue.send(this.#store.db, thread);
      }
      if (threads.length < mostThreads) return;
      last = threads.at(-1);
    }
  }

  /** Takes marks away that say nothing any more, and deletes the rows whose time is over. */
  async #sweep(): Promise<void> {
    this.#marks.tidy();
    const swept = await this.#store.retention.sweep(this.#keep);
    if (swept > 0) this.#log.debug({ rows: swept }, 'rows whose time was over were cleaned up');
  }
}
