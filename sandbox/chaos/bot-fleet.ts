import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BotProcess } from '../bot-process.ts';

/** The bot's processes, by index. */
export class BotFleet {
  /** Starts that ended before the bot accepted events, although nobody killed it. */
  failedStarts = 0;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #logs: string;
  readonly #program: string | undefined;
  readonly #bots: BotProcess[] = [];
  #nextPort = 0;

  /** `program` replaces the bot's own program. */
  constructor(options: {
    settings: Readonly<Record<string, string>>;
    logs: string;
    program?: string | undefined;
  }) {
    this.#settings = options.settings;
    this.#logs = options.logs;
    this.#program = options.program;
  }

  /** Starts this many processes; resolves when all accept events. */
  async start(count: number): Promise<void> {
    for (let i = 0; i < count; i += 1) await this.restart(i);
  }

  /** Starts an ended process again; resolves when it accepts events. */
  async restart(index: number): Promise<void> {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const bot = new BotProcess(this.#settings, join(this.#logs, `bot-${index + 1}.log`), this.#program);
      this.#bots[index] = bot;
      if (await bot.ready()) return;
      this.failedStarts += 1;
      await sleep(100);
    }
    throw new Error('The bot does not start; see its log.');
  }

  /** The port of a process that accepts events, if there is one; the processes take turns. */
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

  /** Stops all processes; resolves to how many had to be killed. */
  async stop(): Promise<number> {
    const stopped = await Promise.all(this.#bots.map(async (bot) => !bot.alive || (await bot.stop())));
    return stopped.filter((inTime) => !inTime).length;
  }
}
