import { describe, expect, test } from 'vitest';
import { Store } from '../../../src/store/store.ts';
import type { InboxMessage } from '../../../src/store/threads/inbox.ts';
import { freshDatabase } from '../../support/fresh-database.ts';

const database = await freshDatabase();
const store = new Store(database.ackKysely);
const turns = new Store(database.kysely);

let count = 0;
function arrived(root: string, more: Partial<InboxMessage> = {}): InboxMessage {
  count += 1;
  return {
    workspace: 'T1',
    channel: 'C1',
    thread_ts: root,
    ts: `1700000001.${String(count).padStart(6, '0')}`,
    user_id: 'U1',
    content: { text: 'a question' },
    state: 'waiting',
    edited_ts: null,
    account_id: 'settings',
    is_addressed: true,
    appliedEdit: undefined,
    ...more,
  };
}

describe('a message of a thread whose turn is being stopped', () => {
  test('waits behind the stop if it was said before, although it arrives after it', async () => {
    const root = '1700000000.000050';
    const thread = { workspace: 'T1', channel: 'C1', thread_ts: root };
    await store.inbox.write(arrived(root));
    const first = await turns.messages.nextWaiting(thread);
    if (first === undefined) throw new Error('Nothing waits.');
    const { id } = await turns.turns.begin(crypto.randomUUID(), first);
    const before = arrived(root);
    const { ts } = arrived(root);
    await turns.stopRequests.record({ workspace: 'T1', turn_id: id, user_id: 'U1', ts }, 10);
    const after = await store.inbox.write(arrived(root));
    expect(after).toEqual({ decision: 'waits', is_paused: false });
    expect(await turns.pausedThreads.pausedBy(thread)).toBeUndefined();
    expect(await store.inbox.write(before)).toEqual({ decision: 'waits', is_paused: true });
    expect(await turns.pausedThreads.pausedBy(thread)).toBe(id);
  });
});

describe('messages that arrive at once', () => {
  test('in one thread are all written, and the first of them is next', async () => {
    const messages = Array.from({ length: 250 }, () => arrived('1700000000.000100'));
    const decisions = await Promise.all(messages.map((message) => store.inbox.write(message)));
    expect(decisions.map(({ decision }) => decision)).toEqual(['next', ...Array(249).fill('waits')]);
    const again = await Promise.all(messages.map((message) => store.inbox.write(message)));
    expect(new Set(again.map(({ decision }) => decision))).toEqual(new Set(['known']));
  });

  test('are written although one of them is invalid', async () => {
    const root = '1700000000.000200';
    const messages = [arrived(root), arrived(root), arrived(root, { ts: 'no number' }), arrived(root)];
    const outcomes = await Promise.allSettled(messages.map((message) => store.inbox.write(message)));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    const after = await store.inbox.write(arrived(root));
    expect(after).toEqual({ decision: 'waits', is_paused: false });
  });

  test('in other threads do not wait for a locked thread', async () => {
    const locked = { workspace: 'T1', channel: 'C1', thread_ts: '1700000000.000300' };
    const unlock = Promise.withResolvers<void>();
    const isLocked = Promise.withResolvers<void>();
    const lock = turns.transaction(async (within) => {
      await within.threads.lock(locked);
      isLocked.resolve();
      await unlock.promise;
    });
    await isLocked.promise;
    let settled = 0;
    const behind = Array.from({ length: 30 }, async () => {
      await store.inbox.write(arrived(locked.thread_ts));
      settled += 1;
    });
    await Promise.all(['400', '500', '600'].map((end) => store.inbox.write(arrived(`1700000000.000${end}`))));
    expect(settled).toBe(0);
    unlock.resolve();
    await Promise.all([lock, ...behind]);
    expect(settled).toBe(30);
  });

  test('fail with the one before them that the database cannot take, and none overtakes it', async () => {
    const root = '1700000000.000700';
    const unlock = Promise.withResolvers<void>();
    const isLocked = Promise.withResolvers<void>();
    const lock = turns.transaction(async (within) => {
      await within.threads.lock({ workspace: 'T1', channel: 'C1', thread_ts: root });
      isLocked.resolve();
      await unlock.promise;
    });
    await isLocked.promise;
    const [first, second] = [store.inbox.write(arrived(root)), store.inbox.write(arrived(root))];
    second.catch(() => undefined);
    await expect(first).rejects.toMatchObject({ code: 'unavailable' });
    unlock.resolve();
    await expect(second).rejects.toMatchObject({ code: 'unavailable' });
    await lock;
    expect((await store.inbox.write(arrived(root))).decision).toBe('next');
  });
});
