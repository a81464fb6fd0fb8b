import { sql } from 'kysely';
import { v7 as nextId } from 'uuid';
import { describe, expect, test } from 'vitest';
import type { Message } from '../../../src/store/schema.ts';
import { Store } from '../../../src/store/store.ts';
import { taskIntentUpdate } from '../../../src/store/threads/threads.ts';
import { freshDatabase } from '../../support/fresh-database.ts';

const { kysely } = await freshDatabase();
const store = new Store(kysely);
const keep = { words: 7, rows: 90, audit: 365, uninstalled: 30 };
let seconds = 1_700_000_000;

/** A message of so many days ago in a thread of its own, with its turn, which is finished unless the message waits. */
async function message(days: number, state: Message['state']) {
  seconds += 1;
  const ts = `${seconds}.000100`;
  const key = { workspace: 'T1', channel: 'C1', ts };
  const thread = { workspace: 'T1', channel: 'C1', thread_ts: ts };
  await store.threads.adopt(thread, { account_id: 'settings', user_id: 'U1', ts });
  await taskIntentUpdate(thread, {
    projectId: 'prj_1',
    title: 'secret title',
    model: 'secret model',
  }).execute(store.db);
  await store.messages.add(key, {
    thread_ts: ts,
    user_id: 'U1',
    state,
    content: { text: 'secret words' },
    edited_ts: null,
  });
  const row = await store.messages.get(key);
  if (row === undefined) throw new Error('the message was not written');
  const turn = await store.turns.begin(nextId(), row);
  await store.posts.intend(turn, 'reply:0', `${turn.id}/reply:0`);
  const file_notes = [{ name: 'secret.csv', reason: null }];
  await store.turns.record(turn, {
    prompt: 'secret words',
    attached_file_ids: ['file-1'],
    file_notes,
    skill: 'secret skill',
  });
  if (state !== 'waiting') await store.turns.finish(turn, 'completed');
  const ago = sql<Date>`now() - ${days} * interval '1 day'`;
  await kysely.updateTable('messages').set({ received_at: ago }).where('ts', '=', ts).execute();
  await kysely.updateTable('threads').set({ last_used_at: ago }).where('thread_ts', '=', ts).execute();
  await kysely
    .updateTable('turns')
    .set({ finished_at: sql<Date>`case when finished_at is null then null else ${ago} end` })
    .where('id', '=', turn.id)
    .execute();
  return {
    key: thread,
    message: () => store.messages.get(key),
    thread: () => store.threads.getOrThrow(thread),
    id: turn.id,
    turn: () => store.turns.get('T1', turn.id),
    posts: async () => (await store.posts.ofTurn(turn)).size,
  };
}

