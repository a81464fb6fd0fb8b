import { stripVTControlCharacters } from 'node:util';
import { type IPty, spawn } from '@lydell/node-pty';

/** Far more than anything here takes on a busy machine (ms). */
const TIMEOUT_MS = 60_000;
/** So wide that no prompt wraps. */
const COLUMNS = 1_000;

/** A program in a pseudo-terminal, and the person before it. */
export class Terminal {
  readonly #pty: IPty;
  readonly #exit = Promise.withResolvers<number>();
  readonly #listeners = new Set<() => void>();
  #output = '';
  #seen = 0;
  #hasEnded = false;

  constructor(
    program: string,
    args: string[],
    { columns = COLUMNS, ...options }: { cwd: string; env: Record<string, string>; columns?: number },
  ) {
    this.#pty = spawn(program, args, { ...options, cols: columns, rows: 50, name: 'xterm-256color' });
    this.#pty.onData((data) => {
      this.#output += data;
      this.#wake();
    });
    this.#pty.onExit(({ exitCode }) => {
      this.#hasEnded = true;
      this.#exit.resolve(exitCode);
      this.#wake();
    });
  }

  /** The exit code, once the program has ended. */
  get ended(): Promise<number> {
    return this.#exit.promise;
  }

  /** Everything that was printed so far, as it came. */
  get output(): string {
    return this.#output;
  }

  /** Everything on the screen so far, without colours and cursor movements. */
  get text(): string {
    return stripVTControlCharacters(this.#output);
  }

  /** Waits until the screen shows this after what was seen before; resolves to the match. */
  async see(pattern: RegExp): Promise<RegExpExecArray> {
    const deadline = Date.now() + TIMEOUT_MS;
    for (;;) {
      const text = this.text.slice(this.#seen);
      const match = pattern.exec(text);
      if (match !== null) {
        this.#seen += match.index + match[0].length;
        return match;
      }
      const left = deadline - Date.now();
      if (left <= 0 || this.#hasEnded)
        throw new Error(`The screen does not show ${String(pattern)}. It shows:\n${text.slice(-3_000)}`);
      await this.#change(left);
    }
  }

  /** Types text, then Enter. */
  enter(text = ''): void {
    this.#pty.write(`${text}\r`);
  }

  /** Types text without Enter. */
  type(text: string): void {
    this.#pty.write(text);
  }

  /** Presses the arrow down, then Enter: takes the choice this many below the current one. */
  choose(below: number): void {
    this.#pty.write(`${'\u001B[B'.repeat(below)}\r`);
  }

  interrupt(): void {
    this.#pty.write('\u0003');
  }

  /** Kills the program if it still runs. */
  async close(): Promise<void> {
    if (!this.#hasEnded) this.#pty.kill('SIGKILL');
    await this.ended;
  }

  async #change(ms: number): Promise<void> {
    const changed = Promise.withResolvers<void>();
    const timer = setTimeout(changed.resolve, ms);
    this.#listeners.add(changed.resolve);
    await changed.promise;
    this.#listeners.delete(changed.resolve);
    clearTimeout(timer);
  }

  #wake(): void {
    for (const listener of this.#listeners) listener();
  }
}
