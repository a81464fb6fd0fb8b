import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { EventBuffer, type EventBufferOptions } from '../../src/listeners/event-buffer.ts';
import { StoreError } from '../../src/store/errors.ts';
import { silentLog } from '../support/silent-log.ts';
import { waitFor } from '../support/wait-for.ts';

const unavailable = new StoreError('unavailable', 'gone');

/** A buffer on a database that can be away, and what was written, in order. */
function openBuffer(options: Partial<EventBufferOptions> = {}) {
  const buffer = new EventBuffer({ log: silentLog, retryMs: 5, ...options });
  onTestFinished(() => buffer.stop());
  const database = { isAway: true, written: [] as string[] };
  const send = (thread: string, ts: string, size = 10) =>
    buffer.write({
      id: `${thread} ${ts}`,
      thread,
      ts,
      size: () => size,
      recordLoss: async () => undefined,
      write: async () => {
        if (database.isAway) throw unavailable;
        database.written.push(`${thread} ${ts}`);
      },
    });
  return { buffer, database, send };
}

/** Sends an event to a buffer, one for each thread; `tries` counts how often each is written. */
function openCountingBuffer<Thread extends string>(tries: Record<Thread, number>) {
  const buffer = new EventBuffer({ log: silentLog, retryMs: 5 });
  onTestFinished(() => buffer.stop());
  return (thread: Thread, write: (tried: number) => Promise<void>) =>
    buffer.write({
      ...{ id: thread, thread, ts: '1.000000', size: () => 10 },
      recordLoss: async () => undefined,
      write: () => {
        tries[thread] += 1;
        return write(tries[thread]);
      },
    });
}

describe('it is trouble that no event is written', () => {
  test('once the events of two threads have failed for a while, until one is written', async () => {
    const { buffer, database, send } = openBuffer({ troubleMs: 100 });
    await expect(send('one', '1.000000')).rejects.toBe(unavailable);
    await sleep(150);
    expect(buffer.trouble).toBeUndefined();
    await expect(send('other', '2.000000')).rejects.toBe(unavailable);
    expect(buffer.trouble).toBe('no event was recorded for 0 s (StoreError: gone)');
    database.isAway = false;
    await waitFor(() => expect(database.written).toHaveLength(2));
    expect(buffer.trouble).toBeUndefined();
    database.isAway = true;
    for (const thread of ['one', 'other']) await expect(send(thread, '3.000000')).rejects.toBe(unavailable);
    expect(buffer.trouble).toBeUndefined();
  });

  test('but not that those of two threads fail while others are written', async () => {
    const { buffer, database, send } = openBuffer({ troubleMs: 100 });
    for (const thread of ['one', 'other']) await expect(send(thread, '1.000000')).rejects.toBe(unavailable);
    const write = async () => void database.written.push('fine');
    for (let at = 0; at < 8; at += 1) {
      await sleep(30);
      const recordLoss = async () => undefined;
      await buffer.write({ id: `${at}`, thread: 'fine', ts: '1.000000', size: () => 1, recordLoss, write });
      expect(buffer.trouble).toBeUndefined();
    }
  });
});

