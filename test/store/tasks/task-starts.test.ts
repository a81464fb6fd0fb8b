import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { Store } from '../../../src/store/store.ts';
import { freshDatabase } from '../../support/fresh-database.ts';

const { kysely } = await freshDatabase();
const store = new Store(kysely);
const { taskStarts: starts } = store;
const workspace = 'T1';

const asked = (id = randomUUID()) => ({
  workspace,
  id,
  user_id: 'U1',
  channel: 'C1',
  content: { text: 'what?', files: [{ id: 'F1' }] },
});

/** As if the process that is at it had been away for too long. */
const letGo = (id: string) =>
  sql`update task_starts set claimed_until = now() - interval '1 second' where id = ${id}`.execute(kysely);

test('a form that is sent many times at once is claimed once', async () => {
  const form = asked();
  const taken = await Promise.all(Array.from({ length: 8 }, () => starts.claimForPosting(form)));
  expect(taken.filter((start) => start !== undefined)).toHaveLength(1);
  expect(await Promise.all([starts.finish(form), starts.finish(form)])).toContain(false);
  expect(await starts.get(form)).toMatchObject({ state: 'done', content: null, source_content: null });
  expect(await starts.claimForPosting(form)).toBeUndefined();
});

test('one other process claims an abandoned question, and the first can no longer send it', async () => {
  const first = await starts.claimForPosting(asked());
  if (first === undefined) throw new Error('not taken');
  expect(await starts.claimAbandoned(10)).toEqual([]);
  expect(await starts.intend(first)).toBe(true);
  await letGo(first.id);
  const taken = (await Promise.all([starts.claimAbandoned(10), starts.claimAbandoned(10)])).flat();
  expect(taken).toMatchObject([{ id: first.id, content: first.content }]);
  expect(await starts.intend(first)).toBe(false);
  const [second] = taken;
  expect(second && (await starts.intend(second))).toBe(true);
});

test('a question under way is not abandoned', async () => {
  const start = await starts.claimForPosting(asked());
  if (start === undefined) throw new Error('not taken');
  await letGo(start.id);
  await starts.renewClaims([start]);
  expect(await starts.claimAbandoned(10)).toEqual([]);
});

test('a form whose post was rejected can be sent again', async () => {
  const form = asked();
  const first = await starts.claimForPosting(form);
  if (first === undefined) throw new Error('not taken');
  await starts.intend(first);
  await starts.returnToDraft(first);
  expect(await starts.get(form)).toMatchObject({ state: 'draft', content: null, post_intended_at: null });
  expect(await starts.claimForPosting({ ...form, channel: 'C2' })).toMatchObject({
    channel: 'C2',
    state: 'posting',
  });
});

test('a quoted message is erased with the person who wrote it', async () => {
  const key = { workspace, channel: 'C1', ts: '1.000001' };
  const words = { text: 'why?', about: { user: 'U2', text: 'a secret' } };
  const row = {
    thread_ts: '1.000000',
    user_id: 'U1',
    state: 'sent',
    content: words,
    editedTs: null,
  } as const;
  await store.messages.add(key, row);
  const form = asked();
  await starts.saveDraft({
    ...form,
    thread_ts: null,
    message_ts: null,
    source_turn_id: null,
    source_content: words,
  });
  await store.erasure.eraseUser(workspace, 'U2');
  expect((await store.messages.get(key))?.content).toEqual({ text: 'why?' });
  expect(await starts.get(form)).toBeUndefined();
});
