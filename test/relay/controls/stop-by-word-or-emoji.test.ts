import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { StopTriggers } from '../../../src/relay/controls/stop-by-word-or-emoji.ts';
import { StopControl } from '../../../src/relay/controls/stop-control.ts';
import type { RelayDeps } from '../../../src/relay/runtime/deps.ts';
import type { Turn } from '../../../src/store/schema.ts';
import { Store } from '../../../src/store/store.ts';
import { OPEN_TO_MEMBERS } from '../../support/answer-limits.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { silentLog } from '../../support/silent-log.ts';

const { kysely } = await freshDatabase();
const store = new Store(kysely);

test('a stop reaches the next turn, too, where the one before ends while Slack says who asked', async () => {
  const thread = { workspace: 'T1', channel: 'C1', thread_ts: '1700000000.000000' };
  await store.threads.adopt(thread, { account_id: 'a', user_id: 'U1', ts: thread.thread_ts });
  for (const ts of [thread.thread_ts, '1700000001.000000']) {
    const row = { thread_ts: thread.thread_ts, user_id: 'U1', content: { text: 'hi' }, edited_ts: null };
    await store.messages.add({ workspace: 'T1', channel: 'C1', ts }, { ...row, state: 'waiting' });
  }
  const begin = async (ts: string) => {
    const message = await store.messages.get({ workspace: 'T1', channel: 'C1', ts });
    if (message === undefined) throw new Error('The message is gone.');
    return store.turns.begin(randomUUID(), message);
  };
  const first = await begin(thread.thread_ts);
  await store.turns.record(first, { settled_at: new Date() });
  let next: Turn | undefined;
  const person = async (id: string) => {
    if (next === undefined) {
      await store.turns.finish(first, 'completed');
      next = await begin('1700000001.000000');
    }
    return { id, name: id, kind: 'member', isAdmin: false };
  };
  const membership = { statusOf: async () => 'member' };
  const workspace = () => ({ people: { personNow: person }, membership });
  const deps = { store, settings: OPEN_TO_MEMBERS, log: silentLog, workspace };
  const relay = deps as unknown as RelayDeps;
  const stopped: string[] = [];
  const control = new StopControl(relay, (turn) => stopped.push(turn.id));
  const triggers = new StopTriggers(relay, control);
  const stop = { kind: 'session_stopped', ...thread, person: 'U2', ts: '1700000002.000000' } as const;
  expect(await triggers.handle(stop)).toBe('done');
  expect(stopped).toEqual([next?.id]);
});
