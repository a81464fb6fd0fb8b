import type { Logger } from 'pino';
import { Poller } from '../runtime/poller.ts';

/** How often changes are looked for (ms): the longest delay until other processes notice an uninstallation. */
const REFRESH_INTERVAL_MS = 2_000;
/** Every so many refreshes all rows are read, which also shows deleted ones. */
const FULL_REFRESH_EVERY = 30;

/** Installations or accounts as one process knows them. */
export interface Refreshable {
  refresh(isFull?: boolean): Promise<void>;
}

/** Keeps what this process knows of installations and accounts up to date. */
export class InstallationRefresh {
  readonly #sources: readonly Refreshable[];
  readonly #poller: Poller;
  #refreshCount = 0;

  constructor(sources: readonly Refreshable[], log: Logger) {
    this.#sources = sources;
    this.#poller = new Poller({
      intervalMs: REFRESH_INTERVAL_MS,
      poll: () => this.#refreshAll(),
      onError: (error) =>
        log.debug({ err: error }, 'refreshing installations and accounts failed; retrying soon'),
    });
  }

  /** Reads everything, then refreshes at intervals. Throws StoreError. */
  async start(): Promise<void> {
    for (const source of this.#sources) await source.refresh(true);
    this.#poller.start();
  }

  async stop(): Promise<void> {
    await this.#poller.stop();
  }

  async #refreshAll(): Promise<void> {
    this.#refreshCount += 1;
    const isFull = this.#refreshCount % FULL_REFRESH_EVERY === 0;
    for (const source of this.#sources) await source.refresh(isFull);
  }
}
