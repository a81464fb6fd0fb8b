import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Logger } from 'pino';
import { type ClockReading, elapsedMs, readClocks } from '../../calls/clocks.ts';
import { sleepUnlessAborted } from '../../calls/retries-and-waits.ts';
import type { Database } from '../database.ts';
import { answerInTime } from '../database-client.ts';
import { LOCK_KEY, type ProcessRegistry } from './process-registry.ts';

/** How often the lock's connection is tried, and how long an answer may take (ms). */
const TRY_INTERVAL_MS = 500;
const ANSWER_TIMEOUT_MS = 1_000;
/** How long after a try was sent its answer still shows that nobody has taken over (ms): less than `UNLOCKED_MS` of others. */
const PROVEN_MS = 3_000;
/** The pause before a lost lock is taken again (ms). */
const LOCK_INTERVAL_MS = 1_000;

type ProcessLockDeps = Pick<Database, 'createClient'> & { registry: ProcessRegistry; log: Logger };

/**
 * Shows others that this process lives: a session lock, which PostgreSQL frees with the connection that holds it. Where
 * there is none, as behind a pooler, others wait until what the process holds is not renewed.
 */
export class ProcessLock {
  readonly #deps: ProcessLockDeps;
  readonly #stopping = new AbortController();
  readonly #takenListeners: (() => void)[] = [];
  #id: string = randomUUID();
  /** When the last try was sent that was answered; undefined while others surely see no lock, held or free. */
  #provenAt: ClockReading | undefined;
  #kept: Promise<void> | undefined;

  constructor(deps: ProcessLockDeps) {
    this.#deps = deps;
  }

  /** Whose this process's work is, as others know it. */
  get id(): string {
    return this.#id;
  }

  /** Whether no other process can have taken over. While it is false, nothing may be sent or claimed. */
  get isHeld(): boolean {
    return this.#provenAt === undefined || elapsedMs(this.#provenAt) < PROVEN_MS;
  }

  /** Calls `listener` when another process has taken over all that this one held; then this one goes on under a new id. */
  onTaken(listener: () => void): void {
    this.#takenListeners.push(listener);
  }

  /** Takes the lock in the background, and takes it again whenever it is lost. The process is registered already. */
  start(): void {
    this.#kept = this.#keep(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#kept;
  }

  async #keep(stopping: AbortSignal): Promise<void> {
    const { createClient, log } = this.#deps;
    while (!stopping.aborted) {
      const client = createClient({ application_name: 'taskthread process' });
      try {
        await client.connect();
        if (!(await this.#lock(client))) return;
        while (!stopping.aborted) {
          await sleepUnlessAborted(TRY_INTERVAL_MS, stopping);
          const sentAt = readClocks();
          await ask(client, '');
          this.#provenAt = sentAt;
        }
      } catch (error) {
        log.debug({ err: error }, 'this process has no lock; trying again');
      } finally {
        client.end().catch(() => undefined);
      }
      await this.#settle(stopping);
      await sleepUnlessAborted(LOCK_INTERVAL_MS, stopping);
    }
  }

  /** False if a pooler answers: it may give the next statement another session. */
  async #lock(client: pg.Client): Promise<boolean> {
    const { rows } = await ask<{ pid: number }>(client, 'select pg_backend_pid() as pid');
    if (rows[0]?.pid !== client.processID) return false;
    // An earlier connection of ours that is only dead from here still holds it: then this takes too long.
    await ask(client, `select pg_advisory_lock(${LOCK_KEY}) from (select $1::uuid as id) as ours`, [
      this.#id,
    ]);
    this.#provenAt = readClocks();
    await ask(client, 'update processes set locked_at = clock_timestamp() where id = $1', [this.#id]);
    return true;
  }

  /** After the connection has failed: finds out whether another process was faster, and goes on as one without a lock. */
  async #settle(stopping: AbortSignal): Promise<void> {
    const { registry, log } = this.#deps;
    while (this.#provenAt !== undefined && !stopping.aborted) {
      try {
        if (!(await registry.forgetLock(this.#id))) {
          log.warn('another process has taken over from this one: the connection of its lock had failed');
          for (const listener of this.#takenListeners) listener();
          this.#id = randomUUID();
          await registry.enter(this.#id);
        }
        this.#provenAt = undefined;
      } catch (error) {
        log.debug({ err: error }, 'could not find out whether another process has taken over; trying again');
        await sleepUnlessAborted(TRY_INTERVAL_MS, stopping);
      }
    }
  }
}

/** What the connection of the lock answers; throws if that takes too long. */
async function ask<Row extends pg.QueryResultRow>(client: pg.Client, text: string, values?: unknown[]) {
  return answerInTime(ANSWER_TIMEOUT_MS, client.query<Row>(text, values));
}
