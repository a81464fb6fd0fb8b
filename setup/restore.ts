import { randomUUID } from 'node:crypto';
import { chmod, lchown, lstat, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import { readCommandConfig } from '../src/config/environment-and-secret-files.ts';
import { requireUsableBackup } from '../src/operate/checks/database-checks.ts';
import { parseOptions, runCommand, UsageError } from '../src/operate/command-runner.ts';
import { osUserFor } from '../src/postgres/data-folder.ts';
import { startEmbeddedServer } from '../src/postgres/embedded-server.ts';
import { findRunningServer } from '../src/postgres/running-server.ts';
import { progressOf, unpackFolder } from './data-archive.ts';
import { requireEmbeddedDatabase, runInterruptible } from './embedded-database.ts';

const USAGE = 'npm run restore -- --from taskthread.tar.gz [--replace]';
const HELP = `Puts an embedded database back that npm run backup has saved, while Taskthread is stopped.

Usage: ${USAGE}

  --from      the file; trust it like a program, because the database that it holds is run
  --replace   moves the database that is there aside; without it, the command refuses`;

/** What each file of the server's configuration has: everything else is PostgreSQL's default, or given at the start. */
const CONFIGURATION = {
  'postgresql.conf': '',
  'postgresql.auto.conf': '',
  'pg_hba.conf': 'local all all scram-sha-256\n',
  'pg_ident.conf': '',
};

/** Makes the configuration of the server our own again: a strange one could run programs. */
async function resetConfiguration(data: string): Promise<void> {
  for (const [name, content] of Object.entries(CONFIGURATION))
    await writeFile(path.join(data, name), content, { mode: 0o600 });
}

/** What to restore, and where. */
export interface RestoreRequest {
  dataFolder: string;
  file: string;
  replace: boolean;
}

/**
 * Puts the embedded database of a backup into a data folder, and starts it once to try it. If anything fails, the folder
 * is as it was. Throws if the folder has a database, unless it may be replaced, if a process uses that, or if this
 * version cannot go on with the backup.
 */
export async function restore(
  { dataFolder, file, replace }: RestoreRequest,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const data = path.join(path.resolve(dataFolder), 'postgres');
  const { size } = await stat(file);
  const isThere = (await stat(data).catch(() => undefined)) !== undefined;
  if (isThere && !replace)
    throw new Error(`${data} holds a database. Add --replace to move it aside, or use another DATA_FOLDER.`);
  if (isThere && (await findRunningServer(dataFolder)) !== undefined)
    throw new Error(`Taskthread is running on ${dataFolder}. Stop it first.`);
  await mkdir(dataFolder, { recursive: true });
  const draft = `${data}.restored-${randomUUID()}`;
  const aside = `${data}.replaced-${new Date().toISOString().replaceAll(':', '')}`;
  try {
    await mkdir(draft, { mode: 0o700 });
    await unpackFolder(file, draft, { onBytes: progressOf('Read', size, say), signal });
    const files = await checkContents(draft);
    await resetConfiguration(draft);
    await giveToServer([draft, ...files], dataFolder);
    if (isThere) await rename(data, aside);
    let isInPlace = false;
    try {
      await rename(draft, data);
      isInPlace = true;
      await tryDatabase(dataFolder);
    } catch (error) {
      if (isInPlace) await rename(data, draft);
      if (isThere) await rename(aside, data);
      throw error;
    }
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  if (isThere) say(`The database that was there is in ${aside}.`);
  say(`Restored ${file}. Start Taskthread: it continues the threads of the backup.`);
}

/** Starts the database of a folder once. Throws if it does not start, or if only another version can go on with it. */
async function tryDatabase(folder: string): Promise<void> {
  const log = pino({ level: 'silent' });
  const server = await startEmbeddedServer({ folder, log });
  try {
    await requireUsableBackup(server.connection, log);
  } finally {
    await server.stop();
  }
}

/** The paths of all files and folders of a backup. Throws if it has anything else: a link leads out of the folder. */
async function checkContents(draft: string): Promise<string[]> {
  const entries = await readdir(draft, { recursive: true, withFileTypes: true });
  const paths = entries.map(({ parentPath, name }) => path.join(parentPath, name));
  for (const [at, entry] of entries.entries()) {
    const file = paths[at] ?? '';
    const isOwn = entry.isDirectory() || (entry.isFile() && (await lstat(file)).nlink === 1);
    if (!isOwn)
      throw new Error(
        `The backup has ${path.relative(draft, file)}, which is no plain file. Nothing was restored.`,
      );
  }
  for (const name of ['PG_VERSION', 'taskthread.password'])
    if (!paths.includes(path.join(draft, name)))
      throw new Error('The file is no backup of an embedded database.');
  return paths;
}

/** Gives the files to the user that the server runs as; PostgreSQL refuses a folder that others can read. */
async function giveToServer(files: readonly string[], dataFolder: string): Promise<void> {
  await chmod(files[0] ?? '', 0o700);
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = osUserFor(await stat(dataFolder));
  for (const file of files) await lchown(file, uid, gid);
}

async function run(args: readonly string[]): Promise<number> {
  const { from, replace } = parseOptions(USAGE, args, {
    from: { type: 'string' },
    replace: { type: 'boolean', default: false },
  });
  if (from === undefined) throw new UsageError(USAGE, '--from is missing.');
  const dataFolder = requireEmbeddedDatabase(readCommandConfig(process.env), USAGE);
  const request = { dataFolder, file: from, replace };
  await runInterruptible((signal) => restore(request, (line) => console.log(line), signal));
  return 0;
}

if (import.meta.main) await runCommand(HELP, () => run(process.argv.slice(2)));
