import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql, type Transaction } from 'kysely';
import { type Db, fromKysely, PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import { v7 as nextId } from 'uuid';
import { z } from 'zod';
import type { ConnectionPool } from '../connection-pool.ts';
import type { Database } from '../database.ts';
import { StoreError } from '../errors.ts';
import { QUEUE, type Tables, type ThreadKey, threadKeyText } from '../schema.ts';
import type { ProcessLock } from './process-lock.ts';

/** A job that this process holds. `retryCount` identifies the attempt: the next holder has another. */
export interface ThreadJob {
  id: string;
  retryCount: number;
  thread: ThreadKey;
}

/** Who holds jobs, as others know it, and whether they may have taken them away. */
export type JobHolder = Pick<ProcessLock, 'id' | 'isHeld' | 'onTaken'>;

/** A process that does not renew its jobs for this long (s) loses them; pg-boss's minimum is 10. */
const HEARTBEAT_SECONDS = 10;

/** How long `enqueueSoon` collects threads (ms). */
const BATCH_DELAY_MS = 5;
/** How soon after `enqueue` its transaction has mostly committed (ms); polls find what was later. */
const COMMIT_DELAY_MS = 50;
/** The pause before the database is tried again (ms). */
const RETRY_DELAY_MS = 500;

const { name: QUEUE_NAME, schema: PG_BOSS_SCHEMA } = QUEUE;

/** How often pg-boss deletes completed jobs and counts the others (s); it takes two dozen statements. */
const SUPERVISE_INTERVAL_SECONDS = 60;
/** How soon `releaseExpired` may follow another round of any process (s). */
const MONITOR_INTERVAL_SECONDS = 1;

const QUEUE_OPTIONS = {
  policy: 'key_strict_fifo',
  // A job that fails permanently blocks its thread forever, and each takeover and outage uses one retry.
  retryLimit: 1_000_000_000,
  retryDelay: 0,
  // Counted from the start of an attempt; renewing does not extend it. pg-boss's maximum is 24 h.
  expireInSeconds: 86_400,
  heartbeatSeconds: HEARTBEAT_SECONDS,
  retentionSeconds: 30 * 86_400,
  deleteAfterSeconds: 600,
} as const;

/** Whether a job's holder has not renewed it in time. The index that this reads holds only jobs at work. */
export const hasExpiredJobs = sql<boolean>`exists (
  select from ${sql.table(`${PG_BOSS_SCHEMA}.job`)}
  where name = ${sql.lit(QUEUE_NAME)} and policy = ${sql.lit(QUEUE_OPTIONS.policy)} and state = 'active'
    and heartbeat_on + heartbeat_seconds * interval '1 s' < now())`;

const touchResultSchema = z.looseObject({ settled: z.array(z.string()) });

/**
 * The queue of threads with work: of each thread, one job is held at a time, in order. A job is a token for its thread,
 * so an extra one does no harm. Renewals have a connection of their own: they never wait for other statements.
 */
export class ThreadQueue {
  readonly #database: Database;
  readonly #boss: PgBoss;
  readonly #log: Logger;
  readonly #wakeListeners = new Set<() => void>();
  /** Threads to queue, by key, and whether each surely has no waiting job. */
  readonly #pending = new Map<string, { thread: ThreadKey; isNew: boolean }>();
  #flushing: Promise<void> | undefined;
  #isStopping = false;
  /** The holder of the jobs that this process claims. */
  readonly holder: JobHolder | undefined;

  constructor({ database, log, holder }: { database: Database; log: Logger; holder?: JobHolder }) {
    this.#log = log;
    this.holder = holder;
    this.#database = database;
    this.#boss = new PgBoss({
      db: executorOf(database.queuePool),
      schema: PG_BOSS_SCHEMA,
      schedule: false,
      superviseIntervalSeconds: SUPERVISE_INTERVAL_SECONDS,
      monitorIntervalSeconds: MONITOR_INTERVAL_SECONDS,
      maintenanceIntervalSeconds: SUPERVISE_INTERVAL_SECONDS,
      flowIntervalSeconds: 86_400,
    });
    this.#boss.on('error', (error) => log.error({ reason: error.message }, "the queue's maintenance failed"));
    this.#boss.on('warning', ({ message, data }) => log.warn({ data }, message));
  }

  /** Creates the queue's own tables if needed, and starts its maintenance. */
  async start(): Promise<void> {
    await this.#createTables();
    await this.#boss.start();
    await this.#boss.createQueue(QUEUE_NAME, QUEUE_OPTIONS);
    const { policy: _, ...changeable } = QUEUE_OPTIONS;
    await this.#boss.updateQueue(QUEUE_NAME, changeable);
  }

  /** On a connection without a time-out: another process may be creating them. */
  async #createTables(): Promise<void> {
    const pool = this.#database.openOwnPool('queue migrations');
    const boss = new PgBoss({
      db: executorOf(pool),
      schema: PG_BOSS_SCHEMA,
      supervise: false,
      schedule: false,
    });
    try {
      await boss.start();
      await boss.stop({ graceful: false });
    } finally {
      await pool.end();
    }
  }

  /** Stops maintenance. Other processes take jobs that are still held after their heartbeat. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#flushing;
    await this.#boss.stop({ graceful: false });
  }

  /** Queues the thread. In a transaction, the job exists once it commits, and this process is woken soon after that. */
  async enqueue(db: Transaction<Tables> | Kysely<Tables>, thread: ThreadKey): Promise<void> {
    await this.#boss.insert(QUEUE_NAME, [jobOf(thread)], { db: fromKysely(db) });
    setTimeout(() => this.#wake(), COMMIT_DELAY_MS);
  }

  /** Queues threads without a waiting job. One that is held does not count: its holder may have read the thread already. */
  async enqueueMissing(threads: readonly ThreadKey[]): Promise<void> {
    const isWaiting = `state < 'active' and not blocked and policy = '${QUEUE_OPTIONS.policy}'`;
    if (threads.length > 0) await this.#insert(await this.threadsWithoutJob(threads, isWaiting));
  }

  async #insert(threads: readonly ThreadKey[]): Promise<void> {
    if (threads.length === 0) return;
    await this.#boss.insert(QUEUE_NAME, threads.map(jobOf));
    this.#wake();
  }

  /** Enqueues within a few ms. If the process dies, upkeep finds the thread. `isNew`: it had no work before, so it has no waiting job. */
  enqueueSoon(thread: ThreadKey, isNew = false): void {
    const key = threadKeyText(thread);
    this.#pending.set(key, { thread, isNew: isNew && !this.#pending.has(key) });
    this.#flushing ??= this.#flush()
      .catch((error: unknown) =>
        this.#log.warn({ err: error }, 'jobs could not be queued; maintenance queues them again'),
      )
      .finally(() => {
        this.#flushing = undefined;
      });
  }

  async #flush(): Promise<void> {
    while (this.#pending.size > 0) {
      await sleep(BATCH_DELAY_MS);
      const pending = [...this.#pending];
      this.#pending.clear();
      const threadsOf = (areNew: boolean) =>
        pending.filter(([, { isNew }]) => isNew === areNew).map(([, { thread }]) => thread);
      try {
        await this.#insert(threadsOf(true));
        await this.enqueueMissing(threadsOf(false));
      } catch (error) {
        if (this.#isStopping || !(error instanceof StoreError)) throw error;
        // What was inserted, or whose answer was lost, is found waiting.
        for (const [key, { thread }] of pending) this.#pending.set(key, { thread, isNew: false });
        await sleep(RETRY_DELAY_MS);
      }
    }
  }

  /** Claims up to `limit` jobs; of a thread only the oldest, and only if none is held. */
  async claim(limit: number): Promise<ThreadJob[]> {
    if (limit < 1) return [];
    const jobs = await this.#boss.fetch<ThreadKey>(QUEUE_NAME, { batchSize: limit });
    // Without its mark, a job of a dead process is free once it is not renewed.
    this.#markHeld(jobs).catch((err: unknown) => this.#log.debug({ err }, 'could not mark jobs as held'));
    return jobs.map(({ id, retryCount, data: thread }) => ({ id, retryCount, thread }));
  }

  /** Writes who holds these jobs where pg-boss puts the outcome later. */
  async #markHeld(jobs: readonly Pick<ThreadJob, 'id' | 'retryCount'>[]): Promise<void> {
    if (this.holder === undefined || jobs.length === 0) return;
    const [ids, attempts] = [jobs.map(({ id }) => id), jobs.map(({ retryCount }) => retryCount)];
    await this.#database.queuePool.query(
      `update ${PG_BOSS_SCHEMA}.job set output = jsonb_build_object('holder', $2::text)
        where name = $1 and state = 'active'
          and (id, retry_count) in (select * from unnest($3::uuid[], $4::int[]))`,
      [QUEUE_NAME, this.holder.id, ids, attempts],
    );
  }

  /** Renews these jobs; returns those that are still ours. The others have a new holder. */
  async renew(jobs: readonly ThreadJob[]): Promise<ThreadJob[]> {
    if (jobs.length === 0) return [];
    const db = executorOf(this.#database.leasePool);
    const answer = await this.#boss.touch(QUEUE_NAME, [...jobs], { db });
    const ours = new Set(touchResultSchema.parse(answer).settled);
    return jobs.filter((job) => ours.has(job.id));
  }

  /** Completes jobs, in a transaction or at once; those that are no longer ours are left alone. */
  async complete(jobs: readonly ThreadJob[], trx?: Transaction<Tables>): Promise<void> {
    if (jobs.length === 0) return;
    const within = trx === undefined ? {} : { db: fromKysely(trx) };
    await this.#boss.complete(QUEUE_NAME, [...jobs], undefined, within);
  }

  /** Gives jobs back, so that any process can claim them at once; they stay first in their threads. */
  async release(jobs: readonly ThreadJob[]): Promise<void> {
    if (jobs.length === 0) return;
    await this.#boss.fail(QUEUE_NAME, [...jobs], { reason: 'handed back' });
  }

  /** Gives the jobs of dead holders back, by default of all: for the owner of the embedded server, before it claims. */
  async reclaim(holders?: readonly string[]): Promise<number> {
    const { rows } = await this.#database.queuePool.query<{ id: string; retryCount: number }>(
      `select id, retry_count as "retryCount" from ${PG_BOSS_SCHEMA}.job
        where name = $1 and state = 'active' and ($2::text[] is null or output ->> 'holder' = any($2))`,
      [QUEUE_NAME, holders],
    );
    if (rows.length > 0) await this.#boss.fail(QUEUE_NAME, rows, { reason: 'its holder is dead' });
    this.#wake();
    return rows.length;
  }

  /** Gives the jobs back whose holders have not renewed them in time. */
  async releaseExpired(): Promise<void> {
    await this.#boss.supervise(QUEUE_NAME);
  }

  /** Those of the threads that have no job that meets `condition`: none that is waiting or held. */
  async threadsWithoutJob(
    threads: readonly ThreadKey[],
    condition = "state < 'completed'",
  ): Promise<ThreadKey[]> {
    const { rows } = await this.#database.queuePool.query<{ key: string }>(
      `select distinct singleton_key as key from ${PG_BOSS_SCHEMA}.job
        where name = $1 and ${condition} and singleton_key = any($2)`,
      [QUEUE_NAME, threads.map(threadKeyText)],
    );
    const found = new Set(rows.map((row) => row.key));
    return threads.filter((thread) => !found.has(threadKeyText(thread)));
  }

  /** Calls `listener` whenever this process has queued a thread; the returned function removes it. */
  onWake(listener: () => void): () => void {
    this.#wakeListeners.add(listener);
    return () => this.#wakeListeners.delete(listener);
  }

  #wake(): void {
    for (const listener of this.#wakeListeners) listener();
  }
}

function jobOf(key: ThreadKey) {
  const { workspace, channel, thread_ts } = key;
  return { data: { workspace, channel, thread_ts }, id: nextId(), singletonKey: threadKeyText(key) };
}

function executorOf(pool: ConnectionPool): Db {
  return { executeSql: (text, values) => pool.query(text, values) };
}
