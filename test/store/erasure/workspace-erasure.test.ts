import { expect, test } from 'vitest';
import { Store } from '../../../src/store/store.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { lockWaits } from '../../support/lock-waits.ts';

const { kysely } = await freshDatabase();
const store = new Store(kysely);

async function messages(): Promise<number> {
  return (await kysely.selectFrom('messages').select('ts').where('workspace', '=', 'T1').execute()).length;
}

test('a row that another transaction changes meanwhile is deleted too', async () => {
  for (const ts of ['1.000100', '2.000100']) {
    const key = { workspace: 'T1', channel: 'C1', ts };
    const words = { text: 'secret words' };
    await store.messages.add(key, {
      thread_ts: ts,
      user_id: 'U1',
      state: 'waiting',
      content: words,
      edited_ts: null,
    });
  }
  const { promise: changed, resolve: hasChanged } = Promise.withResolvers<void>();
  const { promise: waited, resolve: hasWaited } = Promise.withResolvers<void>();
  const change = kysely.transaction().execute(async (trx) => {
    await trx.updateTable('messages').set({ state: 'sent' }).where('ts', '=', '2.000100').execute();
    hasChanged();
    await waited;
  });
  await changed;
  const removal = store.workspaceErasure.eraseWorkspace('T1');
  await expect.poll(() => lockWaits(kysely)).toBe(1);
  hasWaited();
  await change;
  await removal;
  expect(await messages()).toBe(0);
});
