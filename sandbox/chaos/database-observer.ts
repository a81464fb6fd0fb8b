import { setTimeout as sleep } from 'node:timers/promises';
import { BotDatabase, type DatabaseConnection, type MessageRow, type TurnRow } from './bot-database.ts';
import type { WaitingPair } from './damage.ts';

const POLL_INTERVAL_MS = 100;

/** Polls the bot's tables, and reconnects when the database restarts with the bot. */
export class DatabaseObserver {
  readonly #connectionOf: () => Promise<DatabaseConnection>;
  readonly #waitingPairs = new WaitingPairs();
  #botDatabase: BotDatabase | undefined;
  #stopped = false;
  #polling: Promise<void> = Promise.resolve();

  /** `connectionOf` returns the current connection; it may reject while no database runs. */
  constructor(connectionOf: () => Promise<DatabaseConnection>) {
    this.#connectionOf = connectionOf;
  }

  /** The bot's rows, while the database runs. */
  get botDatabase(): BotDatabase | undefined {
    return this.#botDatabase?.isLost === false ? this.#botDatabase : undefined;
  }

  get waitingPairs(): WaitingPair[] {
    return this.#waitingPairs.pairs;
  }

  async start(): Promise<void> {
    this.#botDatabase = await BotDatabase.open(await this.#connectionOf());
    this.#polling = this.#poll();
  }

  /** The number of unfinished messages and turns, without those of some channels. Rejects while no database runs. */
  async unfinished(exceptChannels?: readonly string[]): Promise<number> {
    return (await this.#connected()).unfinished(exceptChannels);
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
        this.#waitingPairs.record(await (await this.#connected()).waitingMessages());
      } catch {
        // The database ended with the bot; it restarts with the next process.
      }
      await sleep(POLL_INTERVAL_MS);
    }
  }
}

/** Collects the messages of a thread that wait at the same moment: the earliest of them must be sent first. */
export class WaitingPairs {
  readonly #pairs = new Map<string, WaitingPair>();

  /** Records the messages at one moment. */
  record(messages: readonly MessageRow[]): void {
    const waiting = messages.filter(({ state }) => state === 'waiting');
    const threads = Map.groupBy(waiting, ({ channel, thread_ts }) => `${channel}/${thread_ts}`);
    for (const [thread, rows] of threads) {
      // Slack's ts have equal length and six decimals, so they sort as text.
      const [earliest, ...others] = rows.map(({ ts }) => ts).toSorted();
      if (earliest === undefined) continue;
      for (const later of others)
        this.#pairs.set(`${thread} ${earliest} ${later}`, { thread, earlier: earliest, later });
    }
  }

  get pairs(): WaitingPair[] {
    return [...this.#pairs.values()];
  }
}
