import { afterEach, expect, test, vi } from 'vitest';
import { WaitingReactions } from '../../../src/relay/controls/waiting-reactions.ts';
import type { ReactionOutcome } from '../../../src/slack/posting.ts';
import type { MessageKey } from '../../../src/store/schema.ts';
import { Store } from '../../../src/store/store.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { silentLog } from '../../support/silent-log.ts';

const { kysely } = await freshDatabase();
const store = new Store(kysely);

afterEach(() => {
  vi.useRealTimers();
});

/** Waits until something is so. */
async function until(look: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await look())) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** A message that carries the waiting reaction and was taken back; 1 to 9 in the workspace `id`. */
async function takenBack(id: string, number: number): Promise<MessageKey> {
  const key = { workspace: id, channel: 'C1', ts: `170000000${number}.000100` };
  const said = { thread_ts: key.ts, user_id: 'U1', content: { text: 'x' }, edited_ts: null };
  await store.messages.add(key, { ...said, state: 'waiting' });
  await store.messages.setWaitingReaction(key, true);
  await store.messages.withdraw(key);
  return key;
}

test('a reaction that Slack does not remove is retried less and less often, and given up after half an hour', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  for (let number = 1; number <= 5; number += 1) await takenBack('T1', number);
  const tried: string[] = [];
  const reacted: string[] = [];
  const posting = {
    removeReaction: async ({ ts }: { ts: string }): Promise<ReactionOutcome> => {
      tried.push(ts);
      return 'later';
    },
    addReaction: async ({ ts }: { ts: string }): Promise<ReactionOutcome> => {
      reacted.push(ts);
      return 'done';
    },
  };
  const marks = new WaitingReactions({ store, log: silentLog, workspace: () => ({ posting }) });
  marks.cleanUp();
  await until(() => tried.length >= 5);
  await until(async () => {
    vi.setSystemTime(Date.now() + 60_000);
    marks.cleanUp();
    return (await store.messages.withStaleWaitingReaction(9)).length === 0;
  });
  expect(tried.length).toBeLessThanOrEqual(5 * 12);
  const next = { workspace: 'T1', channel: 'C1', ts: '1700000100.000100' };
  const said = { thread_ts: next.ts, user_id: 'U1', content: { text: 'x' }, edited_ts: null };
  await store.messages.add(next, { ...said, state: 'waiting' });
  const thread = { workspace: next.workspace, channel: next.channel, thread_ts: next.ts };
  void marks.onInboxOutcome({ kind: 'admitted', isQueued: true, isPaused: false, thread }, next);
  await until(() => reacted.includes(next.ts));
});

test('a reaction that appears only after its turn has begun is removed all the same', async () => {
  const adding = Promise.withResolvers<ReactionOutcome>();
  const calls: string[] = [];
  const call = (name: string, outcome: Promise<ReactionOutcome>) => () => {
    calls.push(name);
    return outcome;
  };
  const removed = Promise.resolve<ReactionOutcome>('done');
  const posting = {
    addReaction: call('add', adding.promise),
    removeReaction: call('remove', removed),
  };
  const marks = new WaitingReactions({ store, log: silentLog, workspace: () => ({ posting }) });
  const key = { workspace: 'T2', channel: 'C1', ts: '1700000200.000100' };
  const thread = { workspace: key.workspace, channel: key.channel, thread_ts: key.ts };
  const said = { thread_ts: key.ts, user_id: 'U1', content: { text: 'x' }, edited_ts: null };
  await store.messages.add(key, { ...said, state: 'waiting' });
  void marks.onInboxOutcome({ kind: 'admitted', isQueued: true, isPaused: false, thread }, key);
  await until(() => calls.includes('add'));
  await store.messages.withdraw(key);
  marks.cleanUp();
  await until(() => calls.includes('remove'));
  adding.resolve('done');
  await until(() => calls.length > 2);
  expect(calls).toEqual(['add', 'remove', 'remove']);
});
