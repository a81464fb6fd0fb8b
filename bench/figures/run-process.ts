import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Run } from './figure.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** After so many times its own time a run is ended: it waits for something that never comes. */
const MAX_TIMES = 3;
const MAX_SEED = 1_000_000;

/** How one run of a command ended. */
export interface RunOutcome {
  /** The last line of its standard output. */
  line: string;
  /** Null if it was ended because it took too long. */
  exitCode: number | null;
  seconds: number;
  seed?: number;
}

/** Runs a command once, with a fresh seed where it takes one; what it prints is passed on. Nothing that it starts outlives it. */
export async function runOnce({ command, seconds, seedOption }: Run): Promise<RunOutcome> {
  const seed = seedOption === undefined ? undefined : randomInt(MAX_SEED);
  const words = [...command, ...(seedOption === undefined ? [] : [seedOption, String(seed)])];
  console.log(`\n> npm run ${words.join(' ')}`);
  const began = performance.now();
  const child = spawn('npm', ['run', '--silent', ...words], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const endAll = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All of its processes have ended.
    }
  };
  process.once('exit', endAll);
  child.once('exit', endAll);
  let isLate = false;
  const limit = setTimeout(
    () => {
      isLate = true;
      endAll();
    },
    seconds * MAX_TIMES * 1_000,
  );
  const ended = once(child, 'exit');
  let line = '';
  for await (const printed of createInterface({ input: child.stdout })) {
    console.log(printed);
    if (printed !== '') line = printed;
  }
  const [code] = await ended;
  clearTimeout(limit);
  process.off('exit', endAll);
  return {
    line,
    exitCode: isLate ? null : Number(code ?? 1),
    seconds: Math.round((performance.now() - began) / 1_000),
    ...(seed === undefined ? {} : { seed }),
  };
}
