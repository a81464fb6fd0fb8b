import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { JOB_KIND } from '../../../src/store/jobs/jobs.ts';
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

/** Claims the jobs that post questions, and ends them. */
async function claimed() {
  const jobs = await store.jobs.claim([{ kind: JOB_KIND.taskStart, room: 9, share: 9 }], [], 30_000);
  for (const job of jobs) await store.jobs.done(job, false);
  return jobs;
}

test('a form that is sent many times at once is posted by one job', async () => {
  const form = asked();
  await Promise.all(Array.from({ length: 8 }, () => starts.send(form)));
  expect(await claimed()).toMatchObject([{ key: form.id, channel: 'C1' }]);
  expect(await Promise.all([starts.finish(form, '1.000001'), starts.finish(form)])).toContain(false);
  expect(await starts.get(form)).toMatchObject({ state: 'done', content: null, source_content: null });
  await starts.send(form);
  expect(await claimed()).toEqual([]);
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
