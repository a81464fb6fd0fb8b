import type { Logger } from 'pino';

/** How often it is looked for changes (ms): other processes hear of an uninstallation so late at most. */
const everyMs = 2_000;
/** Every so many looks everything is read, which also shows what was deleted. */
const wholeEvery = 30;

/** What the watch keeps up to date. */
export interface Registry {
  refresh(whole?: boolean): Promise<void>;
}

/** Keeps what this process knows of installations and accounts up to date. */
export class RegistryWatch {
  readonly #registries: readonly Registry[];
  readonly #log: Logger;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #looks = 0;

  constructor(registries: readonly Registry[], log: Logger) {
    this.#registries = registries;
    this.#log = log;
  }

  /** Reads everything, and goes on looking. Throws StoreError. */
  async start(): Promise<void> {
    for (const registry of this.#registries) await registry.refresh(true);
    this.#timer = setInterval(() => {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
    }, everyMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    this.#looks += 1;
    const whole = this.#looks % wholeEvery === 0;
    try {
      for (const registry of this.#registries) await registry.refresh(whole);
    } catch (error) {
      this.#log.debug({ err: error }, 'installations and accounts could not be read; they are soon again');
    }
  }
}
