import type { Logger } from 'pino';
import { Poller } from '../runtime/poller.ts';

/** How often all rows are read, which also shows deleted ones (ms). */
const FULL_REFRESH_INTERVAL_MS = 60_000;

/** Installations or accounts as one process knows them. */
export interface Refreshable {
  refresh(isFull?: boolean): Promise<void>;
}

/** Keeps what this process knows of installations and accounts up to date. */
export class InstallationRefresh {
  readonly #sources: readonly Refreshable[];
  readonly #fullRefreshes: Poller;
  readonly #changes: Poller;

  constructor(sources: readonly Refreshable[], log: Logger) {
    this.#sources = sources;
    const onError = (error: unknown) =>
      log.debug({ err: error }, 'refreshing installations and accounts failed; retrying soon');
    const intervalMs = FULL_REFRESH_INTERVAL_MS;
    this.#fullRefreshes = new Poller({ intervalMs, poll: () => this.#refreshAll(true), onError });
    this.#changes = new Poller({ poll: () => this.#refreshAll(false), onError });
  }

  /** Reads everything, now and at intervals. Throws StoreError. */
  async start(): Promise<void> {
    await this.#refreshAll(true);
    this.#fullRefreshes.start();
  }

  /** Reads what has changed. */
  onChanged(): void {
    this.#changes.pollNow();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#fullRefreshes.stop(), this.#changes.stop()]);
  }

  async #refreshAll(isFull: boolean): Promise<void> {
    for (const source of this.#sources) await source.refresh(isFull);
  }
}
