import { expect, test } from 'vitest';
import { channelMoveJobs, moveChannel } from '../../../src/relay/inbox/channel-move.ts';
import { JobRunner } from '../../../src/relay/runtime/job-runner.ts';
import { Store } from '../../../src/store/store.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { silentLog } from '../../support/silent-log.ts';

const store = new Store((await freshDatabase()).kysely);
const workspace = 'T1';
const thread_ts = '1700000000.000100';

async function beginTurn(channel: string, ts: string): Promise<string> {
  const thread = { workspace, channel, thread_ts };
  await store.threads.adopt(thread, { account_id: 'settings', user_id: 'U1', ts: thread_ts });
  const row = {
    thread_ts,
    user_id: 'U1',
    state: 'waiting',
    content: { text: 'hi' },
    edited_ts: null,
  } as const;
  await store.messages.add({ workspace, channel, ts }, row);
  const message = await store.messages.nextWaiting(thread);
  if (message === undefined) throw new Error('Nothing waits.');
  return (await store.turns.begin(crypto.randomUUID(), message)).id;
}

test('a channel whose thread is at work under both ids moves once one of the two has ended', async ({
  onTestFinished,
}) => {
  const older = await beginTurn('C1', thread_ts);
  const newer = await beginTurn('C9', '1700000001.000000');
  await moveChannel(store, { workspace, from: 'C1', channel: 'C9' });
  expect((await store.turns.get(workspace, older))?.channel).toBe('C1');

  await store.db.updateTable('turns').set({ finished_at: new Date() }).where('id', '=', newer).execute();
  const runner = new JobRunner({ store, log: silentLog, onRun: () => undefined });
  runner.add(channelMoveJobs({ store, workspace: () => undefined }));
  runner.start();
  onTestFinished(() => runner.stop());
  await expect
    .poll(async () => {
      runner.runDue();
      return (await store.turns.get(workspace, older))?.channel;
    })
    .toBe('C9');
  expect(await store.threads.get({ workspace, channel: 'C1', thread_ts })).toBeUndefined();
});
