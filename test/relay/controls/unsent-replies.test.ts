import { expect, test } from 'vitest';
import { unsentReplyButtons } from '../../../src/relay/controls/unsent-replies.ts';
import type { MessagePress } from '../../../src/relay/runtime/control-request.ts';
import type { RelayDeps } from '../../../src/relay/runtime/deps.ts';
import { JOB_KIND } from '../../../src/store/jobs/jobs.ts';
import { Store } from '../../../src/store/store.ts';
import { EVERYWHERE } from '../../support/answer-limits.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { silentLog } from '../../support/silent-log.ts';

const { kysely } = await freshDatabase();
const store = new Store(kysely);

test('the notice that a thread is read as a whole is recorded with the change: no process that ends loses it', async () => {
  const thread = { workspace: 'T1', channel: 'C1', thread_ts: '1700000000.000000' };
  await store.threads.adopt(thread, { account_id: 'a', user_id: 'U1', ts: thread.thread_ts });
  const settings = { controlsBy: 'channel', admits: 'members', answers: EVERYWHERE, admitsBots: [] };
  const people = { personNow: async (id: string) => ({ id, kind: 'member', isAdmin: false }) };
  const workspace = () => ({ people, membership: { statusOf: async () => 'member' } });
  const deps = { store, settings, log: silentLog, workspace } as unknown as RelayDeps;
  const { keep_listening, stop_listening } = unsentReplyButtons(deps);
  const place = { workspace: 'T1', channel: 'C1', threadTs: thread.thread_ts };
  const press = { ...place, messageTs: thread.thread_ts, person: 'U1' } as MessagePress;
  expect([await keep_listening(press), await keep_listening(press)]).toEqual(['done', 'over']);
  await stop_listening(press);
  const { kind, thread_ts } = { kind: JOB_KIND.channelNotice, ...thread };
  const jobs = kysely.selectFrom('jobs').select(['thread_ts', 'person', 'payload']).where('kind', '=', kind);
  expect(await jobs.orderBy('due_at').execute()).toEqual([
    { thread_ts, person: 'U1', payload: { every_reply: true } },
    { thread_ts, person: 'U1', payload: { every_reply: false } },
  ]);
});
