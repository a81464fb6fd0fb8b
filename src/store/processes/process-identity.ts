import { readFileSync, readlinkSync } from 'node:fs';

/** What tells a process from every other that runs or ran, for those that share its host. */
export interface ProcessIdentity {
  /** The boot of the machine, and the PID namespace. */
  host: string;
  pid: number;
  /** When it started, in clock ticks since the boot; '' if it has ended, and its parent has not asked how. */
  started: string;
}

/** The state and the start, after a name that may hold anything: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
const STAT = /^.*\) (\S) (?:\S+ ){18}(\d+) /s;
const ENDED_STATES = 'ZX';

/** The identity of a process of this host, by default of this one; undefined if the system does not tell. */
export function identityOf(pid: number = process.pid): ProcessIdentity | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const host = `${boot}/${readlinkSync('/proc/self/ns/pid')}`;
    const [, state, started] = STAT.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    if (state === undefined || started === undefined) return undefined;
    return { host, pid, started: ENDED_STATES.includes(state) ? '' : started };
  } catch {
    return undefined;
  }
}

/** Whether a process has surely ended: it ran on this host, and its id belongs to none or to another. Any doubt: false. */
export function isSurelyDead({ host, pid, started }: ProcessIdentity): boolean {
  if (identityOf()?.host !== host) return false;
  const now = identityOf(pid);
  if (now !== undefined) return now.started !== started;
  try {
    // The system may hide the processes of other users.
    return !process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}
