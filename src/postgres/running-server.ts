import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import { connectionTo, dataPath, readPassword, type ServerConnection } from './data-folder.ts';
import { EmbeddedServerError, errorCode, valueForCodes } from './errors.ts';
import { ownerMark } from './server-process.ts';

/** What a server has written about itself into `postmaster.pid`. */
interface Postmaster {
  pid: number;
  /** The folder of its socket; '' if it has not been written yet. */
  socketFolder: string;
  /** Whether it has written that it accepts connections. */
  isReady: boolean;
}

/** A server that has lost its owner and takes longer than this (ms) to stop is left to the operator. */
const STOP_TIMEOUT_MS = 120_000;

export const SOCKET_FOLDER_PREFIX = 'tt-pg-';

/**
 * Makes sure that no server runs on these files: stops one that lost its owner, and neutralizes a leftover
 * `postmaster.pid` so that it does not keep a new server from starting.
 * @throws EmbeddedServerError `already_running` if the server has an owner
 */
export async function clearOrphanedServer(data: string, log: Logger): Promise<void> {
  const found = await readPostmaster(data);
  if (found === undefined || !isAlive(found.pid)) return;
  if (!(await isServerOf(found, data))) {
    log.warn(
      { pid: found.pid },
      'the last database server left its postmaster.pid, and another process has its pid',
    );
    await neutralizePidFile(data, found.pid);
    return;
  }
  if (await hasOwner(found.pid)) {
    throw new EmbeddedServerError(
      'already_running',
      `Taskthread is already running on ${path.dirname(data)}: stop that process first, or use another folder. ` +
        'To run several processes, set DATABASE_URL to a PostgreSQL that they share.',
    );
  }
  log.warn({ pid: found.pid }, 'the database server has lost its owner; stopping it');
  interruptServer(found.pid, data);
  for (const deadline = performance.now() + STOP_TIMEOUT_MS; await isSame(found, data); await sleep(50)) {
    if (performance.now() < deadline) continue;
    throw new EmbeddedServerError(
      'server_failed',
      `The database server (process ${found.pid}) of a dead owner does not stop: stop it with "kill -QUIT ${found.pid}" and start again.`,
    );
  }
  if (path.basename(found.socketFolder).startsWith(SOCKET_FOLDER_PREFIX))
    await rm(found.socketFolder, { recursive: true, force: true });
}

/** The connection of the embedded server that another process runs on these files, if any. */
export async function findRunningServer(folder: string): Promise<ServerConnection | undefined> {
  const data = dataPath(folder);
  const found = await readPostmaster(data).catch(() => undefined);
  if (found === undefined || !found.isReady || !(await hasOwner(found.pid))) return undefined;
  return connectionTo(found.socketFolder, await readPassword(data));
}

/** What the server on these files has written about itself; undefined if none has. */
export async function readPostmaster(data: string): Promise<Postmaster | undefined> {
  const text = await readFile(pidFile(data), 'utf8').catch(valueForCodes('', 'ENOENT'));
  const lines = text.split('\n').map((line) => line.trim());
  // A negative pid means a single-user server.
  const pid = Math.abs(Number.parseInt(lines[0] ?? '', 10));
  if (!Number.isSafeInteger(pid) || pid === 0) return undefined;
  return { pid, socketFolder: lines[4] ?? '', isReady: lines[7] === 'ready' };
}

/** Whether a process may run: the system may hide those of other users. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}

/** A process's parent and command line; undefined if it has ended. */
export async function describeProcess(pid: number): Promise<{ parent: number; command: string } | undefined> {
  try {
    if (process.platform === 'linux') {
      const status = await readFile(`/proc/${pid}/status`, 'utf8');
      const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
      return { parent: Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]), command };
    }
    const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', 'ppid=,command=', '-p', String(pid)]);
    const [, parent, command = ''] = /^\s*(\d+)\s(.*)$/s.exec(stdout) ?? [];
    return { parent: Number(parent), command };
  } catch {
    return undefined;
  }
}

/** Whether the process is a server on these files: its command line names its socket's folder, which is its own. */
async function isServerOf({ pid, socketFolder }: Postmaster, data: string): Promise<boolean> {
  const command = (await describeProcess(pid))?.command ?? '';
  return command.includes(socketFolder === '' ? `-D ${data} ` : socketFolder);
}

/** Whether the process that started a server still runs: the server's supervisor is its child, and names it. */
async function hasOwner(pid: number): Promise<boolean> {
  const server = await describeProcess(pid);
  const supervisor = server && (await describeProcess(server.parent));
  return supervisor?.command.includes(` ${ownerMark(supervisor.parent)} `) === true;
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
  const text = await readFile(pidFile(data), 'utf8').catch(valueForCodes('', 'ENOENT'));
  // Its server may have ended meanwhile, and taken the file along.
  if (text === '') return;
  await writeFile(pidFile(data), text.replace(String(pid), '999999999'));
}

function pidFile(data: string): string {
  return path.join(data, 'postmaster.pid');
}
