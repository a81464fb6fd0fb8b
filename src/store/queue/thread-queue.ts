import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import pg from 'pg';
import { type Db, fromKysely, PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Database } from '../database.ts';
import { toStoreError } from '../errors.ts';
import { type ThreadKey, threadKeyText } from '../keys.ts';
import type { Tables } from '../schema.ts';
import { NotificationListener } from './notification-listener.ts';
import { uuidV7Generator } from './uuid-v7.ts';

/** A job that this process holds. `retryCount` names the attempt: the next holder has another. */
export interface ThreadJob {
  id: string;
  retryCount: number;
  thread: ThreadKey;
}

/** A holder that does not renew for so long loses its jobs, in seconds; pg-boss takes no less than 10. */
export const HEARTBEAT_SECONDS = 10;

/** Jobs that may wait a moment are sent together (ms). */
const BATCH_DELAY_MS = 5;

const QUEUE_NAME = 'turn';
const PG_BOSS_SCHEMA = 'pgboss';

/** Who runs the queue's housekeeping looks this often for jobs whose holder is dead, in seconds. */
const SUPERVISE_INTERVAL_SECONDS = 1;

const QUEUE_OPTIONS = {
  policy: 'key_strict_fifo',
  // A job that fails for good blocks its thread for ever, and each takeover and outage uses one retry.
  retryLimit: 1_000_000_000,
  retryDelay: 0,
  // Counted from the start of an attempt; renewing does not extend it. 24 h is the most that pg-boss takes.
  expireInSeconds: 86_400,
  heartbeatSeconds: HEARTBEAT_SECONDS,
  retentionSeconds: 30 * 86_400,
  deleteAfterSeconds: 600,
  notify: true,
} as const;

const threadSchema = z.object({ workspace: z.string(), channel: z.string(), root: z.string() });
const jobSchema = z.looseObject({ id: z.string(), retryCount: z.number(), data: threadSchema });
const touchResultSchema = z.looseObject({ settled: z.array(z.string()) });

/**
 * The queue of threads that have something to do: at most one job of a thread is held at a time, in order. A job is
 * a token for its thread, so one too many does no harm. On connections of its own, so that a renewal never waits
 * behind the product's statements.
 */
export class ThreadQueue {
  readonly #pool: pg.Pool;
  readonly #boss: PgBoss;
  readonly #log: Logger;
  readonly #nextId = uuidV7Generator();
  readonly #wakeListeners = new Set<() => void>();
  #notifyChannel: string | undefined;
  /** Threads that are to be queued, by their keys. */
  readonly #pending = new Map<string, ThreadKey>();
  #flushing: Promise<void> | undefined;

