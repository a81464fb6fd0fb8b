import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, chown, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { EmbeddedServerError, errorMessage, valueForCodes } from './errors.ts';
import type { ServerBinaries } from './server-binaries.ts';
import { type OsUser, runProgram, userChangeRefused } from './server-process.ts';

/** PostgreSQL refuses to run as root: macOS has a user for it, `_postgres`; other systems have `nobody`. */
const SERVER_USER: OsUser =
  process.platform === 'darwin' ? { uid: 216, gid: 216 } : { uid: 65534, gid: 65534 };

/** The name of the superuser and of the database. */
export const DATABASE_NAME = 'taskthread';

const PASSWORD_FILE = 'taskthread.password';
const MAX_DRAFT_AGE_MS = 600_000;

/** The folder of a database's files, and the user that the server runs as. */
export interface DataFolder {
  path: string;
  osUser: OsUser | undefined;
  password: string;
}

/**
 * Finds the database's files in `folder`, or creates them.
 * @throws EmbeddedServerError `folder_unusable`, `other_version`
 */
export async function prepareDataFolder(
  folder: string,
  binaries: ServerBinaries,
  fsync: boolean,
): Promise<DataFolder> {
  const data = dataPath(folder);
  try {
    const found = await stat(data).catch(valueForCodes(undefined, 'ENOENT'));
    const osUser = process.getuid?.() === 0 ? osUserFor(found) : undefined;
    await makeParents(data, osUser);
    await checkReachable(path.dirname(binaries.postgres), 'TMPDIR', osUser);
    await checkReachable(path.dirname(data), 'DATA_FOLDER', osUser);
    if (found === undefined) {
      await removeOldDrafts(data);
      await createDataFolder(data, binaries, osUser, fsync);
    }
    await checkVersion(data, binaries);
    return { path: data, osUser, password: await readPassword(data) };
  } catch (cause) {
    if (cause instanceof EmbeddedServerError) throw cause;
    const message = failureText(cause);
    if (message.startsWith('EPERM') && message.includes('chown')) throw userChangeRefused(cause);
    // initdb requires a user name, which users assigned by a container platform do not have.
    if (message.includes('could not look up effective user ID')) {
      throw new EmbeddedServerError(
        'server_failed',
        `The database server's user has no name in /etc/passwd (${message}): add one, start as a user that has one, ` +
          'or set DATABASE_URL.',
        { cause },
      );
    }
    throw new EmbeddedServerError(
      'folder_unusable',
      `The database's folder ${data} cannot be used (${message}): fix its permissions, free some space, or set DATA_FOLDER to another one.`,
      { cause },
    );
  }
}

/** How to reach the server. `host` is the folder of its socket; it has no TCP port. */
export type ServerConnection = { port: number } & Record<'host' | 'user' | 'password' | 'database', string> &
  Partial<typeof WITHOUT_ENVIRONMENT>;

/** What `pg` would otherwise take from PGSSLMODE, PGOPTIONS and their like, which are for another server. */
const WITHOUT_ENVIRONMENT = {
  ssl: false,
  sslnegotiation: 'postgres',
  client_encoding: 'UTF8',
  options: ' ',
  replication: 'false',
} as const;

/** The connection to the server with this socket. */
export function connectionTo(host: string, password: string): ServerConnection {
  const name = DATABASE_NAME;
  return { ...WITHOUT_ENVIRONMENT, host, port: 5432, user: name, password, database: name };
}

/** Where the files of the database are in `folder`. */
export function dataPath(folder: string): string {
  return path.join(path.resolve(folder), 'postgres');
}

/** The password of the database in the folder `data`; whoever may read the files of the database may read it. */
export async function readPassword(data: string): Promise<string> {
  return (await readFile(path.join(data, PASSWORD_FILE), 'utf8')).trim();
}

/** The user that the server runs as if we are root: the owner of the files, or one without rights. */
export function osUserFor(found: { uid: number; gid: number } | undefined): OsUser {
  return found === undefined || found.uid === 0 ? SERVER_USER : { uid: found.uid, gid: found.gid };
}

/** Makes the folders above `data`; the server's user may pass through those that we make, whatever the umask. */
async function makeParents(data: string, osUser: OsUser | undefined): Promise<void> {
  const parent = path.dirname(data);
  const first = await mkdir(parent, { recursive: true });
  if (first === undefined || osUser === undefined) return;
  for (let made = parent; made.startsWith(first); made = path.dirname(made)) await chmod(made, 0o711);
}

