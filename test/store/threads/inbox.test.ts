import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { JOB_KIND } from '../../../src/store/jobs/jobs.ts';
import { Store } from '../../../src/store/store.ts';
import type { InboxMessage } from '../../../src/store/threads/inbox.ts';
import { ARRIVED_MENTION } from '../../support/arrived-mention.ts';
import { freshDatabase } from '../../support/fresh-database.ts';

const database = await freshDatabase();
const store = new Store(database.ackKysely);
const turns = new Store(database.kysely);

let count = 0;
function arrived(root: string, more: Partial<InboxMessage> = {}): InboxMessage {
  count += 1;
  return {
    ...ARRIVED_MENTION,
    thread_ts: root,
    ts: `1700000001.${String(count).padStart(6, '0')}`,
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

test('the other copy of a message is known without a write', async () => {
  const mention = arrived('1700000000.000300');
  await store.inbox.write(mention);
  const written = database.kysely.transaction().execute(async (trx) => {
    const { decision } = await new Store(trx).inbox.write(mention);
    const { rows } = await sql<{ id: string | null }>`select pg_current_xact_id_if_assigned() as id`.execute(
      trx,
    );
    return { decision, id: rows[0]?.id };
  });
  expect(await written).toEqual({ decision: 'known', id: null });
});

describe('the job of a message', () => {
  const claim = () => ({ id: crypto.randomUUID(), holder: undefined, holdMs: 60_000 });
  const claimable = () => turns.jobs.claim([{ kind: JOB_KIND.turn, room: 100, share: 100 }], [], 1_000);

  test('has the claim that came with it, and no other process claims it', async () => {
    await claimable();
    const [first, second] = [arrived('1700000000.000400'), arrived('1700000000.000400')];
    const own = claim();
    const { job } = await store.inbox.write({ ...first, claim: own });
    expect(job).toMatchObject({ kind: 'turn', thread_ts: first.thread_ts, claim_id: own.id, version: 1 });
    expect(await claimable()).toEqual([]);
    expect((await store.inbox.write({ ...second, claim: claim() })).job).toBeUndefined();
    expect(await turns.jobs.renew([own.id], 60_000)).toEqual([{ claim_id: own.id, isRenewed: true }]);
  });

  test('is due where no claim came with it', async () => {
    const mention = arrived('1700000000.000500');
    expect((await store.inbox.write(mention)).job).toBeUndefined();
    expect(await claimable()).toMatchObject([{ thread_ts: mention.thread_ts }]);
  });
});

describe('a late copy of a message that was refused', () => {
  const refused = async (message: InboxMessage) => {
    await store.inbox.write(message);
    await turns.messages.refuse(message, 'refused');
    await turns.threads.makeDormant(message);
  };

  test('leaves its thread dormant', async () => {
    const mention = arrived('1700000000.000100');
    await refused(mention);
    expect((await store.inbox.write(mention)).decision).toBe('known');
    expect(await turns.threads.isOursSince(mention, mention.ts)).toBe(false);
  });

  test('does not wait again where an app may not ask, and its words are left to be quoted', async () => {
    const mention = arrived('1700000000.000150');
    await store.inbox.write(mention);
    await turns.messages.refuse(mention, 'unsent');
    expect((await store.inbox.write(mention)).decision).toBe('known');
    expect((await turns.messages.get(mention))?.state).toBe('unsent');
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
