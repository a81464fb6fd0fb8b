import { expect, test, vi } from 'vitest';
import { postPausedNoticeAndFinish } from '../../../src/relay/controls/paused-messages.ts';
import type { RenderedMessage } from '../../../src/render/blocks/slack-blocks.ts';
import * as strings from '../../../src/render/strings/index.ts';
import type { Turn } from '../../../src/store/schema.ts';
import { Store } from '../../../src/store/store.ts';
import { freshDatabase } from '../../support/fresh-database.ts';

const { kysely } = await freshDatabase();
const store = new Store(kysely);
const end = { outcome: 'cancelled', last: {} } as const;

/** Adds a waiting message to the channel's thread. */
async function addWaiting(channel: string, ts: string): Promise<void> {
  const row = { thread_ts: '1700000000.000000', user_id: 'U1', content: { text: 'hi' }, edited_ts: null };
  await store.messages.add({ workspace: 'T1', channel, ts }, { ...row, state: 'waiting' });
}

/** A turn that paused its thread, behind which one message waits. */
async function pausingTurn(channel: string): Promise<Turn> {
  const thread = { workspace: 'T1', channel, thread_ts: '1700000000.000000' };
  await store.threads.adopt(thread, { account_id: 'a', user_id: 'U1', ts: thread.thread_ts });
  for (const ts of [thread.thread_ts, '1700000001.000000']) await addWaiting(channel, ts);
  const first = await store.messages.nextWaiting(thread);
  if (first === undefined) throw new Error('Nothing waits.');
  const turn = await store.turns.begin(crypto.randomUUID(), first);
  await store.pausedThreads.pause(turn);
  return turn;
}

/** A turn's posts, which note what the notice says. An earlier one is not posted again, and says anything. */
function noticePosts(
  shown: string[],
  onShown: () => Promise<unknown>,
  earlier: 'none' | 'posted' | 'intended' = 'none',
) {
  let latest: RenderedMessage | undefined;
  const show = async (message: RenderedMessage) => {
    latest = message;
    shown.push(message.text);
    await onShown();
  };
  let has = earlier === 'posted';
  return {
    load: async () => undefined,
    has: () => has,
    shows: (_part: string, message: RenderedMessage) => latest?.text === message.text,
    update: (_part: string, message: RenderedMessage) => show(message),
    post: async (_part: string, message: RenderedMessage) => {
      if (has) return;
      has = true;
      if (earlier !== 'intended') await show(message);
    },
  };
}

test('a process that takes over finds out whether the notice of a pause was posted, before it finishes', async () => {
  const turn = await pausingTurn('C1');
  await store.posts.intend(turn, 'paused', 'key');
  const posts = {
    load: async () => undefined,
    has: () => false,
    shows: () => true,
    update: () => Promise.reject(new Error('Nothing has changed.')),
    post: vi.fn<(part: string) => Promise<void>>(async (part) => {
      await store.posts.record(turn, [{ part, ts: '1700000002.000000' }]);
    }),
  };
  await postPausedNoticeAndFinish({ store, workspace: () => undefined }, posts, turn, end);
  expect(posts.post).toHaveBeenCalledOnce();
  expect((await store.posts.ofTurn(turn)).get('paused')?.state).toBe('posted');
  expect((await store.turns.get('T1', turn.id))?.outcome).toBe('cancelled');
});

test('a process that takes over brings the notice of an earlier process up to date', async () => {
  const turn = await pausingTurn('C2');
  const shown: string[] = [];
  const posts = noticePosts(shown, async () => undefined, 'posted');
  await postPausedNoticeAndFinish({ store, workspace: () => undefined }, posts, turn, end);
  expect(shown).toEqual([strings.messagesPaused(1)]);
});

test('a process that takes over brings up to date a notice of which it only finds out that it was posted', async () => {
  const turn = await pausingTurn('C5');
  const shown: string[] = [];
  const posts = noticePosts(shown, async () => undefined, 'intended');
  await postPausedNoticeAndFinish({ store, workspace: () => undefined }, posts, turn, end);
  expect(shown).toEqual([strings.messagesPaused(1)]);
});

test('a message that comes after all others went, before the notice was posted, gets the notice', async () => {
  const turn = await pausingTurn('C3');
  const shown: string[] = [];
  const deps = { store: new Store(kysely), workspace: () => undefined };
  // Between the count and the notice, the message is deleted; right after that, another one comes.
  vi.spyOn(deps.store.pausedThreads, 'waitingMessages').mockImplementationOnce(async (thread) => {
    await store.messages.withdraw({ workspace: 'T1', channel: 'C3', ts: '1700000001.000000' });
    const none = await store.pausedThreads.waitingMessages(thread);
    await addWaiting('C3', '1700000005.000000');
    return none;
  });
  await postPausedNoticeAndFinish(
    deps,
    noticePosts(shown, async () => undefined),
    turn,
    end,
  );
  expect(shown).toEqual([strings.messagesPaused(1)]);
});

test('a message that comes after the notice said that none waits changes the notice', async () => {
  const turn = await pausingTurn('C4');
  const shown: string[] = [];
  const key = { workspace: 'T1', channel: 'C4', ts: '1700000001.000000' };
  const afterEach = [() => store.messages.withdraw(key), () => addWaiting('C4', '1700000005.000000')];
  const posts = noticePosts(shown, async () => afterEach.shift()?.());
  await postPausedNoticeAndFinish({ store, workspace: () => undefined }, posts, turn, end);
  expect(shown).toEqual([strings.messagesPaused(1), strings.nothingPaused, strings.messagesPaused(1)]);
});
