import { readFileSync, readlinkSync } from 'node:fs';
import { sql } from 'kysely';
import { isAlive } from '../../postgres/running-server.ts';
import { Queries } from '../queries.ts';

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
  return !isAlive(pid);
}

/** The key of a process's session lock, in the table of processes. */
export const LOCK_KEY = `hashtextextended('process/' || id, 0)`;

/**
 * Whether a process that had its lock has it no more, in the table of processes. A server that starts frees all locks: those
 * of before say nothing. pg_locks splits a key: https://www.postgresql.org/docs/18/view-pg-locks.html
 */
const isUnlocked = sql`locked_at > pg_postmaster_start_time() and not exists (
  select from pg_locks where locktype = 'advisory' and granted and objsubid = 1
    and database = (select oid from pg_database where datname = current_database())
    and (classid::bigint << 32 | objid::bigint) = ${sql.raw(LOCK_KEY)})`;

/** A process, and since when it had had its lock. */
const lockOf = sql`id || ' ' || locked_at`;

/** A list of the unlocked processes, for `takeUnlocked`. */
export const unlockedProcesses = sql<string[]>`array(select ${lockOf} from processes where ${isUnlocked})`;

/** How long a process must have been seen unlocked (ms): until then it has let go of what it holds, should it live. */
export const UNLOCKED_MS = 3_400;

/** The processes that may hold work, each with what proves its death to others. Methods throw a StoreError. */
export class ProcessRegistry extends Queries {
  #unlockedSince = new Map<string, number>();

  /** Registers this process under a new id, before it holds anything. */
  async enter(id: string): Promise<void> {
    const { host = '', pid = process.pid, started = '' } = identityOf() ?? {};
    await this.db.insertInto('processes').values({ id, host, pid, started }).execute();
  }

  /** The ids of the registered processes that ran on this host and have surely ended. */
  async findDead(): Promise<string[]> {
    const all = await this.db.selectFrom('processes').selectAll().execute();
    return all.filter(isSurelyDead).map(({ id }) => id);
  }

  /**
   * Takes those processes out that this one has seen unlocked for long enough: the ids of those that no other has taken.
   * Their work is the caller's to give back.
   */
  async takeUnlocked(unlocked: readonly string[]): Promise<string[]> {
    const now = performance.now();
    this.#unlockedSince = new Map(unlocked.map((each) => [each, this.#unlockedSince.get(each) ?? now]));
    const dead = unlocked.filter((each) => now - (this.#unlockedSince.get(each) ?? now) >= UNLOCKED_MS);
    if (dead.length === 0) return [];
    const taken = await this.rows(sql<{ id: string }>`
      delete from processes where ${lockOf} = any(${dead}::text[]) and ${isUnlocked} returning id`);
    return taken.map(({ id }) => id);
  }

  /** A process has lost its lock and lives: false if another has taken it out before. */
  async forgetLock(id: string): Promise<boolean> {
    return this.changes(sql`update processes set locked_at = null where id = ${id}`);
  }

  /** Forgets processes that hold nothing any more. */
  async remove(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.db.deleteFrom('processes').where('id', 'in', ids).execute();
  }
}
