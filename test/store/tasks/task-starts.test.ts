import { randomUUID } from 'node:crypto';
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

test('a form that is sent many times at once is posted by one job', async () => {
  const form = asked();
  const sent = await Promise.all(Array.from({ length: 8 }, () => starts.send(form, 30_000)));
  expect(sent.filter((job) => job !== undefined)).toMatchObject([{ key: form.id, channel: 'C1' }]);
  expect(await Promise.all([starts.finish(form, '1.000001'), starts.finish(form)])).toContain(false);
  expect(await starts.get(form)).toMatchObject({ state: 'done', content: null, source_content: null });
  expect(await starts.send(form)).toBeUndefined();
});

test('a form whose post was rejected can be sent again, to another channel too', async () => {
  const form = asked();
  const job = await starts.send(form, 30_000);
  if (job === undefined) throw new Error('not sent');
  await starts.returnToDraft(form);
  expect(await starts.get(form)).toMatchObject({ state: 'draft', content: null });
  await store.jobs.done(job, false);
  expect(await starts.send({ ...form, channel: 'C2' })).toMatchObject({ key: form.id, channel: 'C2' });
  expect(await starts.get(form)).toMatchObject({ state: 'posting', channel: 'C2' });
});

test('a quoted message is erased with the person who wrote it', async () => {
  const key = { workspace, channel: 'C1', ts: '1.000001' };
  const words = { text: 'why?', about: { user: 'U2', text: 'a secret' } };
  const row = {
    thread_ts: '1.000000',
    user_id: 'U1',
    state: 'sent',
    content: words,
    edited_ts: null,
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
  await store.personErasure.eraseUser(workspace, 'U2');
  expect((await store.messages.get(key))?.content).toEqual({ text: 'why?' });
  expect(await starts.get(form)).toBeUndefined();
});
