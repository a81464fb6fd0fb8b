import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type ThreadJob, ThreadQueue } from '../../../src/store/queue/thread-queue.ts';
import type { ThreadKey } from '../../../src/store/schema.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { jobCounts } from '../../support/job-counts.ts';
import { silentLog } from '../../support/silent-log.ts';

const database = await freshDatabase();
const ours = new ThreadQueue({ database, log: silentLog });
const others = new ThreadQueue({ database, log: silentLog });
beforeAll(async () => {
  await ours.start();
  await others.start();
});
afterAll(async () => {
  await ours.stop();
  await others.stop();
});

const patience = { timeout: 10_000 };
let count = 0;
function newThread(): ThreadKey {
  count += 1;
  return { workspace: 'T1', channel: 'C1', thread_ts: `${1_792_000_000 + count}.000100` };
}

async function claimOne(queue: ThreadQueue): Promise<ThreadJob> {
  const [job] = await queue.claim(1);
  if (job === undefined) throw new Error('there is no job');
  return job;
}

describe('enqueueing', () => {
  test('a job exists once the transaction commits, and not after a rollback', async () => {
    const [kept, dropped] = [newThread(), newThread()];
    await database.kysely.transaction().execute((trx) => ours.enqueue(trx, kept));
    const failing = database.kysely.transaction().execute(async (trx) => {
      await ours.enqueue(trx, dropped);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await ours.threadsWithoutJob([kept, dropped])).toEqual([dropped]);
    const job = await claimOne(ours);
    expect(job.thread).toEqual(kept);
    expect(await ours.threadsWithoutJob([kept])).toEqual([]);
    await ours.complete([job]);
    expect(await ours.threadsWithoutJob([kept])).toEqual([kept]);
  });

  test('a job is completed by the transaction that commits, and still held after a rollback', async () => {
    await ours.enqueue(database.kysely, newThread());
    const job = await claimOne(ours);
    const failing = database.kysely.transaction().execute(async (trx) => {
      await ours.complete([job], trx);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await ours.renew([job])).toEqual([job]);
    await database.kysely.transaction().execute((trx) => ours.complete([job], trx));
    expect(await ours.renew([job])).toEqual([]);
  });

  test('wakes this process, and no other', async () => {
    const woken = Promise.withResolvers<void>();
    const wakesOther = vi.fn<() => void>();
    const listening = [ours.onWake(woken.resolve), others.onWake(wakesOther)];
    const thread = newThread();
    await database.kysely.transaction().execute((trx) => ours.enqueue(trx, thread));
    await woken.promise;
    const job = await claimOne(ours);
    expect(job.thread).toEqual(thread);
    expect(wakesOther).not.toHaveBeenCalled();
    for (const off of listening) off();
    await ours.complete([job]);
  });
});

describe('enqueueing threads without a waiting job', () => {
  test('adds no job to a waiting one, and one to a held one', async () => {
    const thread = newThread();
    await ours.enqueueMissing([thread]);
    await others.enqueueMissing([thread]);
    expect(await jobCounts(database)).toEqual({ waiting: 1, held: 0 });
    const held = await claimOne(ours);
    await others.enqueueMissing([thread]);
    await ours.enqueueMissing([thread]);
    expect(await jobCounts(database)).toEqual({ waiting: 1, held: 1 });
    await ours.complete([held]);
    await ours.complete([await claimOne(others)]);
    expect(await ours.threadsWithoutJob([thread])).toEqual([thread]);
  });

  test('many messages of a thread at once share one job', async () => {
    const thread = newThread();
    for (let index = 0; index < 50; index += 1) ours.enqueueSoon({ ...thread });
    await vi.waitFor(
      async () => expect(await jobCounts(database)).toEqual({ waiting: 1, held: 0 }),
      patience,
    );
    await ours.complete([await claimOne(ours)]);
  });
});

describe('one thread', () => {
  test('has one held job at a time, in the order of enqueueing, also within one transaction', async () => {
    const thread = newThread();
    await database.kysely.transaction().execute(async (trx) => {
      for (let index = 0; index < 5; index += 1) await ours.enqueue(trx, thread);
    });
    const seen: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      const job = await claimOne(index % 2 === 0 ? ours : others);
      expect(await others.claim(10)).toEqual([]);
      seen.push(job.id);
      await ours.complete([job]);
    }
    expect(seen).toEqual(seen.toSorted());
  });

  test('keeps its order when jobs are released', async () => {
    const thread = newThread();
    for (let index = 0; index < 3; index += 1) await ours.enqueue(database.kysely, thread);
    const first = await claimOne(ours);
    await ours.release([first]);
    const again = await claimOne(others);
    expect(again).toMatchObject({ id: first.id, retryCount: 1 });
    await others.complete([again]);
    const second = await claimOne(ours);
    expect(second.id > first.id).toBe(true);
    await ours.complete([second]);
    const third = await claimOne(others);
    expect(third.id > second.id).toBe(true);
    await others.complete([third]);
  });

  test('continues after a dozen releases', async () => {
    await ours.enqueue(database.kysely, newThread());
    for (let index = 0; index < 12; index += 1) await ours.release([await claimOne(ours)]);
    const job = await claimOne(ours);
    expect(job.retryCount).toBe(12);
    await ours.complete([job]);
  });
});

describe('a job that another process has claimed', () => {
  test('is neither renewed, completed nor released by the process that lost it', async () => {
    await ours.enqueue(database.kysely, newThread());
    const lost = await claimOne(ours);
    await others.release([lost]);
    const held = await claimOne(others);
    expect(held.id).toBe(lost.id);
    expect(await ours.renew([lost])).toEqual([]);
    await ours.complete([lost]);
    await ours.release([lost]);
    expect(await others.renew([held])).toEqual([held]);
    expect(await jobCounts(database)).toEqual({ waiting: 0, held: 1 });
    await others.complete([held]);
  });
});

describe('all at once', () => {
  test('two thousand jobs are held, renewed and completed in few statements', async () => {
    const threads = Array.from({ length: 2_000 }, newThread);
    await ours.enqueueMissing(threads);
    const jobs = await ours.claim(2_000);
    expect(jobs).toHaveLength(2_000);
    const asked = vi.spyOn(pg.Client.prototype, 'query');
    expect(await ours.renew(jobs)).toHaveLength(2_000);
    const renewals = asked.mock.calls.filter((call) => JSON.stringify(call[0]).includes('heartbeat_on'));
    expect(renewals.length).toBeGreaterThan(0);
    expect(renewals.length).toBeLessThan(20);
    asked.mockRestore();
    await ours.complete(jobs);
    expect(await jobCounts(database)).toEqual({ waiting: 0, held: 0 });
  });

  test('the owner of the embedded server reclaims held jobs', async () => {
    await ours.enqueue(database.kysely, newThread());
    await ours.enqueue(database.kysely, newThread());
    const lost = await ours.claim(10);
    expect(await others.reclaim()).toBe(2);
    expect(await ours.renew(lost)).toEqual([]);
    const taken = await others.claim(10);
    expect(taken).toHaveLength(2);
    await others.complete(taken);
  });

  test('what a dead process holds is reclaimed once, and nothing that others hold or took over', async () => {
    const [dead, alive] = [randomUUID(), randomUUID()];
    const of = (id: string) =>
      new ThreadQueue({
        database,
        log: silentLog,
        holder: { id, isHeld: true, onTaken: () => undefined },
      });
    for (const _ of [1, 2, 3]) await ours.enqueue(database.kysely, newThread());
    const lost = [await claimOne(of(dead)), await claimOne(of(dead))];
    const kept = await claimOne(of(alive));
    const marked = async () => {
      const { rows } = await database.pool.query<{ count: string }>(
        `select count(*) from pgboss.job where state = 'active' and output ->> 'holder' = any($1)`,
        [[dead, alive]],
      );
      return Number(rows[0]?.count);
    };
    await vi.waitFor(async () => expect(await marked()).toBe(3), patience);
    const starters = await Promise.all([ours.reclaim([dead]), others.reclaim([dead])]);
    expect(Math.max(...starters)).toBe(2);
    expect(await ours.renew([...lost, kept])).toEqual([kept]);
    const taken = await of(alive).claim(10);
    expect(taken.map(({ id }) => id).sort()).toEqual(lost.map(({ id }) => id).sort());
    expect(await others.reclaim([dead])).toBe(0);
    await ours.complete([...taken, kept]);
    expect(await jobCounts(database)).toEqual({ waiting: 0, held: 0 });
  });
});
