import { expect, test } from 'vitest';
import { unsentReplyButtons } from '../../../src/relay/controls/unsent-replies.ts';
import type { MessagePress } from '../../../src/relay/runtime/control-request.ts';
import type { RelayDeps } from '../../../src/relay/runtime/deps.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { JOB_KIND } from '../../../src/store/jobs/jobs.ts';
import { Store } from '../../../src/store/store.ts';
import { OPEN_TO_MEMBERS } from '../../support/answer-limits.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { silentLog } from '../../support/silent-log.ts';

const { kysely } = await freshDatabase();
const store = new Store(kysely);

/** The buttons, and a press of somebody who may use them about their unsent reply, in a new thread. */
async function pressIn(thread_ts: string, person: string) {
  const thread = { workspace: 'T1', channel: 'C1', thread_ts };
  await store.threads.adopt(thread, { account_id: 'a', user_id: person, ts: thread_ts });
  const words = { state: 'unsent', content: { text: 'and by age?' }, edited_ts: null } as const;
  await store.messages.add({ ...thread, ts: thread_ts }, { thread_ts, user_id: person, ...words });
  const people = { personNow: async (id: string) => ({ id, kind: 'member', isAdmin: false }) };
  const workspace = () => ({ people, membership: { statusOf: async () => 'member' } });
  const enqueue = async () => undefined;
  const deps = {
    store,
    settings: OPEN_TO_MEMBERS,
    log: silentLog,
    workspace,
    enqueue,
  } as unknown as RelayDeps;
  const place = { workspace: 'T1', channel: 'C1', threadTs: thread_ts };
  const press = { ...place, messageTs: thread_ts, person } as MessagePress;
  return { ...unsentReplyButtons(deps), press, thread };
}

test('a person turns reading a thread as a whole on so often in an hour and no more, and can always turn it off', async () => {
  const { keep_listening, stop_listening, press } = await pressIn('1700000001.000000', 'U2');
  for (let saved = 0; saved < 30; saved += 2) {
    expect(await keep_listening(press)).toMatchObject({ told: strings.sendingReply });
    expect(await stop_listening(press)).toBe('done');
  }
  const told = strings.channelSettingsFailed.tooOften;
  expect(await keep_listening(press)).toEqual({ outcome: 'over', told });
  expect(await stop_listening(press)).toBe('over');
  await store.threads.setListensToAll({ ...press, thread_ts: '1700000001.000000' }, true);
  expect(await stop_listening(press)).toBe('done');
});

test('the notice that a thread is read as a whole is recorded with the change: no process that ends loses it', async () => {
  const { keep_listening, stop_listening, press, thread } = await pressIn('1700000000.000000', 'U1');
  for (const outcome of ['done', 'over'])
    expect(await keep_listening(press)).toEqual({ outcome, told: strings.sendingReply });
  await stop_listening(press);
  const { kind, thread_ts } = { kind: JOB_KIND.channelNotice, ...thread };
  const jobs = kysely
    .selectFrom('jobs')
    .select(['thread_ts', 'person', 'payload'])
    .where('kind', '=', kind)
    .where('person', '=', 'U1');
  expect(await jobs.orderBy('due_at').execute()).toEqual([
    { thread_ts, person: 'U1', payload: { every_reply: true } },
    { thread_ts, person: 'U1', payload: { every_reply: false } },
  ]);
});

test('a second press of Send says what has become of the reply since the first', async () => {
  const { send_reply, press } = await pressIn('1700000002.000000', 'U3');
  for (const outcome of ['done', 'over'])
    expect(await send_reply(press)).toEqual({ outcome, told: strings.sendingReply });
  const ts = press.messageTs;
  for (const state of ['sent', 'withdrawn'] as const) {
    await kysely.updateTable('messages').set({ state }).where('ts', '=', ts).execute();
    expect(await send_reply(press)).toEqual({ outcome: 'over', told: strings.sendNowTooLate(state) });
  }
});
