import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';

const requestSchema = z.object({ id: z.number(), name: z.string(), value: z.unknown().optional() });
const responseSchema = z.object({
  id: z.number(),
  value: z.unknown().optional(),
  error: z.string().optional(),
});
const sendSchema = z.custom<(message: z.infer<typeof responseSchema>) => void>(
  (value) => typeof value === 'function',
);

/** A bench program in its own process, called over Node's IPC channel. Its standard output is discarded. */
export class ChildProgram {
  readonly #process: ChildProcess;
  readonly #open = new Map<number, PromiseWithResolvers<unknown>>();
  #asked = 0;

  constructor(program: URL, flags: readonly string[] = []) {
    this.#process = fork(program, {
      execArgv: [...flags],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#process.on('message', (message) => {
      const { id, value, error } = responseSchema.parse(message);
      const waiting = this.#open.get(id);
      this.#open.delete(id);
      if (error === undefined) waiting?.resolve(value);
      else waiting?.reject(new Error(error));
    });
    this.#process.on('exit', (code) => {
      for (const { reject } of this.#open.values()) reject(new Error(`A bench process ended (${code}).`));
    });
  }

  /** Calls one of the functions that the program serves. Rejects with the error that it threw. */
  async ask<Schema extends z.ZodType>(
    name: string,
    value: unknown,
    schema: Schema,
  ): Promise<z.infer<Schema>> {
    this.#asked += 1;
    const waiting = Promise.withResolvers<unknown>();
    this.#open.set(this.#asked, waiting);
    this.#process.send({ id: this.#asked, name, value });
    return schema.parse(await waiting.promise);
  }

  /** Kills the process (SIGKILL): nothing that it worked on is kept. */
  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }
}

/** Serves these functions to the parent process, and exits when the parent does. */
export function serve(functions: Record<string, (value: unknown) => unknown>): void {
  const send = sendSchema.parse(process.send?.bind(process));
  process.on('disconnect', () => process.exit(0));
  process.on('message', (message) => {
    const { id, name, value } = requestSchema.parse(message);
    const work = async () => functions[name]?.(value);
    work().then(
      (result) => send({ id, value: result }),
      (error: unknown) =>
        send({ id, value: null, error: error instanceof Error ? error.stack : String(error) }),
    );
  });
}
