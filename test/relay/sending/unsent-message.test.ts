import { v7 as nextId } from 'uuid';
import { expect, test } from 'vitest';
import { wholeMessage } from '../../../src/relay/sending/outgoing-message.ts';
import { closeIfUnchanged, closeMessage, requeueMessage } from '../../../src/relay/sending/unsent-message.ts';
import { ofMessage } from '../../../src/store/queries.ts';
import { Store } from '../../../src/store/store.ts';
import { freshDatabase } from '../../support/fresh-database.ts';

const { kysely } = await freshDatabase();
const store = new Store(kysely);

let seconds = 1_700_000_000;

/** A waiting message in a thread of its own, and its turn. */
async function begun() {
  seconds += 1;
  const ts = `${seconds}.000100`;
  const key = { workspace: 'T1', channel: 'C1', ts };
  await store.threads.adopt(
    { workspace: 'T1', channel: 'C1', thread_ts: ts },
    { account_id: 'settings', user_id: 'U1', ts },
  );
  const said = { thread_ts: ts, user_id: 'U1', content: { text: 'as it was' }, edited_ts: null };
  await store.messages.add(key, { ...said, state: 'waiting' });
  const get = async () => {
    const message = await store.messages.get(key);
    if (message === undefined) throw new Error('the message is not there');
    return message;
  };
  const message = await get();
  return { key, message, get, turn: await store.turns.begin(nextId(), message) };
}

const later = `${seconds + 1_000}.000000`;
const edit = { is_deletion: false, content: { text: 'as it is now' }, edited_ts: later };

test('a message that waits again is not closed by a process that still has its deleted turn', async () => {
  const { turn, get } = await begun();
  expect(await requeueMessage({ store }, turn)).toBe(true);
  await closeMessage({ store }, turn);
  expect(await get()).toMatchObject({ state: 'waiting' });
});

test('a message that was edited while it was sent waits again with its new text, unless a correction took the edit', async () => {
  const [one, two] = [await begun(), await begun()];
  for (const { key } of [one, two]) {
    await store.db.updateTable('messages').set({ state: 'sending' }).where(ofMessage(key)).execute();
    await store.pendingEdits.record(key, edit);
  }
  await store.pendingEdits.claim(two.key, later);
  for (const { turn } of [one, two]) expect(await requeueMessage({ store }, turn)).toBe(true);
  expect(await one.get()).toMatchObject({ state: 'waiting', content: { text: 'as it is now' } });
  expect(await two.get()).toMatchObject({ state: 'waiting', content: { text: 'as it was' } });
});

test('a message that was deleted while it was sent does not wait again', async () => {
  const { key, turn, get } = await begun();
  await store.db.updateTable('messages').set({ state: 'sending' }).where(ofMessage(key)).execute();
  await store.pendingEdits.record(key, { is_deletion: true, content: null, edited_ts: null });
  expect(await requeueMessage({ store }, turn)).toBe(false);
  expect(await get()).toMatchObject({ state: 'withdrawn', content: null });
});

test('an empty message is closed only if it is unchanged since it was read', async () => {
  const [same, edited, deleted] = [await begun(), await begun(), await begun()];
  await store.messages.updateContent(edited.message, {
    content: edit.content,
    edited_ts: later,
    is_partial: false,
  });
  await store.messages.withdraw(deleted.key);
  const close = ({ turn, message }: typeof same) => closeIfUnchanged({ store }, turn, wholeMessage(message));
  expect([await close(same), await close(edited), await close(deleted)]).toEqual([
    'closed',
    'changed',
    'withdrawn',
  ]);
  expect(await same.get()).toMatchObject({ state: 'closed' });
  expect(await edited.get()).toMatchObject({ state: 'waiting' });
});
