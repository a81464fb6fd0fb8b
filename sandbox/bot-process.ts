import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** The program that operators start, with limits of its own (`limitsSetting`), or what BOT_PROGRAM names in its place. */
export function mainProgram(): string {
  return process.env.BOT_PROGRAM ?? fileURLToPath(new URL('./scaled-bot.ts', import.meta.url));
}

const startedLine = z.looseObject({ msg: z.literal('taskthread is running'), port: z.number() });
const READY_TIMEOUT_MS = 180_000;
const STOP_TIMEOUT_MS = 15_000;

/** Builds the bot in `folder`, as the image does, so that what this process starts is that; not where BOT_PROGRAM names another. */
export async function buildBot(folder: string): Promise<void> {
  if (process.env.BOT_PROGRAM !== undefined) return;
  const [{ build }, { default: image }] = await Promise.all([
    import('rolldown'),
    import('../rolldown.config.ts'),
  ]);
  const input = { bot: mainProgram() };
  // The embedded server stays in its package.
  const packages = fileURLToPath(new URL('../node_modules', import.meta.url));
  await mkdir(folder, { recursive: true });
  await symlink(packages, join(folder, 'node_modules'));
  await build({
    ...image,
    input,
    output: { ...image.output, dir: folder, cleanDir: false },
    logLevel: 'silent',
  });
  process.env.BOT_PROGRAM = join(folder, 'bot.js');
}

/**
 * Builds the bot in `folder`, and returns settings that halve its start time: a first process compiles its code there. A cache
 * that this process already uses (NODE_COMPILE_CACHE) takes precedence.
 */
export async function compileCacheSettings(folder: string): Promise<Record<string, string>> {
  await buildBot(join(folder, 'program'));
  const { NODE_COMPILE_CACHE } = process.env;
  if (NODE_COMPILE_CACHE !== undefined) return { NODE_COMPILE_CACHE };
  const settings = { NODE_COMPILE_CACHE: folder };
  const child = spawn(process.execPath, [mainProgram(), '--help'], {
    env: { ...process.env, ...settings },
    stdio: 'ignore',
  });
  await once(child, 'exit');
  return settings;
}

/** Starts a process of the bot, or of another program, and waits until it takes events; `undo` kills it. @throws if it ends before */
export async function startBotProcess(
  settings: Readonly<Record<string, string>>,
  logFile: string,
  undo: AsyncDisposableStack,
  program = mainProgram(),
): Promise<BotProcess> {
  const bot = new BotProcess(settings, logFile, program);
  undo.defer(async () => void (bot.alive && (await bot.kill())));
  if (!(await bot.ready())) throw new Error(`The bot did not start: see ${logFile}.`);
  return bot;
}

/** One process of the bot, started as an operator starts it. */
export class BotProcess {
  readonly logFile: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #log: WriteStream;
  readonly #ready = Promise.withResolvers<boolean>();
  #port: number | undefined;

  /**
   * `settings` are its whole environment, besides what any process needs; its log lines are appended to `logFile`, unless
   * its standard output is a file that is open as `stdout`.
   */
  constructor(
    settings: Readonly<Record<string, string>>,
    logFile: string,
    program = mainProgram(),
    stdout: 'pipe' | number = 'pipe',
  ) {
    const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
    const env = { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, LOG_LEVEL: 'info', ...settings };
    this.#child = spawn(process.execPath, [program], { env, stdio: ['ignore', stdout, 'pipe'] });
    this.#ended = once(this.#child, 'exit');
    this.logFile = logFile;
    this.#log = createWriteStream(logFile, { flags: 'a' });
    this.#log.write(`--- process ${this.#child.pid} started\n`);
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => {
        // Lines may still come after the process's exit has ended the log.
        if (this.#log.writable) this.#log.write(`${line}\n`);
        this.#readLogLine(line);
      });
    }
    void this.#ended.then(() => this.#ready.resolve(false));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Whether the process exists, frozen or not. */
  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves when the process has ended, for whatever reason. */
  get ended(): Promise<unknown> {
    return this.#ended;
  }

  /** Its HTTP port, while it accepts events. */
  get port(): number | undefined {
    return this.alive ? this.#port : undefined;
  }

  /** Resolves to true when it accepts events, to false if it ends before. @throws after three minutes of neither */
  async ready(): Promise<boolean> {
    const late = sleep(READY_TIMEOUT_MS, undefined, { ref: false });
    const isReady = await Promise.race([this.#ready.promise, late]);
    if (isReady === undefined) throw new Error('The bot did not start within three minutes.');
    return isReady;
  }

  /** Reads no more of its log, which fills up. */
  stopReading(): void {
    this.#child.stdout?.pause();
  }

  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  /** Kills it with SIGKILL; resolves when it has ended. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
    this.#log.end('--- killed\n');
  }

  /** Sends SIGTERM, and SIGKILL after 15 s; resolves to whether the first was enough. */
  async stop(): Promise<boolean> {
    this.thaw();
    this.#child.kill('SIGTERM');
    let inTime = true;
    const timer = setTimeout(() => {
      inTime = false;
      this.#child.kill('SIGKILL');
    }, STOP_TIMEOUT_MS);
    await this.#ended;
    clearTimeout(timer);
    this.#log.end('--- stopped\n');
    return inTime;
  }

  #readLogLine(line: string): void {
    if (!line.includes('taskthread is running')) return;
    const read = startedLine.safeParse(JSON.parse(line));
    if (!read.success) return;
    this.#port = read.data.port;
    this.#ready.resolve(true);
  }
}
