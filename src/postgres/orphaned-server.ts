import { readFile, readlink, realpath, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { DataFolder, ServerConnection } from './data-folder.ts';
import { EmbeddedServerError, errorCode, valueForCodes } from './errors.ts';
import { connectionTo, hasOwner, seizeLock } from './owner-lock.ts';

/** What a server has written about itself into `postmaster.pid`. */
interface Postmaster {
  pid: number;
  /** The folder of its socket; '' if it has not been written yet. */
  socketFolder: string;
}

/** How long the owner of a new server may take to lock it (ms). */
const OWNER_GRACE_MS = 3_000;
/** A server that accepts no connections for this long (ms) is stopped. */
const UNRESPONSIVE_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 60_000;

/**
 * Makes sure that no server runs on these files: stops one that lost its owner, and neutralizes a leftover
 * `postmaster.pid` so that it does not keep a new server from starting.
 * @throws EmbeddedServerError `already_running` if the server has an owner
 */
export async function clearOrphanedServer({ path: data, password }: DataFolder, log: Logger): Promise<void> {
  const found = await readPostmaster(data);
  if (found === undefined || !isAlive(found.pid)) return;
  const server = connectionTo(found.socketFolder, password);
  if (!(await isServerOf(found, data, server))) {
    log.warn(
      { pid: found.pid },
      'the last database server left its postmaster.pid, and another process has its pid',
    );
    await neutralizePidFile(data, found.pid);
    return;
  }
  log.info({ pid: found.pid }, 'a database server is running on our files; looking for its owner');
  const started = performance.now();
  let signalled = false;
  while (await isSame(found, data)) {
    const waitedMs = performance.now() - started;
    if (!signalled && (await isOrphaned(server, data, waitedMs))) {
      log.warn({ pid: found.pid }, 'the database server has lost its owner; stopping it');
      interruptServer(found.pid, data);
      signalled = true;
    }
    if (waitedMs > UNRESPONSIVE_TIMEOUT_MS + STOP_TIMEOUT_MS) {
      throw new EmbeddedServerError(
        'server_failed',
        `The database server (process ${found.pid}) of a dead owner does not stop: stop it with "kill -QUIT ${found.pid}" and start again.`,
      );
    }
    await sleep(50);
  }
  if (found.socketFolder !== '' && path.basename(found.socketFolder).startsWith(SOCKET_FOLDER_PREFIX)) {
    await rm(found.socketFolder, { recursive: true, force: true });
  }
}

export const SOCKET_FOLDER_PREFIX = 'tt-pg-';

/** The error of a second start on the same folder. */
export function alreadyRunningError(data: string): EmbeddedServerError {
  return new EmbeddedServerError(
    'already_running',
    `Taskthread is already running on ${path.dirname(data)}: stop that process first, or use another folder. ` +
      'To run several processes, set DATABASE_URL to a PostgreSQL that they share.',
  );
}

/** Whether the server with this socket has written that it accepts connections. */
export async function isServerReady(data: string, socketFolder: string): Promise<boolean> {
  const lines = await readLines(data);
  return lines?.[4]?.trim() === socketFolder && lines[7]?.trim() === 'ready';
}

async function readLines(data: string): Promise<string[] | undefined> {
  const text = await readFile(pidFile(data), 'utf8').catch(valueForCodes(undefined, 'ENOENT'));
  return text?.split('\n');
}

async function readPostmaster(data: string): Promise<Postmaster | undefined> {
  const lines = await readLines(data);
  // A negative pid means a single-user server.
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

/** Whether the process is a server on these files: a server's working folder is its data folder. */
async function isServerOf(found: Postmaster, data: string, server: ServerConnection): Promise<boolean> {
  if (found.pid === process.pid || found.pid === process.ppid) return false;
  if (process.platform !== 'linux') return (await hasOwner(server)) !== undefined;
  try {
    return (await readlink(`/proc/${found.pid}/cwd`)) === (await realpath(data));
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ESRCH') return false;
    if (code !== 'EACCES' && code !== 'EPERM') throw error;
  }
  // A process of another user: ours only if the folder changed owners. Check its name.
  const command = await readFile(`/proc/${found.pid}/cmdline`, 'utf8').catch(() => '');
  return path.basename(command.split('\0')[0] ?? '') === 'postgres';
}

/** Whether the server certainly has no owner, after a wait of `waitedMs`. Throws `already_running` if it has one. */
async function isOrphaned(server: ServerConnection, data: string, waitedMs: number): Promise<boolean> {
  if ((await hasOwner(server)) === true) throw alreadyRunningError(data);
  if (waitedMs <= OWNER_GRACE_MS) return false;
  const seized = await seizeLock(server);
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
      `The database server (process ${pid}) on ${data} was started by another user: stop it as that user.`,
      { cause },
    );
  }
}

/**
 * Replaces the pid with one that no system assigns. The file stays: a starting server finds the last server's shared
 * memory in it, and refuses to start while a process of that server is alive.
 */
async function neutralizePidFile(data: string, pid: number): Promise<void> {
  const text = await readFile(pidFile(data), 'utf8');
  await writeFile(pidFile(data), text.replace(String(pid), '999999999'));
}

function pidFile(data: string): string {
  return path.join(data, 'postmaster.pid');
}
