import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { BotProcess } from './bot-process.ts';
import type { BotPhase, BotState } from './bot-state.ts';

const logLine = z.looseObject({ msg: z.string(), err: z.looseObject({ message: z.string() }).optional() });

/** Runs the bot as a child process that can be killed in the middle of its work and started again. */
export class BotSupervisor {
  readonly #settings: Readonly<Record<string, string>>;
  readonly #logFile: string;
  readonly #listeners = new Set<(state: BotState) => void>();
  #process: BotProcess | undefined;
  /** The bot never outlives this process. */
  readonly #killAtExit = () => void this.#process?.kill();
  #state: BotState = { phase: 'down', pid: undefined, since: Date.now() };

  /** `settings` are the bot's environment; its log lines are appended to `logFile`. */
  constructor(settings: Readonly<Record<string, string>>, logFile: string) {
    this.#settings = settings;
    this.#logFile = logFile;
    process.once('exit', this.#killAtExit);
  }

  get state(): BotState {
    return this.#state;
  }

  onState(listener: (state: BotState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Starts the bot if it is down; resolves when it accepts events. @throws if it ends before that */
  async start(): Promise<void> {
    if (this.#process?.alive) return;
    const started = new BotProcess(this.#settings, this.#logFile);
    this.#process = started;
    this.#setPhase('starting');
    void started.ended.then(() => {
      if (this.#process === started) this.#setPhase('down');
    });
    if (!(await started.ready())) throw new Error(`The bot did not start: ${await this.lastLogMessage()}`);
    this.#setPhase('running');
  }

  /** What the bot logged last. */
  async lastLogMessage(): Promise<string> {
    const last = (await readFile(this.#logFile, 'utf8')).trim().split('\n').at(-1) ?? '';
    if (!last.startsWith('{')) return last;
    const { msg, err } = logLine.parse(JSON.parse(last));
    return err === undefined ? msg : `${msg}: ${err.message}`;
  }

  /** kill -9. */
  async crash(): Promise<void> {
    if (this.#process?.alive) await this.#process.kill();
  }

  /** Shuts the bot down in order. */
  async stop(): Promise<void> {
    process.off('exit', this.#killAtExit);
    if (this.#process?.alive) await this.#process.stop();
  }

  #setPhase(phase: BotPhase): void {
    this.#state = { phase, pid: phase === 'down' ? undefined : this.#process?.pid, since: Date.now() };
    for (const listener of this.#listeners) listener(this.#state);
  }
}
