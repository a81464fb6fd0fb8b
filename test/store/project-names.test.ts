import { expect, test } from 'vitest';
import { Store } from '../../src/store/store.ts';
import { freshDatabase } from '../support/fresh-database.ts';

const { kysely } = await freshDatabase();
const { settings: channels, projects, results, inbox } = new Store(kysely);
const turn = '01a1fbfe-6e3a-7000-83e3-5e284a624410';

test("a project is to get its channel's new name if it was created for it, or the settings say so", async () => {
  const due = async () =>
    (await kysely.selectFrom('jobs').select('channel').orderBy('channel').execute()).map(
      (job) => job.channel,
    );
  const key = (channel: string) => ({ workspace: 'T1', channel, account_id: 'settings' });
  const create = async (channel: string) => {
    await projects.intend(key(channel), turn, 15_000);
    await projects.bind(key(channel), turn, `prj_${channel}`);
  };
  expect(await projects.wantNames('T1', 'C1')).toBe(false);
  await projects.assign(key('C1'), 'prj_1');
  expect(await projects.wantNames('T1', 'C1')).toBe(false);
  await create('C2');
  expect(await projects.wantNames('T2', 'C2')).toBe(false);
  await channels.set('T1', 'C2', 'U1', { sync_project_name: false });
  expect(await projects.wantNames('T1', 'C2')).toBe(false);
  await create('D3');
  expect(await projects.wantNames('T1', 'D3')).toBe(false);
  expect(await due()).toEqual([]);
  await channels.set('T1', 'C1', 'U1', { sync_project_name: true });
  expect(await projects.wantNames('T1', 'C1')).toBe(true);
  await create('C5');
  expect(await projects.wantNames('T1', 'C5')).toBe(true);
  expect(await due()).toEqual(['C1', 'C5']);
});

test('after a gap, the projects of channels that were used lately are to get their names', async () => {
  const key = { workspace: 'T5', channel: 'C1', account_id: 'settings' };
  await projects.intend(key, turn, 15_000);
  await projects.bind(key, turn, 'prj_1');
  expect(await projects.wantNames('T5')).toBe(false);
  const message = { thread_ts: '1.000000', ts: '1.000000', user_id: 'U1', content: { text: 'hello' } };
  const written = { state: 'waiting', edited_ts: null, is_addressed: true } as const;
  const first = { is_partial: false, client_msg_id: null, appliedEdit: undefined, is_place_checked: true };
  await inbox.write({ ...key, ...message, ...written, ...first });
  expect(await projects.wantNames('T5')).toBe(true);
});

test('a channel can switch to another project, even while a turn creates one for it', async () => {
  const key = { workspace: 'T1', channel: 'C3', account_id: 'settings' };
  const turn = '01a1fbfe-6e3a-7000-83e3-5e284a624414';
  await projects.intend(key, turn, 15_000);
  await projects.assign(key, 'prj_3');
  expect(await projects.bind(key, turn, 'prj_made')).toBe(false);
  expect(await projects.projectIdOf(key)).toBe('prj_3');
  expect(await projects.intend(key, turn, 15_000)).toBe('taken');
  await projects.assign({ workspace: 'T2', channel: 'C9', account_id: 'another' }, 'prj_3');
  expect(await projects.channelsUsing('prj_3')).toEqual(
    expect.arrayContaining([
      { workspace: 'T1', channel: 'C3', taken_by: null },
      { workspace: 'T2', channel: 'C9', taken_by: '' },
    ]),
  );
  expect(await projects.channelsUsing('prj_none')).toEqual([]);
});

test('a project belongs to each channel that had it, even after the channel gets another', async () => {
  const key = { workspace: 'T1', channel: 'C4', account_id: 'settings' };
  const turn = '01a1fbfe-6e3a-7000-83e3-5e284a624416';
  await projects.intend(key, turn, 15_000);
  expect(await projects.bind(key, turn, 'prj_4')).toBe(true);
  await projects.assign(key, 'prj_5');
  await projects.assign(key, 'prj_5');
  for (const project of ['prj_4', 'prj_5'])
    expect(await projects.channelsUsing(project)).toEqual([
      { workspace: 'T1', channel: 'C4', taken_by: null },
    ]);
});

test('a review stays with the turn that claimed it first', async () => {
  const thread = { workspace: 'T1', channel: 'C1', thread_ts: '1.000001' };
  const [one, two] = ['01a1fbfe-6e3a-7000-83e3-5e284a624414', '01a1fbfe-6e3a-7000-83e3-5e284a624415'];
  const review = 'review:msg_1';
  for (const id of [one, two]) await results.claim({ ...thread, id }, review, [{ id: review }]);
  const claim = { turn_id: one, batch: review, sha256: null, earlier_turn_ids: [] };
  expect((await results.ofThread(thread)).get(review)).toEqual({ ...claim, shown: false });
  await results.markPosted({ ...thread, id: one }, review);
  expect((await results.ofThread(thread)).get(review)).toEqual({ ...claim, shown: true });
});

test('an unchanged result that two turns claim at once is no update', async () => {
  const thread = { workspace: 'T1', channel: 'C1', thread_ts: '2.000001' };
  const turns = ['01a1fbfe-6e3a-7000-83e3-5e284a624414', '01a1fbfe-6e3a-7000-83e3-5e284a624415'];
  const found = Array.from({ length: 30 }, (_, at) => ({
    id: `res_${at}`,
    sizeBytes: 7,
    createdAt: new Date(1_700_000_000_000),
  }));
  for (const one of found) await Promise.all(turns.map((id) => results.claim({ ...thread, id }, '', [one])));
  const claims = await results.ofThread(thread);
  expect([...claims.values()].map((claim) => claim.earlier_turn_ids)).toEqual(found.map(() => []));
  const [later = ''] = turns;
  const rewritten = found.map((one) => ({ ...one, sizeBytes: 8 }));
  await results.claim({ ...thread, id: later }, 'later', rewritten);
  const updates = await results.ofThread(thread);
  const earlier = (claim: { turn_id: string } | undefined) => [claim?.turn_id];
  expect(found.map(({ id }) => updates.get(id)?.earlier_turn_ids)).toEqual(
    found.map(({ id }) => earlier(claims.get(id))),
  );
});
