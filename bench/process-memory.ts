import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const execute = promisify(execFile);
/** Between two readings (ms). */
const MEMORY_POLL_MS = 50;

/** The most memory that a process has until it is stopped (bytes). */
export function trackPeakMemory(pid: number): { stop(): Promise<number> } {
  let peak = 0;
  let isRunning = true;
  const polling = (async () => {
    while (isRunning) {
      peak = Math.max(peak, await residentBytes(pid));
      await sleep(MEMORY_POLL_MS);
    }
  })();
  return {
    stop: async () => {
      isRunning = false;
      await polling;
      return peak;
    },
  };
}

/** The memory of a process that is in use now (bytes). */
export async function residentBytes(pid: number): Promise<number> {
  if (process.platform !== 'linux') {
    const { stdout } = await execute('ps', ['-o', 'rss=', '-p', String(pid)]);
    return Number(stdout) * 1024;
  }
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
}
