import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const MEMORY_FOLDER = '/dev/shm';
/** Far more than a run needs at a time (bytes). */
const ENOUGH_MEMORY = 2 * 2 ** 30;

/**
 * A temporary folder for everything in the run, in memory if there is room: on ext4, creating a test's database takes
 * many times as much CPU, because each new file searches past those that were just deleted. What is to be read after the
 * run belongs in KEPT_LOGS_FOLDER.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const parent = (await freeBytes(MEMORY_FOLDER)) < ENOUGH_MEMORY ? tmpdir() : MEMORY_FOLDER;
  const folder = await mkdtemp(path.join(parent, 'taskthread-tests-'));
  // Where we are root, the database's own user must get to its folder.
  await chmod(folder, 0o711);
  process.env.KEPT_LOGS_FOLDER = tmpdir();
  process.env.TMPDIR = folder;
  // A worker writes what it compiled when it ends.
  return () => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

async function freeBytes(folder: string): Promise<number> {
  const found = await statfs(folder).catch(() => undefined);
  return found === undefined ? 0 : found.bavail * found.bsize;
}