describe('retention', () => {
  test("people's text is erased after its days, and the rows stay", async () => {
    const fresh = await message(6, 'sent');
    const old = await message(8, 'sent');
    await store.retention.deleteExpired(keep);
    expect((await fresh.message())?.content).toEqual({ text: 'secret words' });
    expect((await fresh.turn())?.prompt).toBe('secret words');
    expect((await old.message())?.content).toBeNull();
    expect((await old.turn())?.prompt).toBeNull();
    expect(await old.posts()).toBe(1);
  });

  test('the messages of a turn that is not over stay whole, however long ago they were sent', async () => {
    const old = await message(91, 'waiting');
    const joined = await message(91, 'sent');
    const { thread_ts: ts } = old.key;
    await kysely.updateTable('messages').set({ state: 'sent' }).where('ts', '=', ts).execute();
    await kysely
      .updateTable('messages')
      .set({ sent_with_ts: ts })
      .where('ts', '=', joined.key.thread_ts)
      .execute();
    await store.retention.deleteExpired(keep);
    for (const one of [old, joined]) expect((await one.message())?.content).toEqual({ text: 'secret words' });
    await store.turns.finish({ ...old.key, id: old.id }, 'completed');
    await store.retention.deleteExpired(keep);
    expect([await old.message(), await joined.message()]).toEqual([undefined, undefined]);
  });

  test('file names, titles and unaccepted models and skills are erased with the text', async () => {
    const fresh = await message(6, 'sent');
    const refused = await message(8, 'closed');
    const sent = await message(8, 'sent');
    await store.threads.bindTask(sent.key, 'task-1');
    await store.turns.record({ ...sent.key, id: sent.id }, { user_message_id: 'message-1' });
    await store.retention.deleteExpired(keep);
    expect(await fresh.thread()).toMatchObject({ task_title: 'secret title', task_model: 'secret model' });
    expect(await fresh.turn()).toMatchObject({ file_notes: [{ name: 'secret.csv' }], skill: 'secret skill' });
    expect(await refused.thread()).toMatchObject({ task_title: null, task_model: null });
    expect(await refused.turn()).toMatchObject({ file_notes: null, skill: null });
    expect(await sent.thread()).toMatchObject({
      task_id: 'task-1',
      task_title: null,
      task_model: 'secret model',
    });
    expect(await sent.turn()).toMatchObject({
      attached_file_ids: ['file-1'],
      file_notes: null,
      skill: 'secret skill',
    });
  });

  test('files that wait for the next message keep their links until they are sent', async () => {
    const file = await message(8, 'closed');
    const note = { reason: 'external', link: 'https://drive.example/1' };
    await store.turns.record(
      { ...file.key, id: file.id },
      { file_notes: [{ name: 'secret', remark: 'secret', ...note }] },
    );
    const kept = { outcome: 'kept' as const };
    await kysely.updateTable('turns').set(kept).where('id', '=', file.id).execute();
    await store.retention.deleteExpired(keep);
    expect(await file.turn()).toMatchObject({ prompt: null, file_notes: [{ name: '', ...note }] });
    expect(JSON.stringify(await file.turn())).not.toContain('"remark"');
    expect(await store.retention.deleteExpired(keep)).toBe(0);
    await kysely
      .updateTable('turns')
      .set({ files_sent_with_turn_id: nextId() })
      .where('id', '=', file.id)
      .execute();
    await store.retention.deleteExpired(keep);
    expect((await file.turn())?.file_notes).toBeNull();
  });

  test('unfinished work is kept, however old', async () => {
    const waiting = await message(400, 'waiting');
    await store.retention.deleteExpired(keep);
    expect((await waiting.thread()).task_title).toBe('secret title');
    expect((await waiting.turn())?.file_notes).toHaveLength(1);
    expect((await waiting.message())?.content).toEqual({ text: 'secret words' });
    expect((await waiting.turn())?.prompt).toBe('secret words');
  });

  test('rows are deleted after their days', async () => {
    const old = await message(91, 'sent');
    await store.retention.deleteExpired(keep);
    expect([await old.message(), await old.turn(), await old.posts()]).toEqual([undefined, undefined, 0]);
  });

  test('a thread that nobody has used is deleted after the days of the audit trail, with what it shows', async () => {
    const days = [364, 366, 400];
    const [used, unused, waiting] = await Promise.all(
      days.map(async (age) => {
        const one = await message(age, age === 400 ? 'waiting' : 'sent');
        const turn = await one.turn();
        if (turn === undefined) throw new Error('the turn was not written');
        await store.threads.bindTask(one.key, `task-${age}`);
        await store.results.claim(turn, '', [{ id: 'result-1' }]);
        const isThere = async () => (await store.threads.get(one.key)) !== undefined;
        return { isThere, shown: async () => (await store.results.ofThread(one.key)).size };
      }),
    );
    await store.retention.deleteExpired(keep);
    for (const one of [used, waiting]) expect([await one?.isThere(), await one?.shown()]).toEqual([true, 1]);
    expect([await unused?.isThere(), await unused?.shown()]).toEqual([false, 0]);
  });

  test('a thread stays as long as the rows of its messages, whatever the audit trail', async () => {
    const one = await message(50, 'sent');
    await store.retention.deleteExpired({ ...keep, audit: 1 });
    expect((await one.thread()).task_title).toBeNull();
  });

  test('a thread whose message arrives meanwhile stays', async () => {
    const one = await message(500, 'sent');
    const { workspace, channel, thread_ts } = one.key;
    await store.transaction(async (other) => {
      await other.threads.lock(one.key);
      await store.retention.deleteExpired(keep);
      const ts = (Number(thread_ts) + 1).toFixed(6);
      const reply = { thread_ts, user_id: 'U1', state: 'waiting', content: null, edited_ts: null } as const;
      await other.messages.add({ workspace, channel, ts }, reply);
    });
    await store.retention.deleteExpired(keep);
    expect(await one.thread()).toBeDefined();
  });

  test('which files the service has is forgotten after the days of the audit trail, and an abandoned upload after seven', async () => {
    await sql`
      insert into uploads (workspace, slack_file_id, project_id, file_id, size_bytes, started_at, uploaded_at)
      select 'T1', 'F' || days, 'prj_1', 'file-1', 1, now() - days * interval '1 day', case when days > 8 then now() end
      from unnest(array[6, 8, 364, 366]) as days`.execute(kysely);
    await store.retention.deleteExpired(keep);
    const left = await sql`select slack_file_id from uploads order by 1`.execute(kysely);
    expect(left.rows).toEqual([{ slack_file_id: 'F364' }, { slack_file_id: 'F6' }]);
  });

  test('one odd row keeps no other from being erased', async () => {
    const [odd, plain] = [await message(8, 'sent'), await message(8, 'sent')];
    await sql`
      update turns set outcome = 'kept', file_notes = '{"name": "secret.csv"}' where id = ${odd.id}`.execute(
      kysely,
    );
    await store.retention.deleteExpired(keep);
    for (const one of [odd, plain])
      expect(await one.turn()).toMatchObject({ prompt: null, file_notes: null });
  });

  test('a step that fails is named, and keeps no other from its work, nor does a workspace', async () => {
    await sql`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
      create trigger refuse before delete on uploads for each row execute function refuse();
      create trigger refuse before delete on settings for each row when (old.workspace = 'T7') execute function refuse();
      insert into uploads (workspace, slack_file_id, project_id, claimed_by, started_at)
      select 'T1', 'F1', 'prj_1', gen_random_uuid(), now() - interval '8 days'`.execute(kysely);
    for (const workspace of ['T7', 'T8']) {
      await store.workspaces.put({ workspace, name: 'gone', bot_user_id: 'U1', bot_id: 'B1' });
      await store.settings.set(workspace, 'C1', 'U1', { listen_mode: 'everything' });
    }
    const then = sql<Date>`now() - interval '31 days'`;
    await kysely.updateTable('workspaces').set({ uninstalled_at: then }).execute();
    const old = await message(8, 'sent');
    const failed: string[] = [];
    const isLeft = async () => (await store.settings.get('T8', 'C1')).listen_mode !== null;
    for (let sweep = 0; sweep < 60 && (await isLeft()); sweep += 1)
      await store.retention.deleteExpired(keep, { onFailed: (step) => failed.push(step) });
    expect(await isLeft()).toBe(false);
    expect((await old.message())?.content).toBeNull();
    expect(new Set(failed)).toContain('abandoned_uploads');
    await sql`drop function refuse cascade; truncate uploads`.execute(kysely);
  });

  test('rate limits that nobody used for a day are deleted, because channels come and go', async () => {
    for (const limit_key of ['old', 'blocked', 'fresh'])
      await store.db
        .insertInto('rate_limits')
        .values({ workspace: 'T1', limit_key, theoretical_arrival_at: new Date() })
        .execute();
    const ago = sql<Date>`now() - interval '25 hours'`;
    const limits = store.db.updateTable('rate_limits');
    await limits.set({ theoretical_arrival_at: ago }).where('limit_key', '!=', 'fresh').execute();
    await limits.set({ blocked_until: new Date() }).where('limit_key', '=', 'blocked').execute();
    await store.retention.deleteExpired(keep);
    const left = await store.db.selectFrom('rate_limits').select('limit_key').orderBy('limit_key').execute();
    expect(left).toEqual([{ limit_key: 'blocked' }, { limit_key: 'fresh' }]);
  });

  test('all that is due is deleted in one call, in batches, unless the process stops', async () => {
    await sql`
      insert into orphan_replies (workspace, channel, thread_ts, ts, received_at)
      select 'T2', 'C1', 1600000000, number, now() - interval '1 hour' from generate_series(1, 2500) as number`.execute(
      kysely,
    );
    const stopping = AbortSignal.abort();
    expect(await store.retention.deleteExpired(keep, { signal: stopping })).toBe(0);
    expect(await store.retention.deleteExpired(keep)).toBe(2_500);
  });

  test('orphan replies are deleted after ten minutes', async () => {
    const thread = { workspace: 'T1', channel: 'C1', thread_ts: '1600000000.000100' };
    await store.orphanReplies.add(thread, '1600000001.000100');
    await store.orphanReplies.add(thread, '1600000002.000100');
    await sql`update orphan_replies set received_at = now() - interval '11 minutes' where ts = 1600000001.0001`.execute(
      kysely,
    );
    await store.retention.deleteExpired(keep);
    expect(await store.orphanReplies.after(thread, thread.thread_ts)).toEqual(['1600000002.000100']);
  });
});
