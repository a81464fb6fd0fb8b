import { BotDatabase, type DatabaseConnection, type TurnRow } from './bot-database.ts';
import type { WaitingPair } from './damage.ts';
import { WaitingPairs } from './waiting-pairs.ts';

const POLL_INTERVAL_MS = 100;

/** Looks at the bot's rows again and again, whoever runs the database at the moment. */
export class DatabaseObserver {
  readonly #connectionOf: () => Promise<DatabaseConnection>;
  readonly #watch = new WaitingPairs();
  #botDatabase: BotDatabase | undefined;
  #stopped = false;
  #polling: Promise<void> = Promise.resolve();

  /** `connectionOf` tells where the database is now; it may fail while there is none. */
  constructor(connectionOf: () => Promise<DatabaseConnection>) {
    this.#connectionOf = connectionOf;
  }

  /** The rows, as long as the database runs. */
  get botDatabase(): BotDatabase | undefined {
    return this.#botDatabase?.isLost === false ? this.#botDatabase : undefined;
  }

  get waitingPairs(): WaitingPair[] {
    return this.#watch.pairs;
  }

  async start(): Promise<void> {
    this.#botDatabase = await BotDatabase.open(await this.#connectionOf());
    this.#polling = this.#poll();
  }

  /** How many messages and turns are not done. Fails where no database runs. */
  async unfinished(): Promise<number> {
    return (await this.#connected()).unfinished();
  }

  async turns(): Promise<TurnRow[]> {
    return (await this.#connected()).turns();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#polling;
    await this.#botDatabase?.close();
    this.#botDatabase = undefined;
  }

  async #connected(): Promise<BotDatabase> {
    if (this.#botDatabase?.isLost !== false) {
      await this.#botDatabase?.close();
      this.#botDatabase = await BotDatabase.open(await this.#connectionOf());
    }
    return this.#botDatabase;
  }

  async #poll(): Promise<void> {
    while (!this.#stopped) {
      try {
        this.#watch.record(await (await this.#connected()).messages());
      } catch {
        // The database is gone with the bot; it comes back with the next one.
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
    }
  }
}