const OPEN_FOLDERS_SCRIPT =
  'for folder; do cd -- "$folder" 2>/dev/null || { echo "$folder" >&2; exit 1; }; done';

async function checkReachable(folder: string, setting: string, osUser: OsUser | undefined): Promise<void> {
  if (osUser === undefined) return;
  const names = folder.split(path.sep).slice(1);
  const folders = names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`);
  try {
    await runProgram('/bin/sh', ['-c', OPEN_FOLDERS_SCRIPT, 'sh', ...folders], osUser);
  } catch (cause) {
    if (cause instanceof EmbeddedServerError) throw cause;
    const closed = failureText(cause);
    throw new EmbeddedServerError(
      'folder_unusable',
      `The database server runs as user ${osUser.uid} instead of root, and that user may not open ${closed}: ` +
        `run "chmod o+x ${closed}", set ${setting} to a folder elsewhere, or start as a user other than root.`,
      { cause },
    );
  }
}

/** Creates the files in a draft folder and moves that into place, so that an interrupted start leaves nothing behind. */
async function createDataFolder(
  data: string,
  binaries: ServerBinaries,
  osUser: OsUser | undefined,
  fsync: boolean,
): Promise<void> {
  const draft = `${data}.new-${randomUUID()}`;
  // initdb wants an empty folder.
  const password = `${draft}.password`;
  try {
    await mkdir(draft, { mode: 0o700 });
    await chmod(draft, 0o700);
    await writeFile(password, randomBytes(24).toString('base64url'), { mode: 0o600, flush: fsync });
    if (osUser !== undefined) {
      for (const file of [draft, password]) await chown(file, osUser.uid, osUser.gid);
    }
    const args = [
      `--pgdata=${draft}`,
      `--username=${DATABASE_NAME}`,
      '--encoding=UTF8',
      '--locale=C',
      '--auth=scram-sha-256',
      `--pwfile=${password}`,
      '--no-instructions',
    ];
    await runProgram(binaries.initdb, fsync ? args : [...args, '--no-sync'], osUser);
    await rename(password, path.join(draft, PASSWORD_FILE));
    // Another process may have been faster; its files are just as good.
    await rename(draft, data).catch(valueForCodes(undefined, 'ENOTEMPTY', 'EEXIST'));
  } finally {
    for (const file of [draft, password]) await rm(file, { recursive: true, force: true });
  }
}

/** Removes the drafts of starts that were killed; a draft of a process that is starting now is seconds old. */
async function removeOldDrafts(data: string): Promise<void> {
  const parent = path.dirname(data);
  for (const name of await readdir(parent)) {
    const draft = path.join(parent, name);
    if (!draft.startsWith(`${data}.new-`)) continue;
    const { mtimeMs } = await stat(draft);
    if (Date.now() - mtimeMs > MAX_DRAFT_AGE_MS) await rm(draft, { recursive: true, force: true });
  }
}

async function checkVersion(data: string, binaries: ServerBinaries): Promise<void> {
  const file = path.join(data, 'PG_VERSION');
  const version = await readFile(file, 'utf8').catch(valueForCodes(undefined, 'ENOENT'));
  if (version === undefined) {
    const names = await readdir(data);
    throw new EmbeddedServerError(
      'folder_unusable',
      `${data} contains ${names.length} files but no database: move it away or use another folder.`,
    );
  }
  const major = version.trim();
  if (major === binaries.major) return;
  throw new EmbeddedServerError(
    'other_version',
    `${data} was written by PostgreSQL ${major}, and this release runs ${binaries.major}. Set PGPASSWORD to the content of ` +
      `${path.join(data, PASSWORD_FILE)}. With the programs of PostgreSQL ${major}: "pg_ctl -D ${data} -o '-k /tmp -h \\"\\"' start", ` +
      `"pg_dump -h /tmp -U ${DATABASE_NAME} -Fc -f taskthread.dump ${DATABASE_NAME}", "pg_ctl -D ${data} stop". ` +
      `Then move ${data} away, start this release, and set PGPASSWORD anew, PGUSER to ${DATABASE_NAME}, and PGHOST to line 5 ` +
      `of ${data}/postmaster.pid. While it runs: "dropdb --force ${DATABASE_NAME}", "createdb ${DATABASE_NAME}", ` +
      `"pg_restore --exit-on-error -d ${DATABASE_NAME} taskthread.dump". Then restart it.`,
  );
}

function failureText(error: unknown): string {
  const details = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  if (details !== '') return details.split('\n').slice(-2).join(' ');
  return errorMessage(error);
}