  constructor({ database, log }: { database: Database; log: Logger }) {
    this.#log = log;
    const settings = { ...database.connectionConfig, application_name: 'taskthread queue' };
    this.#pool = new pg.Pool({ ...settings, max: 4, statement_timeout: 30_000 });
    this.#pool.on('error', (error) => log.warn({ reason: error.message }, 'a connection of the queue broke'));
    this.#boss = new PgBoss({
      db: this.#adapter(settings),
      schema: PG_BOSS_SCHEMA,
      schedule: false,
      useListenNotify: true,
      superviseIntervalSeconds: SUPERVISE_INTERVAL_SECONDS,
      monitorIntervalSeconds: SUPERVISE_INTERVAL_SECONDS,
      maintenanceIntervalSeconds: 60,
      flowIntervalSeconds: 86_400,
    });
    this.#boss.on('error', (error) =>
      log.error({ reason: error.message }, "the queue's housekeeping failed"),
    );
    this.#boss.on('warning', ({ message, data }) => log.warn({ data }, message));
  }

  /** Makes the queue's own tables where there are none, and begins its housekeeping. */
  async start(): Promise<void> {
    await withStoreErrors(async () => {
      await this.#boss.start();
      await this.#boss.createQueue(QUEUE_NAME, QUEUE_OPTIONS);
      const { policy: _, ...changeable } = QUEUE_OPTIONS;
      await this.#boss.updateQueue(QUEUE_NAME, changeable);
    });
  }

  /** Ends the housekeeping and the connections; jobs that are still held are lost to others after their heartbeat. */
  async stop(): Promise<void> {
    await this.#flushing;
    await this.#boss.stop({ graceful: false });
    await this.#pool.end();
  }

  /** Queues the thread; in a transaction, the job is there when that commits. */
  async enqueue(db: Transaction<Tables> | Kysely<Tables>, thread: ThreadKey): Promise<void> {
    await this.#boss.send(QUEUE_NAME, threadSchema.parse(thread), {
      db: fromKysely(db),
      id: this.#nextId(),
      singletonKey: threadKeyText(thread),
    });
  }

  /**
   * Queues threads that have no job that waits: whoever takes one later sees what was written before this call. A job
   * that is held does not count: its holder may have looked already.
   */
  async enqueueMissing(threads: readonly ThreadKey[]): Promise<void> {
    const keys = threads.map(threadKeyText);
    await withStoreErrors(async () => {
      const { rows } = await this.#pool.query<{ key: string }>(
        `select distinct singleton_key as key from ${PG_BOSS_SCHEMA}.job
          where name = $1 and state < 'active' and not blocked and policy = '${QUEUE_OPTIONS.policy}'
            and singleton_key = any($2)`,
        [QUEUE_NAME, keys],
      );
      const waiting = new Set(rows.map((row) => row.key));
      const jobs = threads
        .filter((thread) => !waiting.has(threadKeyText(thread)))
        .map((thread) => ({
          data: threadSchema.parse(thread),
          id: this.#nextId(),
          singletonKey: threadKeyText(thread),
        }));
      if (jobs.length === 0) return;
      await this.#boss.insert(QUEUE_NAME, jobs);
      this.#wake();
    });
  }

  /**
   * The same within a few ms, for many threads at once. A job that is lost on the way, with its process or with the
   * database, leaves a thread with work and without a job: upkeep finds those.
   */
  enqueueSoon(thread: ThreadKey): void {
    this.#pending.set(threadKeyText(thread), thread);
    this.#flushing ??= this.#flush()
      .catch((error: unknown) =>
        this.#log.warn({ err: error }, 'jobs could not be queued; upkeep queues them again'),
      )
      .finally(() => {
        this.#flushing = undefined;
      });
  }

  async #flush(): Promise<void> {
    while (this.#pending.size > 0) {
      await sleep(BATCH_DELAY_MS);
      const threads = [...this.#pending.values()];
      this.#pending.clear();
      await this.enqueueMissing(threads);
    }
  }

  /** Takes up to `most` jobs, of a thread only the oldest and only when none is held. */
  async claim(limit: number): Promise<ThreadJob[]> {
    if (limit < 1) return [];
    const jobs = await withStoreErrors(() => this.#boss.fetch(QUEUE_NAME, { batchSize: limit }));
    return jobs.map((job) => {
      const { id, retryCount, data } = jobSchema.parse(job);
      return { id, retryCount, thread: data };
    });
  }

  /** Says that we live and still hold these jobs; answers those that are ours. The others have a new holder. */
  async renew(jobs: readonly ThreadJob[]): Promise<ThreadJob[]> {
    if (jobs.length === 0) return [];
    const answer = await withStoreErrors(() => this.#boss.touch(QUEUE_NAME, attemptsOf(jobs)));
    const ours = new Set(touchResultSchema.parse(answer).settled);
    return jobs.filter((job) => ours.has(job.id));
  }

  /** Ends jobs whose work is done; those that are not ours any more are left alone. */
  async complete(jobs: readonly ThreadJob[]): Promise<void> {
    if (jobs.length === 0) return;
    await withStoreErrors(() => this.#boss.complete(QUEUE_NAME, attemptsOf(jobs)));
    // The next job of the same thread may be taken now.
    this.#wake();
  }

  /** Gives jobs back so that any process can take them at once; they stay first in their threads. */
  async release(jobs: readonly ThreadJob[]): Promise<void> {
    if (jobs.length === 0) return;
    await withStoreErrors(async () => {
      await this.#boss.fail(QUEUE_NAME, attemptsOf(jobs), { reason: 'handed back' });
      if (this.#notifyChannel !== undefined) {
        await this.#pool.query('select pg_notify($1, $2)', [this.#notifyChannel, QUEUE_NAME]);
      }
    });
  }

  /**
   * Takes every held job back at once. Only for the process that holds the embedded server's lock, before it claims:
   * whoever held them is dead.
   */
  async reclaimAll(): Promise<number> {
    return withStoreErrors(async () => {
      const { rows } = await this.#pool.query<{ id: string; retryCount: number }>(
        `select id, retry_count as "retryCount" from ${PG_BOSS_SCHEMA}.job where name = $1 and state = 'active'`,
        [QUEUE_NAME],
      );
      if (rows.length > 0) await this.#boss.fail(QUEUE_NAME, rows, { reason: 'its holder is dead' });
      return rows.length;
    });
  }

  /** Which of these threads have no job, neither waiting nor held. */
  async threadsWithoutJob(threads: readonly ThreadKey[]): Promise<ThreadKey[]> {
    const { rows } = await withStoreErrors(() =>
      this.#pool.query<{ key: string }>(
        `select distinct singleton_key as key from ${PG_BOSS_SCHEMA}.job
          where name = $1 and state < 'completed' and singleton_key = any($2)`,
        [QUEUE_NAME, threads.map(threadKeyText)],
      ),
    );
    const found = new Set(rows.map((row) => row.key));
    return threads.filter((thread) => !found.has(threadKeyText(thread)));
  }

  /** Calls `listener` whenever a claim is worth trying; the answer takes it off again. */
  onWake(listener: () => void): () => void {
    this.#wakeListeners.add(listener);
    return () => this.#wakeListeners.delete(listener);
  }

  #wake(): void {
    for (const listener of this.#wakeListeners) listener();
  }

  #adapter(settings: pg.ClientConfig): Db {
    return {
      // Through the pool, which throws a connection away after an error: pg-boss sends BEGIN and COMMIT in one text.
      executeSql: (text, values) => this.#pool.query(text, values),
      listen: async (channel, heard, connected) => {
        this.#notifyChannel = channel;
        return new NotificationListener(
          settings,
          channel,
          {
            onNotification: (payload) => {
              heard(payload);
              if (payload === QUEUE_NAME) this.#wake();
            },
            onConnected: () => {
              connected();
              this.#wake();
            },
          },
          this.#log,
        );
      },
    };
  }
}

function attemptsOf(jobs: readonly ThreadJob[]): { id: string; retryCount: number }[] {
  return jobs.map(({ id, retryCount }) => ({ id, retryCount }));
}

async function withStoreErrors<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    throw toStoreError(error);
  }
}
