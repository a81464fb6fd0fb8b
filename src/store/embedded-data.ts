import { randomUUID } from 'node:crypto';
import { chmod, chown, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Binaries } from './embedded-binaries.ts';
import { type Account, runProgram } from './embedded-process.ts';
import { codeOf, StoreError } from './errors.ts';

/** The user that many systems call `nobody`: PostgreSQL refuses to run as root. */
const nobody: Account = { uid: 65534, gid: 65534 };

/** The name of the database's superuser and of the database. */
export const databaseName = 'taskthread';

const draftMs = 600_000;

/** The folder of a database's files, and who the server must run as to use it. */
export interface DataFolder {
  path: string;
  account: Account | undefined;
}

/**
 * Finds the database's files below `folder`, or makes new ones.
 * @throws StoreError `folder_unusable`, `other_version`
 */
export async function prepareData(folder: string, binaries: Binaries, fsync: boolean): Promise<DataFolder> {
  const data = path.join(path.resolve(folder), 'postgres');
  try {
    await mkdir(path.dirname(data), { recursive: true });
    const found = await stat(data).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    });
    const account = process.getuid?.() === 0 ? accountOf(found) : undefined;
    await checkReachable(path.dirname(data), account);
    if (found === undefined) {
      await removeOldDrafts(data);
      await create(data, binaries, account, fsync);
    }
    await checkVersion(data, binaries);
    return { path: data, account };
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    const message = messageOf(cause);
    // initdb insists on a name, which users that a container platform makes up do not have.
    if (message.includes('could not look up effective user ID')) {
      throw new StoreError(
        'server_failed',
        `The user that the database server runs as has no name in /etc/passwd (${message}): add one, start as a user ` +
          'that has one, or set DATABASE_URL.',
        { cause },
      );
    }
    throw new StoreError(
      'folder_unusable',
      `The database's folder ${data} cannot be used (${message}): mend its rights or free some room.`,
      { cause },
    );
  }
}

/** As root, the server runs as whoever owns the files, or as nobody. */
function accountOf(found: { uid: number; gid: number } | undefined): Account {
  return found === undefined || found.uid === 0 ? nobody : { uid: found.uid, gid: found.gid };
}

async function checkReachable(parent: string, account: Account | undefined): Promise<void> {
  if (account === undefined) return;
  try {
    await runProgram('/bin/sh', ['-c', 'cd -- "$1"', 'sh', parent], account);
  } catch (cause) {
    throw new StoreError(
      'folder_unusable',
      `The database server does not run as root but as user ${account.uid}, who cannot enter ${parent}: ` +
        'use a folder outside of home folders, start as another user than root, or set DATABASE_URL.',
      { cause },
    );
  }
}

/** Makes the files beside their place and moves them there whole, so that a broken start leaves nothing behind. */
async function create(
  data: string,
  binaries: Binaries,
  account: Account | undefined,
  fsync: boolean,
): Promise<void> {
  const draft = `${data}.new-${randomUUID()}`;
  try {
    await mkdir(draft, { mode: 0o700 });
    await chmod(draft, 0o700);
    if (account !== undefined) await chown(draft, account.uid, account.gid);
    const args = [
      '-D',
      draft,
      '-U',
      databaseName,
      '-E',
      'UTF8',
      '--locale=C',
      '--auth=trust',
      '--no-instructions',
    ];
    await runProgram(binaries.initdb, fsync ? args : [...args, '--no-sync'], account);
    await rename(draft, data).catch((error: unknown) => {
      // Another process was faster; its files are as good.
      if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** What a start that was killed left; a draft of another process that starts now is seconds old. */
async function removeOldDrafts(data: string): Promise<void> {
  const parent = path.dirname(data);
  for (const name of await readdir(parent)) {
    const draft = path.join(parent, name);
    if (!draft.startsWith(`${data}.new-`)) continue;
    const { mtimeMs } = await stat(draft);
    if (Date.now() - mtimeMs > draftMs) await rm(draft, { recursive: true, force: true });
  }
}

async function checkVersion(data: string, binaries: Binaries): Promise<void> {
  const version = await readFile(path.join(data, 'PG_VERSION'), 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (version === undefined) {
    const names = await readdir(data);
    throw new StoreError(
      'folder_unusable',
      `${data} holds no database but ${names.length} other files; move it away or use another folder.`,
    );
  }
  const major = version.trim();
  if (major === binaries.major) return;
  throw new StoreError(
    'other_version',
    `${data} was written by PostgreSQL ${major}, and this release runs ${binaries.major}. With the programs of ` +
      `PostgreSQL ${major}: "pg_ctl -D ${data} -o '-k /tmp -h \\"\\"' start", ` +
      `"pg_dump -h /tmp -U ${databaseName} -Fc -f taskthread.dump ${databaseName}", "pg_ctl -D ${data} stop". ` +
      `Then move ${data} away, start this release once, and while it runs: ` +
      `"pg_restore -h <the socket's folder in ${data}/postmaster.pid, line 5> -U ${databaseName} --clean --if-exists ` +
      `-d ${databaseName} taskthread.dump".`,
  );
}

function messageOf(error: unknown): string {
  const details = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  if (details !== '') return details.split('\n').slice(-2).join(' ');
  return error instanceof Error ? error.message : String(error);
}
