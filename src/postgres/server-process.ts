import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import { EmbeddedServerError } from './errors.ts';

const execFileAsync = promisify(execFile);

/** The user and group that the server runs as; undefined: our own. */
export interface OsUser {
  uid: number;
  gid: number;
}

const SERVER_ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/** Runs a program to its end; `cwd` is a folder that the account can be in. */
export async function runProgram(
  file: string,
  args: string[],
  osUser: OsUser | undefined,
): Promise<{ stdout: string; stderr: string }> {
  return execFileAsync(file, args, { ...osUser, cwd: '/', env: SERVER_ENVIRONMENT });
}

// Holds the server and a pipe (fd 3) from us. When the pipe closes, because we stop or because we are dead, the
// server gets SIGINT: its fast and orderly shutdown (again and again: early in its start it hears none). Signals that the terminal or an init sends to everybody do not
// end the holder. $1 is the folder of the socket, the rest is the server's command line.
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

/** A running `postgres` with its holder. */
export class ServerProcess {
  /** The exit status of the server; null when the holder was killed. */
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcess;
  #running = true;

  constructor(options: {
    postgres: string;
    args: string[];
    socketFolder: string;
    account: OsUser | undefined;
    log: Logger;
  }) {
    // A group of its own: Ctrl-C reaches us but not the server, which is needed until we have drained.
    this.#child = spawn(
      '/bin/sh',
      ['-c', SUPERVISOR_SCRIPT, 'sh', options.socketFolder, options.postgres, ...options.args],
      {
        ...options.account,
        cwd: '/',
        detached: true,
        env: SERVER_ENVIRONMENT,
        stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      },
    );
    const { stderr } = this.#child;
    if (stderr !== null) {
      createInterface({ input: stderr }).on('line', (line) => {
        const level = line.startsWith('LOG:') ? 'debug' : 'warn';
        options.log[level]({ line }, 'the database server says');
      });
    }
    this.#pipe().on('error', (error) =>
      options.log.debug({ reason: error.message }, "the pipe to the server's holder closed"),
    );
    this.ended = new Promise((resolve) => {
      this.#child.once('error', () => resolve(null));
      this.#child.once('exit', (status) => resolve(status));
    }).then((status) => {
      this.#running = false;
      return typeof status === 'number' ? status : null;
    });
  }

  get isRunning(): boolean {
    return this.#running;
  }

  /** Ends the server in order; kills it when that takes longer than `patienceMs`. */
  async stop(timeoutMs: number): Promise<void> {
    this.#pipe().end();
    const timer = setTimeout(() => this.#kill(), timeoutMs);
    await this.ended;
    clearTimeout(timer);
  }

  #kill(): void {
    const { pid } = this.#child;
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  }

  #pipe(): Writable {
    const pipe = this.#child.stdio[3];
    if (pipe instanceof Writable) return pipe;
    throw new EmbeddedServerError(
      'server_failed',
      'The database server was started without its pipe; start again.',
    );
  }
}
