import type { Logger } from 'pino';
import { Rounds } from '../rounds.ts';

/** How often changes are looked for (ms): other processes hear of an uninstallation so late at most. */
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
  readonly #rounds: Rounds;
  #looks = 0;

  constructor(registries: readonly Registry[], log: Logger) {
    this.#registries = registries;
    this.#rounds = new Rounds({
      everyMs,
      round: () => this.#look(),
      onError: (error) =>
        log.debug({ err: error }, 'installations and accounts could not be read; they are soon again'),
    });
  }

  /** Reads everything, and goes on looking. Throws StoreError. */
  async start(): Promise<void> {
    for (const registry of this.#registries) await registry.refresh(true);
    this.#rounds.start();
  }

  async stop(): Promise<void> {
    await this.#rounds.stop();
  }

  async #look(): Promise<void> {
    this.#looks += 1;
    const whole = this.#looks % wholeEvery === 0;
    for (const registry of this.#registries) await registry.refresh(whole);
  }
}
