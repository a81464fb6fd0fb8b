import { rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import { readCommandConfig } from '../src/config/environment-and-secret-files.ts';
import { parseOptions, runCommand } from '../src/operate/command-runner.ts';
import { startEmbeddedServer } from '../src/postgres/embedded-server.ts';
import { folderBytes, packFolder, progressOf } from './data-archive.ts';
import { requireEmbeddedDatabase, runInterruptible } from './embedded-database.ts';

const USAGE = 'npm run backup [-- --to taskthread.tar.gz]';
const HELP = `Saves the embedded database in one file, while Taskthread is stopped.

Usage: ${USAGE}

  --to   the new file; by default taskthread-<time>.tar.gz in this folder`;

/** Saves the embedded database of a data folder in a new file. Throws if a process uses the database, or the file exists. */
export async function backUp(
  dataFolder: string,
  file: string,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const data = path.join(dataFolder, 'postgres');
  if ((await stat(data).catch(() => undefined)) === undefined)
    throw new Error(`There is no embedded database in ${path.resolve(dataFolder)}. Check DATA_FOLDER.`);
  // Only one process can own the database; a clean stop leaves files that need no recovery.
  const server = await startEmbeddedServer({ folder: dataFolder, log: pino({ level: 'silent' }) });
  await server.stop();
  const before = await lastUse(data);
  const total = await folderBytes(data);
  const draft = `${file}.${process.pid}.part`;
  try {
    await packFolder(data, draft, { onBytes: progressOf('Saved', total, say), signal });
    if ((await lastUse(data)) !== before)
      throw new Error('Taskthread was started during the backup. Stop it, and run the command again.');
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
  say(
    `Saved ${Math.ceil(total / 1_000_000)} MB in ${file}. Keep it private, and SECRET_KEY in another place.`,
  );
}

/** Changes whenever a server uses the files: it writes this one at its start and at its stop. */
async function lastUse(data: string): Promise<bigint> {
  return (await stat(path.join(data, 'global', 'pg_control'), { bigint: true })).mtimeNs;
}

async function run(args: readonly string[]): Promise<number> {
  const time = new Date()
    .toISOString()
    .replace(/:\d\d\..*/, '')
    .replace(':', '');
  const { to } = parseOptions(USAGE, args, { to: { type: 'string', default: `taskthread-${time}.tar.gz` } });
  const folder = requireEmbeddedDatabase(readCommandConfig(process.env), USAGE);
  if ((await stat(to).catch(() => undefined)) !== undefined)
    throw new Error(`${to} exists already. Name another file.`);
  await runInterruptible((signal) => backUp(folder, to, (line) => console.log(line), signal));
  return 0;
}

if (import.meta.main) await runCommand(HELP, () => run(process.argv.slice(2)));
