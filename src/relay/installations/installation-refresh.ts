import type { Logger } from 'pino';
import { Poller } from '../runtime/poller.ts';

/** How often changes are looked for (ms): other processes hear of an uninstallation so late at most. */
const REFRESH_INTERVAL_MS = 2_000;
/** Every so many looks everything is read, which also shows what was deleted. */
const FULL_REFRESH_EVERY = 30;

/** What the watch keeps up to date. */
export interface Refreshable {
  refresh(whole?: boolean): Promise<void>;
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
        log.debug({ err: error }, 'installations and accounts could not be read; they are soon again'),
    });
  }

  /** Reads everything, and goes on looking. Throws StoreError. */
  async start(): Promise<void> {
    for (const registry of this.#sources) await registry.refresh(true);
    this.#poller.start();
  }

  async stop(): Promise<void> {
    await this.#poller.stop();
  }

  async #refreshAll(): Promise<void> {
    this.#refreshCount += 1;
    const isFull = this.#refreshCount % FULL_REFRESH_EVERY === 0;
    for (const registry of this.#sources) await registry.refresh(isFull);
  }
}
