import { expect, test } from 'vitest';
import { postPausedNoticeAndFinish } from '../../../src/relay/controls/paused-messages.ts';
import { Store } from '../../../src/store/store.ts';
import { freshDatabase } from '../../support/fresh-database.ts';

const { kysely } = await freshDatabase();
const store = new Store(kysely);

test('a process that takes over finds out whether the notice of a pause was posted, before it finishes', async () => {
  const thread = { workspace: 'T1', channel: 'C1', thread_ts: '1700000000.000000' };
  await store.threads.adopt(thread, { account_id: 'a', user_id: 'U1', ts: thread.thread_ts });
  for (const ts of [thread.thread_ts, '1700000001.000000']) {
    const row = { thread_ts: thread.thread_ts, user_id: 'U1', content: { text: 'hi' }, edited_ts: null };
    await store.messages.add({ workspace: 'T1', channel: 'C1', ts }, { ...row, state: 'waiting' });
  }
  const first = await store.messages.nextWaiting(thread);
  if (first === undefined) throw new Error('Nothing waits.');
  const turn = await store.turns.begin(crypto.randomUUID(), first);
  await store.pausedThreads.pause(turn);
  await store.posts.intend(turn, 'paused', 'key');
  let asked = 0;
  const posts = {
    update: () => Promise.reject(new Error('Nothing has changed.')),
    post: async (part: string) => {
      asked += 1;
      await store.posts.record(turn, [{ part, ts: '1700000002.000000' }]);
    },
  };
  await postPausedNoticeAndFinish({ store, workspace: () => undefined }, posts, turn, {
    outcome: 'cancelled',
    last: {},
  });
  expect(asked).toBe(1);
  expect((await store.posts.ofTurn(turn)).get('paused')?.state).toBe('posted');
  expect((await store.turns.get('T1', turn.id))?.outcome).toBe('cancelled');
});
