import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import { EmbeddedServerError, errorCode } from './errors.ts';

const execFileAsync = promisify(execFile);

/** The user and group that the server runs as; undefined: our own. */
export interface OsUser {
  uid: number;
  gid: number;
}

const SERVER_ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/** Runs a program to its end. Throws an EmbeddedServerError where root may not become `osUser`. */
export async function runProgram(file: string, args: string[], osUser: OsUser | undefined): Promise<void> {
  try {
    await execFileAsync(file, args, { ...osUser, cwd: '/', env: SERVER_ENVIRONMENT });
  } catch (cause) {
    throw errorCode(cause) === 'EPERM' ? userChangeRefused(cause) : cause;
  }
}

/** Root without the rights that PostgreSQL's user needs it to have, as in a container that drops capabilities. */
export function userChangeRefused(cause: unknown): EmbeddedServerError {
  return new EmbeddedServerError(
    'server_failed',
    'Taskthread runs as root and may not change its user or that of files, and PostgreSQL refuses to run as root: start as another user ' +
      '(docker run --user 1000:1000), allow the capabilities SETUID, SETGID and CHOWN, or set DATABASE_URL.',
    { cause },
  );
}

// Supervises the server, with a pipe (fd 3) from us. When the pipe closes, because we stop or are dead, the server gets
// SIGINT, a fast and orderly shutdown; repeatedly, because it ignores signals early in its start. The supervisor ignores
// signals from the terminal or an init. $0 names us, its parent: another start sees who owns the server. $1 is the socket's folder, the rest is the server's command line.
const SUPERVISOR_SCRIPT = `
trap '' HUP INT TERM
socket=$1; shift
"$@" 3<&- &
server=$!
( read -r _ <&3; while kill -INT "$server"; do sleep 1; done ) 2>/dev/null &
watcher=$!
exec 3<&-
wait "$server"
status=$?
kill -KILL "$watcher" 2>/dev/null
rm -rf "$socket"
exit "$status"
`;

/** What a supervisor's command line says of the process that started it. */
export function ownerMark(pid: number): string {
  return `taskthread-owner-${pid}`;
}

/** A running `postgres` with its supervisor. */
export class ServerProcess {
  /** The exit status of the server; null if the supervisor was killed. */
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcess;
  readonly #pipe: Writable;
  /** It is being stopped on purpose. */
  isStopping = false;

  /** `command`: the server's program and its arguments. */
  constructor(command: readonly string[], socketFolder: string, osUser: OsUser | undefined, log: Logger) {
    const args = ['-c', SUPERVISOR_SCRIPT, ownerMark(process.pid), socketFolder, ...command];
    this.#child = spawn('/bin/sh', args, {
      ...osUser,
      cwd: '/',
      // A process group of its own: Ctrl-C reaches us but not the server, which we need until we have drained.
      detached: true,
      env: SERVER_ENVIRONMENT,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    });
    const { stderr } = this.#child;
    if (stderr !== null) {
      createInterface({ input: stderr }).on('line', (line) => {
        // A stop on purpose cuts the open connections, each with a FATAL line.
        const isExpected = line.startsWith('LOG:') || (this.isStopping && line.startsWith('FATAL:'));
        const level = isExpected ? 'debug' : 'warn';
        log[level]({ line }, 'a line of the database server');
      });
    }
    const pipe = this.#child.stdio[3];
    if (!(pipe instanceof Writable)) throw new Error('The database server was started without its pipe.');
    this.#pipe = pipe;
    pipe.on('error', (error) =>
      log.debug({ reason: error.message }, "the pipe to the server's supervisor closed"),
    );
    this.ended = new Promise<number | null>((resolve) => {
      this.#child.once('error', () => resolve(null));
      this.#child.once('exit', (status) => resolve(status));
    });
  }

  get isRunning(): boolean {
    const { pid, exitCode, signalCode } = this.#child;
    return pid !== undefined && exitCode === null && signalCode === null;
  }

  /** Shuts the server down; kills it after `timeoutMs`. */
  async stop(timeoutMs: number): Promise<void> {
    this.isStopping = true;
    this.#pipe.end();
    const { pid } = this.#child;
    using _kill = setTimeout(() => pid !== undefined && process.kill(-pid, 'SIGKILL'), timeoutMs);
    await this.ended;
  }
}
