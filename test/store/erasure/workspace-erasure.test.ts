import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { Store } from '../../../src/store/store.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { mostRowsRead } from '../../support/rows-read.ts';

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

test('the rows of a workspace are found among many of another', async () => {
  await sql`
    insert into orphan_replies (workspace, channel, thread_ts, ts)
    select case when n % 8 = 0 then 'T9' else 'T8' end, 'C1', 1700000000, 1700000000 + n
    from generate_series(1, 24000) as n`.execute(kysely);
  await sql`analyze orphan_replies`.execute(kysely);
  const read = await mostRowsRead(kysely, () => store.workspaceErasure.eraseWorkspace('T9'));
  expect(read).toBeLessThan(10_000);
});
