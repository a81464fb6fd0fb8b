import type { WaitedTogether } from './comparison.ts';
import { type Connection, Ledger, type TurnRow } from './ledger.ts';
import { WaitingWatch } from './waiting-watch.ts';

const lookMs = 100;

/** Looks at the bot's rows again and again, whoever runs the database at the moment. */
export class Witness {
  readonly #connectionOf: () => Promise<Connection>;
  readonly #watch = new WaitingWatch();
  #ledger: Ledger | undefined;
  #stopped = false;
  #looking: Promise<void> = Promise.resolve();

  /** `connectionOf` tells where the database is now; it may fail while there is none. */
  constructor(connectionOf: () => Promise<Connection>) {
    this.#connectionOf = connectionOf;
  }

  /** The rows, as long as the database runs. */
  get ledger(): Ledger | undefined {
    return this.#ledger?.lost === false ? this.#ledger : undefined;
  }

  get waitedTogether(): WaitedTogether[] {
    return this.#watch.pairs;
  }

  async start(): Promise<void> {
    this.#ledger = await Ledger.open(await this.#connectionOf());
    this.#looking = this.#look();
  }

  /** How many messages and turns are not done. Fails where no database runs. */
  async unfinished(): Promise<number> {
    return (await this.#now()).unfinished();
  }

  async turns(): Promise<TurnRow[]> {
    return (await this.#now()).turns();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#looking;
    await this.#ledger?.close();
    this.#ledger = undefined;
  }

  async #now(): Promise<Ledger> {
    if (this.#ledger?.lost !== false) {
      await this.#ledger?.close();
      this.#ledger = await Ledger.open(await this.#connectionOf());
    }
    return this.#ledger;
  }

  async #look(): Promise<void> {
    while (!this.#stopped) {
      try {
        this.#watch.look(await (await this.#now()).messages());
      } catch {
        // The database is gone with the bot; it comes back with the next one.
      }
      await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
  }
}
