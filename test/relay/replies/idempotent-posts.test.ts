import { v7 as nextId } from 'uuid';
import { expect, test, vi } from 'vitest';
import { IdempotentPosts } from '../../../src/relay/replies/idempotent-posts.ts';
import type { ThreadWork } from '../../../src/relay/runtime/deps.ts';
import type { PostRequest } from '../../../src/slack/posting.ts';
import { Store } from '../../../src/store/store.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { silentLog } from '../../support/silent-log.ts';
import { waitFor } from '../../support/wait-for.ts';

const { kysely } = await freshDatabase();
const store = new Store(kysely);
const lease = {
  signal: new AbortController().signal,
  draining: new AbortController().signal,
  remainingMs: () => 8_000,
};
const message = { text: 'Working on it', blocks: [] };
let seconds = 1_700_000_000;

/** The posts of a turn that has just begun, as if that were so long ago. */
async function begun(agoMs: number) {
  seconds += 1;
  const ts = `${seconds}.000000`;
  const thread = { workspace: 'T1', channel: 'C1', thread_ts: ts };
  await store.threads.adopt(thread, { account_id: 'settings', user_id: 'U1', ts });
  const said = {
    thread_ts: ts,
    user_id: 'U1',
    state: 'waiting',
    content: { text: 'hi' },
    edited_ts: null,
  } as const;
  await store.messages.add({ workspace: 'T1', channel: 'C1', ts }, said);
  const waiting = await store.messages.nextWaiting(thread);
  if (waiting === undefined) throw new Error('Nothing waits.');
  const turn = await store.turns.begin(nextId(), waiting);
  const longAgo = new Date(Date.now() - agoMs);
  await kysely.updateTable('posts').set({ intended_at: longAgo }).where('turn_id', '=', turn.id).execute();
  const find = async () => (await store.posts.ofTurn(turn)).get('reply:0');
  const intendedBeforeCall: (Date | undefined)[] = [];
  const permits: PostRequest['permit'][] = [];
  const posting = {
    post: async ({ beforeSend, permit }: PostRequest) => {
      permits.push(permit);
      await beforeSend?.();
      intendedBeforeCall.push((await find())?.intended_at);
      return { ts: `${seconds}.500000` };
    },
    edit: async () => 'unchanged' as const,
    delete: async () => undefined,
  };
  const workspace = {
    posting,
    readBack: { findOwnPost: async () => undefined, async *messages() {} },
    wasThereAfter: async () => true,
    blocksLeftOutUntil: new Map<string, number>(),
  };
  const work = { deps: { log: silentLog, store }, workspace, lease } as unknown as ThreadWork;
  const permit = { release: vi.fn<() => void>() };
  const first = { begunAt: performance.now() - agoMs, permit: Promise.resolve(permit) };
  const posts = new IdempotentPosts(work, turn, first);
  return { posts, find, longAgo, intendedBeforeCall, permit, permits };
}

test('the first reply needs no other intent than that of the turn, if its call leaves at once', async () => {
  const { posts, find, longAgo, intendedBeforeCall } = await begun(0);
  await posts.post('reply:0', message, 'first');
  await posts.record();
  expect(intendedBeforeCall).toEqual([longAgo]);
  await posts.withdrawIntent();
  expect(await find()).toMatchObject({ state: 'posted', ts: `${seconds}.500000` });
});

test('the intent of the first reply is recorded again before a call that waited for its permit', async () => {
  const { posts, longAgo, intendedBeforeCall } = await begun(5_000);
  await posts.post('reply:0', message, 'first');
  await posts.record();
  expect(intendedBeforeCall[0]?.getTime()).toBeGreaterThan(longAgo.getTime() + 4_000);
});

test('the intent of a first reply that waits for its permit is withdrawn after a second', async () => {
  const { posts, find, intendedBeforeCall } = await begun(0);
  await waitFor(async () => expect(await find()).toBeUndefined());
  await posts.post('reply:0', message, 'first');
  await posts.record();
  expect(intendedBeforeCall[0]).toBeDefined();
});

test('the first reply of a turn uses the permit that was asked for as it began, and no other post does', async () => {
  const { posts, permit, permits } = await begun(0);
  await posts.post('notice', message, 'notice');
  await posts.post('reply:0', message, 'first');
  await posts.rename('reply:0', 'reply:status');
  await posts.post('reply:0', message, 'further');
  expect(permits).toEqual([undefined, permit, undefined]);
  await posts.withdrawIntent();
  expect(permit.release).not.toHaveBeenCalled();
});

test('the intent of a first reply that was never sent is withdrawn, and its permit is returned', async () => {
  const { posts, find, permit } = await begun(0);
  await posts.withdrawIntent();
  expect(await find()).toBeUndefined();
  expect(permit.release).toHaveBeenCalledOnce();
});

test('a withdrawal that fails does not keep the reply from being posted', async () => {
  const { posts, find } = await begun(0);
  const remove = vi.spyOn(store.posts, 'delete').mockRejectedValueOnce(new Error('too many clients'));
  await expect(posts.withdrawIntent()).rejects.toThrow('too many clients');
  await posts.post('reply:0', message, 'first');
  await posts.record();
  expect(await find()).toMatchObject({ state: 'posted' });
  remove.mockRestore();
});

test('a message takes the name of one that is gone, and a name is known from then on', async () => {
  const { posts, find } = await begun(0);
  expect(posts.hasRow('reply:status')).toBe(false);
  await posts.post('reply:0', message, 'first');
  await posts.record();
  await posts.rename('reply:0', 'reply:status');
  await posts.post('reply:0', message, 'first');
  await posts.record();
  await posts.removeAll('reply:status');
  expect([posts.has('reply:status'), posts.hasRow('reply:status')]).toEqual([false, true]);
  await posts.rename('reply:0', 'reply:status');
  expect(posts.has('reply:status')).toBe(true);
  expect(await find()).toBeUndefined();
});
