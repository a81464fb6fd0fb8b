import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BotProcess } from '../bot-process.ts';

/** The bot's processes: each is started again whenever it ends. */
export class BotFleet {
  /** Starts that ended before the bot took events, although nobody killed it. */
  failedStarts = 0;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #logs: string;
  readonly #program: string | undefined;
  readonly #bots: BotProcess[] = [];
  #nextPort = 0;

  /** `program` is what is started; the bot as it is when left out. */
  constructor(options: {
    settings: Readonly<Record<string, string>>;
    logs: string;
    program?: string | undefined;
  }) {
    this.#settings = options.settings;
    this.#logs = options.logs;
    this.#program = options.program;
  }

  /** Starts that many; resolves when all take events. */
  async start(count: number): Promise<void> {
    for (let i = 0; i < count; i += 1) await this.restart(i);
  }

  /** Starts one that is not alive; resolves when it takes events. */
  async restart(index: number): Promise<void> {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const bot = new BotProcess(this.#settings, join(this.#logs, `bot-${index + 1}.log`), this.#program);
      this.#bots[index] = bot;
      if (await bot.ready()) return;
      this.failedStarts += 1;
      await sleep(100);
    }
    throw new Error('The bot does not start; its log says why.');
  }

  /** The port of one that takes events, if there is one. */
  port(): number | undefined {
    const ports = this.#bots.flatMap((bot) => bot.port ?? []);
    this.#nextPort += 1;
    return ports[this.#nextPort % Math.max(1, ports.length)];
  }

  at(index: number): BotProcess {
    const bot = this.#bots[index];
    if (bot === undefined) throw new Error(`There is no bot ${index}.`);
    return bot;
  }

  /** Ends all in order; the answer is how many had to be killed. */
  async stop(): Promise<number> {
    const gone = await Promise.all(this.#bots.map(async (bot) => !bot.alive || (await bot.stop())));
    return gone.filter((inTime) => !inTime).length;
  }
}
