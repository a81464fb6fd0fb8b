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
    is_partial: false,
    client_msg_id: null,
    appliedEdit: undefined,
    is_place_checked: true,
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
    expect(after).toMatchObject({ decision: 'waits', is_paused: false });
    expect(await turns.pausedThreads.pausedBy(thread)).toBeUndefined();
    expect(await store.inbox.write(before)).toMatchObject({ decision: 'waits', is_paused: true });
    expect(await turns.pausedThreads.pausedBy(thread)).toBe(id);
  });
});

describe('a late copy of a message that was refused', () => {
  const refused = async (message: InboxMessage) => {
    await store.inbox.write(message);
    await turns.messages.refuse(message);
    await turns.threads.makeDormant(message);
  };

  test('leaves its thread dormant', async () => {
    const mention = arrived('1700000000.000100');
    await refused(mention);
    expect((await store.inbox.write(mention)).decision).toBe('known');
    expect(await turns.threads.isOursSince(mention, mention.ts)).toBe(false);
  });

  test('does not make the thread that another mention began ours from before that', async () => {
    const mention = arrived('1700000000.000200');
    await refused(mention);
    const next = arrived(mention.thread_ts);
    await store.inbox.write(next);
    expect((await store.inbox.write(mention)).decision).toBe('known');
    expect(await turns.threads.isOursSince(mention, mention.ts)).toBe(false);
    expect(await turns.threads.isOursSince(mention, next.ts)).toBe(true);
  });
});
