import { expect, test } from 'vitest';
import { closeMessage, putBack } from '../../src/relay/asking/unsent.ts';
import { jobIds } from '../../src/store/job-id.ts';
import { Store } from '../../src/store/store.ts';
import { freshDatabase } from '../store/postgres.ts';

const { kysely } = await freshDatabase();
const store = new Store(kysely);

test('a message that waits again, without its turn, is not closed by who still holds that turn', async () => {
  const key = { workspace: 'T1', channel: 'C1', ts: '1700000000.000100' };
  const thread = { workspace: 'T1', channel: 'C1', root: key.ts };
  await store.threads.adopt(thread, { account: 'settings', person: 'U1', ts: key.ts });
  const said = {
    root: key.ts,
    person: 'U1',
    state: 'waiting',
    words: { text: 'x' },
    editedTs: null,
  } as const;
  await store.messages.add(key, said);
  const message = await store.messages.get(key);
  if (message === undefined) throw new Error('the message was not written');
  const turn = await store.turns.begin(jobIds()(), message);
  expect(await putBack({ store }, turn)).toBe(true);
  await closeMessage({ store }, turn);
  expect(await store.messages.get(key)).toMatchObject({ state: 'waiting' });
});
