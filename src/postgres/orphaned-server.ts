import { readFile, readlink, realpath, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { EmbeddedServerError, errorCode } from './errors.ts';
import { hasOwner, seizeLock } from './owner-lock.ts';

/** What a running server says of itself in its `postmaster.pid`. */
interface Postmaster {
  pid: number;
  /** The folder of its socket; '' when the server has not got that far. */
  socketFolder: string;
}

/** How long a server without an owner may be one whose owner is just starting. */
const OWNER_GRACE_MS = 3_000;
/** After how long (ms) a server that takes no connections is stopped all the same. */
const UNRESPONSIVE_TIMEOUT_MS = 20_000;
const STOP_TIMEOUT_MS = 60_000;

/**
 * Makes sure that no server runs on these files: one that lost its owner is stopped, and a `postmaster.pid` that
 * is only left over is disarmed so that it does not keep a new server from starting.
 * @throws EmbeddedServerError `already_running` when the server has an owner
 */
export async function clearOrphanedServer(data: string, log: Logger): Promise<void> {
  const found = await readPostmaster(data);
  if (found === undefined || !isAlive(found.pid)) return;
  if (!(await isServerOf(found, data))) {
    log.warn(
      { pid: found.pid },
      'the last database server left its postmaster.pid, and its pid is used by another',
    );
    await neutralizePidFile(data, found.pid);
    return;
  }
  log.info({ pid: found.pid }, 'a database server runs on our files; looking for its owner');
  const started = performance.now();
  let signalled = false;
  while (await isSame(found, data)) {
    const waitedMs = performance.now() - started;
    if (!signalled && (await isOrphaned(found, data, waitedMs))) {
      log.warn({ pid: found.pid }, 'the database server has lost its owner; it is stopped');
      interruptServer(found.pid, data);
      signalled = true;
    }
    if (waitedMs > UNRESPONSIVE_TIMEOUT_MS + STOP_TIMEOUT_MS) {
      throw new EmbeddedServerError(
        'server_failed',
        `The database server (process ${found.pid}) that a dead owner left does not stop; stop it with "kill -QUIT ${found.pid}" and start again.`,
      );
    }
    await sleep(50);
  }
  if (found.socketFolder !== '' && path.basename(found.socketFolder).startsWith(SOCKET_FOLDER_PREFIX)) {
    await rm(found.socketFolder, { recursive: true, force: true });
  }
}

/** What the names of our sockets' folders begin with. */
export const SOCKET_FOLDER_PREFIX = 'tt-pg-';

/** The error for a second start on the same folder. */
export function alreadyRunningError(data: string): EmbeddedServerError {
  return new EmbeddedServerError(
    'already_running',
    `Taskthread is already running on ${path.dirname(data)}: stop that process first, or give this one a folder of its ` +
      'own. To run several, set DATABASE_URL to a PostgreSQL that they share.',
  );
}

/** Whether the server with this socket has written that it takes connections. */
export async function isServerReady(data: string, socketFolder: string): Promise<boolean> {
  const lines = await readLines(data);
  return lines?.[4]?.trim() === socketFolder && lines[7]?.trim() === 'ready';
}

async function readLines(data: string): Promise<string[] | undefined> {
  const text = await readFile(pidFile(data), 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  return text?.split('\n');
}

async function readPostmaster(data: string): Promise<Postmaster | undefined> {
  const lines = await readLines(data);
  // A negative pid is a single-user server.
  const pid = Math.abs(Number.parseInt(lines?.[0] ?? '', 10));
  if (lines === undefined || !Number.isSafeInteger(pid) || pid === 0) return undefined;
  return { pid, socketFolder: lines[4]?.trim() ?? '' };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** Whether the process is a server on these very files: a server's working folder is its data. */
async function isServerOf(found: Postmaster, data: string): Promise<boolean> {
  if (found.pid === process.pid || found.pid === process.ppid) return false;
  if (process.platform !== 'linux') return (await hasOwner(found.socketFolder)) !== undefined;
  try {
    return (await readlink(`/proc/${found.pid}/cwd`)) === (await realpath(data));
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ESRCH') return false;
    if (code !== 'EACCES' && code !== 'EPERM') throw error;
  }
  // A process of another user. Our server never is, unless the folder changed hands: look at its name.
  const command = await readFile(`/proc/${found.pid}/cmdline`, 'utf8').catch(() => '');
  return path.basename(command.split('\0')[0] ?? '') === 'postgres';
}

/** Whether it is sure, after so long a wait, that nobody owns the server. Throws `already_running` where somebody does. */
async function isOrphaned({ socketFolder }: Postmaster, data: string, waitedMs: number): Promise<boolean> {
  if ((await hasOwner(socketFolder)) === true) throw alreadyRunningError(data);
  if (waitedMs <= OWNER_GRACE_MS) return false;
  const seized = await seizeLock(socketFolder);
  if (seized === 'owned') throw alreadyRunningError(data);
  return seized === 'ours' || waitedMs > UNRESPONSIVE_TIMEOUT_MS;
}

async function isSame(found: Postmaster, data: string): Promise<boolean> {
  const now = await readPostmaster(data);
  return now?.pid === found.pid && isAlive(found.pid);
}

function interruptServer(pid: number, data: string): void {
  try {
    process.kill(pid, 'SIGINT');
  } catch (cause) {
    if (errorCode(cause) === 'ESRCH') return;
    throw new EmbeddedServerError(
      'server_failed',
      `The database server (process ${pid}) on ${data} was started by another user; stop it as that user.`,
      { cause },
    );
  }
}

/**
 * Replaces the pid by one that no system gives. The file stays: a starting server still finds in it the shared
 * memory of the last one and refuses to start while a process of that one lives.
 */
async function neutralizePidFile(data: string, pid: number): Promise<void> {
  const text = await readFile(pidFile(data), 'utf8');
  await writeFile(pidFile(data), text.replace(String(pid), '999999999'));
}

function pidFile(data: string): string {
  return path.join(data, 'postmaster.pid');
}
