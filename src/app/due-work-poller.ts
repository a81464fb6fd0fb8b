import type { Logger } from 'pino';
import { Poller } from '../relay/runtime/poller.ts';
import type { Database } from '../store/database.ts';
import { type DueWork, readDueWork } from '../store/queue/due-work.ts';

/** How often due work is looked for (ms): how late another process notices a stop or a change. */
const POLL_INTERVAL_MS = 1_000;
/** How often all installations and accounts are read, which also shows deleted ones (ms). */
const FULL_REFRESH_INTERVAL_MS = 60_000;

export interface DueWorkPollerDeps {
  database: Pick<Database, 'kysely'>;
  /** Lets each part begin its due work. */
  beginDue: (due: DueWork) => Promise<void>;
  /** What this process knows of installations and accounts, which has just been read. */
  refreshables: readonly { refresh(isFull: boolean): Promise<void> }[];
  log: Logger;
}

/** Looks for all due work at once, in place of a poll for each part. */
export class DueWorkPoller extends Poller {
  readonly #deps: DueWorkPollerDeps;
  #changeSeq: number | undefined;
  #fullyRefreshedAt = performance.now();

  constructor(deps: DueWorkPollerDeps) {
    super({
      intervalMs: POLL_INTERVAL_MS,
      startsAtOnce: true,
      poll: () => this.#poll(),
      onError: (error) => deps.log.debug({ err: error }, 'could not look for due work; trying again'),
    });
    this.#deps = deps;
  }

  async #poll(): Promise<void> {
    const due = await readDueWork(this.#deps.database.kysely);
    await this.#deps.beginDue(due);
    await this.#refresh(due.changeSeq);
  }

  async #refresh(changeSeq: number): Promise<void> {
    const now = performance.now();
    const isFull = now - this.#fullyRefreshedAt >= FULL_REFRESH_INTERVAL_MS;
    if (!isFull && changeSeq === this.#changeSeq) return;
    for (const source of this.#deps.refreshables) await source.refresh(isFull);
    if (isFull) this.#fullyRefreshedAt = now;
    this.#changeSeq = changeSeq;
  }
}