describe('events that the database cannot take', () => {
  test('are written in the order of their ts once it is back, before newer ones of their thread', async () => {
    const { database, send } = openBuffer({ deadlineMs: 20 });
    for (const ts of ['2.000000', '10.000000', '1.000000'])
      await expect(send('one', ts)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(send('other', '3.000000')).rejects.toBe(unavailable);
    database.isAway = false;
    send('one', '11.000000').catch(() => undefined);
    await waitFor(() => expect(database.written).toHaveLength(5));
    expect(database.written.filter((key) => key.startsWith('one'))).toEqual([
      'one 1.000000',
      'one 2.000000',
      'one 10.000000',
      'one 11.000000',
    ]);
    expect(database.written).toContain('other 3.000000');
  });

  test('are kept once, however often Slack delivers them', async () => {
    const { database, send } = openBuffer({ deadlineMs: 20 });
    for (let delivery = 1; delivery <= 3; delivery += 1)
      await expect(send('one', '1.000000')).rejects.toMatchObject({ code: 'unavailable' });
    database.isAway = false;
    await waitFor(() => expect(database.written).toEqual(['one 1.000000']));
    await send('one', '2.000000');
    expect(database.written).toEqual(['one 1.000000', 'one 2.000000']);
  });

  test.each([{ maxEvents: 2 }, { maxBytes: 25 }])('are left to Slack beyond %o', async (limit) => {
    const { database, send } = openBuffer(limit);
    for (const ts of ['1.000000', '2.000000', '3.000000'])
      await expect(send(`thread ${ts}`, ts)).rejects.toMatchObject({ code: 'unavailable' });
    database.isAway = false;
    await waitFor(() => expect(database.written).toHaveLength(2));
    await send('last', '9.000000');
    expect(database.written).not.toContain('thread 3.000000 3.000000');
  });

  test('are written once where Slack sends one again while it is written, and others of its thread are kept', async () => {
    const buffer = new EventBuffer({ log: silentLog, retryMs: 5 });
    onTestFinished(() => buffer.stop());
    const { promise: written, resolve: end } = Promise.withResolvers<void>();
    const tries: string[] = [];
    const send = (id: string, write: () => Promise<void>) => {
      const event = { id, thread: 'one', ts: '1.000000', size: () => 10, recordLoss: async () => undefined };
      return buffer.write({ ...event, write: () => write().finally(() => tries.push(id)) });
    };
    const long = [send('long', () => written)];
    const failing = vi.fn<() => Promise<void>>(async () => undefined).mockRejectedValueOnce(unavailable);
    await expect(send('short', failing)).rejects.toBe(unavailable);
    long.push(send('long', () => written));
    await waitFor(() => expect(tries).toEqual(['short', 'short']));
    end();
    await Promise.all(long);
    expect(tries).toEqual(['short', 'short', 'long']);
  });

  test('are written where one arrives in the moment in which the last one is', async () => {
    const [last, next] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const tries = { last: 0, next: 0, later: 0 };
    const send = openCountingBuffer(tries);
    const twice = (tried: number) => (tried === 1 ? Promise.reject(unavailable) : sleep(20));
    await expect(send('last', (tried) => (tried === 1 ? twice(tried) : last.promise))).rejects.toBe(
      unavailable,
    );
    await waitFor(() => expect(tries.last).toBe(2));
    const refused = send('next', (tried) => (tried === 1 ? next.promise : twice(tried)));
    last.resolve();
    next.reject(unavailable);
    await expect(refused).rejects.toBe(unavailable);
    await waitFor(() => expect(tries.next).toBe(2));
    await sleep(60);
    await expect(send('later', twice)).rejects.toBe(unavailable);
    await waitFor(() => expect(tries).toEqual({ last: 2, next: 2, later: 2 }));
  });

  test('are answered in time where the database is silent, and kept once it fails', async () => {
    const buffer = new EventBuffer({ log: silentLog, deadlineMs: 20, retryMs: 5 });
    onTestFinished(() => buffer.stop());
    const silence = Promise.withResolvers<void>();
    let attempts = 0;
    const write = async () => {
      attempts += 1;
      if (attempts === 1) await silence.promise;
    };
    const event = {
      id: 'Ev1',
      thread: 'one',
      ts: '1.000000',
      size: () => 1,
      recordLoss: async () => undefined,
      write,
    };
    await expect(buffer.write(event)).rejects.toMatchObject({ code: 'unavailable' });
    silence.reject(unavailable);
    await waitFor(() => expect(attempts).toBe(2));
  });

  test('are tried again where it refuses one of them once, and given up after three times', async () => {
    const tries = { once: 0, always: 0 };
    const send = openCountingBuffer(tries);
    const wrong = () => Promise.reject(new RangeError('no such number'));
    const keep = (thread: keyof typeof tries, answer: (tried: number) => Promise<void>) =>
      expect(
        send(thread, (tried) => (tried === 1 ? Promise.reject(unavailable) : answer(tried))),
      ).rejects.toBe(unavailable);
    await keep('once', (tried) => (tried === 2 ? wrong() : Promise.resolve()));
    await keep('always', wrong);
    await waitFor(() => expect(tries).toEqual({ once: 3, always: 4 }));
    await sleep(30);
    expect(tries).toEqual({ once: 3, always: 4 });
  });

  test('are given up together where they are copies of one message', async () => {
    const buffer = new EventBuffer({
      ...{ log: silentLog, retryMs: 5, badThingMs: 300, hasWrittenAfter: () => true },
    });
    onTestFinished(() => buffer.stop());
    const told: string[] = [];
    const send = (id: string, ts: string) =>
      buffer.write({
        ...{ id, thread: 'one', ts, size: () => 10, onGivenUp: () => told.push(id) },
        recordLoss: async () => undefined,
        write: () => Promise.reject(unavailable),
      });
    for (const id of ['message', 'app_mention']) send(id, '1.000000').catch(() => undefined);
    await waitFor(() => expect(told).toContain('message'));
    expect(told).toContain('app_mention');
  });

  test('are given up where the database refuses them for good', async () => {
    const buffer = new EventBuffer({ log: silentLog });
    const wrong = new RangeError('no such number');
    const write = () => Promise.reject(wrong);
    await expect(
      buffer.write({
        id: 'Ev1',
        thread: 'one',
        ts: '1.000000',
        size: () => 1,
        recordLoss: async () => undefined,
        write,
      }),
    ).rejects.toBe(wrong);
  });
});
