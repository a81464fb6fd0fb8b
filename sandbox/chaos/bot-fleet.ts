import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BotProcess } from '../bot-process.ts';

interface BotFleetOptions {
  settings: Readonly<Record<string, string>>;
  logs: string;
  /** Runs in place of the bot's own program. */
  program?: string | undefined;
}

/** The bot's processes, by index. */
export class BotFleet {
  /** Starts that ended before the bot accepted events, although nobody killed it. */
  failedStarts = 0;
  readonly #options: BotFleetOptions;
  readonly #bots: BotProcess[] = [];
  #nextPort = 0;

  constructor(options: BotFleetOptions) {
    this.#options = options;
  }

  /** Starts this many processes; resolves when all accept events. */
  async start(count: number): Promise<void> {
    for (let i = 0; i < count; i += 1) await this.restart(i);
  }

  /** Starts an ended process again; resolves when it accepts events. */
  async restart(index: number): Promise<void> {
    const { settings, logs, program } = this.#options;
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const bot = new BotProcess(settings, join(logs, `bot-${index + 1}.log`), program);
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
