import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { JOB_KIND } from '../../../src/store/jobs/jobs.ts';
import type { Message, MessageContent, Turn } from '../../../src/store/schema.ts';
import { Store } from '../../../src/store/store.ts';
import { taskIntentUpdate } from '../../../src/store/threads/threads.ts';
import { freshDatabase } from '../../support/fresh-database.ts';

const database = await freshDatabase();
const store = new Store(database.kysely);
let count = 0;

/** A thread of its own with so many messages, of which the first has its turn. */
async function begun(messages: number, workspace = 'T1'): Promise<Turn> {
  return store.turns.begin(crypto.randomUUID(), await firstOf(messages, workspace));
}

/** The first of so many messages that wait in a thread of their own. */
async function firstOf(messages: number, workspace = 'T1'): Promise<Message> {
  count += 1;
  const root = `${1_700_000_000 + count * 100}.000000`;
  const thread = { workspace, channel: 'C1', thread_ts: root };
  await store.threads.adopt(thread, { account_id: 'a', user_id: 'U1', ts: root });
  for (let at = 0; at < messages; at += 1) {
    const ts = `${1_700_000_000 + count * 100 + at}.000000`;
    const row = {
      thread_ts: root,
      user_id: 'U1',
      state: 'waiting',
      content: { text: 'hi' },
      edited_ts: null,
    } as const;
    await store.messages.add({ workspace, channel: 'C1', ts }, row);
  }
  const first = await store.messages.nextWaiting(thread);
  if (first === undefined) throw new Error('Nothing waits.');
  return first;
}

const ask = (turn: Turn, person: string, seconds: number) =>
  store.stopRequests.record(
    { workspace: turn.workspace, turn_id: turn.id, user_id: person, ts: `${1_800_000_000 + seconds}.000000` },
    10,
  );

test('a stop is requested once, and forced by a request ten seconds later; all others wait', async () => {
  const turn = await begun(1);
  expect((await ask(turn, 'U1', 0))?.kind).toBe('asked');
  expect((await ask(turn, 'U1', 0))?.kind).toBe('same');
  for (const seconds of [-1, 0, 9]) expect((await ask(turn, 'U2', seconds))?.kind).toBe('already_asked');
  const forced = await ask(turn, 'U2', 10);
  expect(forced).toMatchObject({ kind: 'forced', turn: { stop_requested_by: 'U1' } });
  expect((await ask(turn, 'U3', 30))?.kind).toBe('already_asked');
  expect((await store.stopRequests.unsettled(10)).map(({ id }) => id)).toContain(turn.id);
  await store.turns.finish(turn, 'cancelled');
  expect(await ask(turn, 'U1', 40)).toBeUndefined();
  expect((await store.stopRequests.unsettled(10)).map(({ id }) => id)).not.toContain(turn.id);
});

test('a turn that a stop begins keeps its job, whose run found nothing to do meanwhile', async () => {
  const message = await firstOf(2);
  const { workspace, channel, thread_ts } = message;
  const key = { workspace, kind: JOB_KIND.turn, channel, thread_ts, key: '' };
  await store.jobs.want(key);
  const [run] = await store.jobs.claim([{ kind: JOB_KIND.turn, room: 1, share: 9 }], [], 30_000);
  if (run === undefined) throw new Error('No job is due.');
  expect(run).toMatchObject(key);
  const turn = await store.turns.beginOnce(crypto.randomUUID(), message);
  await store.jobs.done(run, false);
  expect(await store.turns.open(message)).toEqual(turn);
  expect(await store.jobs.get(key)).toMatchObject({ claim_id: null, done_at: null });
});

test('stops that never settle hide neither those of other workspaces nor new ones of their own', async () => {
  const old = [];
  for (let at = 0; at < 6; at += 1) old.push(await begun(1, 'T2'));
  for (const turn of old) {
    await ask(turn, 'U1', 0);
    await store.stopRequests.markSent(turn, 'graceful');
  }
  const departed = await begun(1, 'T4');
  const newest = [await begun(1, 'T2'), await begun(1, 'T3')];
  for (const turn of [departed, ...newest]) await ask(turn, 'U1', 0);
  await store.workspaces.put({ workspace: 'T4', name: 'Four', bot_user_id: 'U4', bot_id: 'B4' });
  await database.kysely
    .updateTable('workspaces')
    .set({ uninstalled_at: new Date() })
    .where('workspace', '=', 'T4')
    .execute();
  const seen = (await store.stopRequests.unsettled(2)).map(({ id }) => id);
  expect(seen.sort()).toEqual(newest.map(({ id }) => id).sort());
});

test('messages that wait behind a stopped turn are paused, except retries, and cause no work', async () => {
  const turn = await begun(3);
  await store.pausedThreads.pause(turn);
  await store.turns.finish(turn, 'cancelled');
  await store.messages.leaveUnsent({ ...turn, ts: turn.message_ts }, 'closed');
  expect(await store.pausedThreads.pausedBy(turn)).toBe(turn.id);
  expect(await store.pausedThreads.waitingMessages(turn)).toHaveLength(2);
  expect(await store.messages.nextWaiting(turn)).toBeUndefined();
  const again = {
    thread_ts: turn.thread_ts,
    user_id: 'U1',
    state: 'waiting',
    content: { text: 'hi' },
    edited_ts: null,
  } as const;
  const ts = `${Number(turn.thread_ts) + 50}.000000`;
  await store.messages.add({ workspace: 'T1', channel: 'C1', ts }, { ...again, resends_turn_id: turn.id });
  expect((await store.messages.nextWaiting(turn))?.ts).toBe(ts);
  expect(await store.pausedThreads.resume(turn, crypto.randomUUID())).toBe(false);
  expect(await store.pausedThreads.resume(turn, turn.id)).toBe(true);
  expect(await store.pausedThreads.resume(turn, turn.id)).toBe(false);
  expect((await store.messages.nextWaiting(turn))?.ts).not.toBe(ts);
});

test('paused messages that nobody resumes are withdrawn when text is erased, and the thread resumes', async () => {
  const turn = await begun(2);
  await store.pausedThreads.pause(turn);
  await store.turns.finish(turn, 'cancelled');
  await store.messages.leaveUnsent({ ...turn, ts: turn.message_ts }, 'closed');
  const days = { words: 7, rows: 90, audit: 365, uninstalled: 30 };
  await store.retention.deleteExpired(days);
  expect(await store.pausedThreads.waitingMessages(turn)).toHaveLength(1);
  await database.kysely
    .updateTable('messages')
    .set({ received_at: sql<Date>`now() - interval '8 days'` })
    .where('thread_ts', '=', turn.thread_ts)
    .execute();
  await store.retention.deleteExpired(days);
  expect(await store.pausedThreads.waitingMessages(turn)).toHaveLength(0);
  expect(await store.pausedThreads.pausedBy(turn)).toBeUndefined();
});

test('a thread without waiting messages is not paused', async () => {
  const turn = await begun(1);
  await store.pausedThreads.pause(turn);
  expect(await store.pausedThreads.pausedBy(turn)).toBeUndefined();
});

test('one turn posts the introduction in a channel, also when it asks again', async () => {
  const [one, other] = [await begun(1), await begun(1)];
  const claim = (turn: Turn) => store.channels.claimNotice(turn, 'introduction');
  expect([await claim(one), await claim(other), await claim(one)]).toEqual([true, false, true]);
});

test('a comment is erased with the text, its rating with the rows', async () => {
  const turn = await begun(1);
  const key = { workspace: 'T1', turn_id: turn.id, user_id: 'U1' };
  expect(await store.feedback.addComment(key, 'too early')).toBe(false);
  await store.feedback.rate(key, true);
  await store.feedback.addComment(key, 'very good');
  const age = (days: number) =>
    database.kysely
      .updateTable('feedback')
      .set({ given_at: sql<Date>`now() - ${days} * interval '1 day'` })
      .where('turn_id', '=', turn.id)
      .execute();
  await age(8);
  await store.retention.deleteExpired({ words: 7, rows: 90, audit: 365, uninstalled: 30 });
  expect(await store.feedback.get(key)).toMatchObject({ is_positive: true, comment: null });
  await age(91);
  await store.retention.deleteExpired({ words: 7, rows: 90, audit: 365, uninstalled: 30 });
  expect(await store.feedback.get(key)).toBeUndefined();
});

test('a former task of a thread still counts among those of its person', async () => {
  const turn = await begun(1);
  await store.threads.bindTask(turn, 'task-old');
  await store.threads.leaveTask(turn, 'task-other');
  expect((await store.threads.getOrThrow(turn)).task_id).toBe('task-old');
  await store.threads.leaveTask(turn, 'task-old');
  await store.threads.bindTask(turn, 'task-new');
  const tasks = (await store.tasks.joinedBy('T1', 'U1')).map(({ task_id }) => task_id);
  expect(tasks.filter((task) => /^task-(?:old|new)$/.test(task))).toEqual(['task-old', 'task-new']);
});

test('what was said in a former task is kept from another account, from a missing project and after a deletion', async () => {
  const thread = async (turn: Turn) => store.threads.getOrThrow(turn);
  for (const leave of [
    async (turn: Turn) => store.threads.moveToAccount(await thread(turn), 'another'),
    async (turn: Turn) => store.threads.leaveProject(turn, 'prj'),
    async (turn: Turn) => {
      await store.turns.finish(turn, 'completed');
      await store.threads.bindTask(turn, `${turn.id} again`);
      await store.taskDeletions.request(turn, `${turn.id} again`, 'U1');
    },
  ]) {
    const turn = await begun(1);
    await store.threads.bindProject(turn, 'prj');
    await store.threads.bindTask(turn, turn.id);
    await store.turns.record(turn, { prompt: 'the words' });
    await store.turns.recordSent(turn, { user_message_id: 'msg', task_id: turn.id });
    await store.threads.leaveTask(turn, turn.id);
    const said = async () => store.messages.saidInFormerTasks(await thread(turn), 'next');
    expect(await said()).toMatchObject([{ ts: turn.message_ts, person: 'U1' }]);
    await leave(turn);
    expect(await said()).toEqual([]);
  }
});

test("a person's text that others sent again is erased with that person", async () => {
  const first = await begun(1);
  await store.turns.finish(first, 'refused');
  const place = { workspace: 'T1', channel: 'C1', thread_ts: first.thread_ts };
  let at = 60;
  /** Somebody sends the question of a turn again, or asks it again. */
  const repeated = async (
    person: string,
    more: { resends_turn_id: string } | { revises_turn_id: string },
  ) => {
    at += 1;
    const key = { workspace: 'T1', channel: 'C1', ts: `${Number(first.thread_ts) + at}.000000` };
    const row = {
      thread_ts: first.thread_ts,
      user_id: person,
      content: { text: 'hi' },
      edited_ts: null,
      ...more,
    } as const;
    await store.messages.add(key, { ...row, state: 'sending' });
    const message = await store.messages.get(key);
    if (message === undefined) throw new Error('It is not there.');
    const turn = await store.turns.begin(crypto.randomUUID(), message);
    await store.turns.record(turn, { prompt: 'hi', attached_file_ids: [], file_notes: [] });
    await store.turns.finish(turn, 'failed');
    return { key, turn };
  };
  const second = await repeated('U2', { revises_turn_id: first.id });
  const third = await repeated('U3', { resends_turn_id: second.turn.id });
  const own = {
    thread_ts: first.thread_ts,
    user_id: 'U2',
    content: { text: 'of my own' },
    edited_ts: null,
  } as const;
  const ownKey = { workspace: 'T1', channel: 'C1', ts: `${Number(first.thread_ts) + 99}.000000` };
  await store.messages.add(ownKey, { ...own, state: 'waiting' });
  const form = { workspace: 'T1', id: crypto.randomUUID() };
  const draft = {
    user_id: 'U4',
    channel: 'C1',
    thread_ts: first.thread_ts,
    message_ts: ownKey.ts,
    source_content: { text: 'hi' },
  };
  await store.taskStarts.saveDraft({ ...form, ...draft, source_turn_id: third.turn.id });
  await store.personErasure.eraseUser('T1', 'U1');
  for (const { key, turn } of [second, third]) {
    expect(await store.messages.get(key)).toMatchObject({
      content: null,
      user_id: expect.stringMatching(/^U[23]$/),
    });
    expect(await store.turns.get('T1', turn.id)).toMatchObject({ prompt: null, file_notes: null });
  }
  expect(await store.taskStarts.get(form)).toBeUndefined();
  expect(await store.messages.get(ownKey)).toMatchObject({
    state: 'waiting',
    content: { text: 'of my own' },
  });
  expect(await store.messages.nextWaiting(place)).toMatchObject({ ts: ownKey.ts });
});

test("a person's text that others quoted is erased with that person", async () => {
  const place = { workspace: 'T1', channel: 'C7', thread_ts: '1600000000.000000' };
  const key = { workspace: 'T1', channel: 'C7', ts: '1600000010.000000' };
  /** Somebody begins a thread in the middle of a conversation, by such a message. */
  const quoting = async (channel: string, words: MessageContent, quoted: string) => {
    const thread = { ...place, channel };
    await store.threads.adopt(thread, { account_id: 'a', user_id: 'U8', ts: key.ts });
    await taskIntentUpdate(thread, { projectId: 'prj', title: 'their words' }).execute(store.db);
    await store.threads.bindTask(thread, `task of ${channel}`);
    const row = {
      thread_ts: place.thread_ts,
      user_id: 'U8',
      state: 'sent',
      content: words,
      edited_ts: null,
    } as const;
    await store.messages.add({ ...key, channel }, row);
    const message = await store.messages.get({ ...key, channel });
    if (message === undefined) throw new Error('It is not there.');
    const turn = await store.turns.begin(crypto.randomUUID(), message);
    await store.turns.record(turn, { prompt: 'their words', quoted_ids: [quoted] });
    return async () => ({
      content: (await store.turns.get('T1', turn.id))?.prompt,
      title: (await store.threads.getOrThrow(turn)).task_title,
    });
  };
  const about = await quoting('C7', { text: '', about: { user: 'U9', text: 'their words' } }, 'U9');
  const readBack = await quoting('C8', { text: 'sum it up' }, 'U9');
  const others = await quoting('C9', { text: 'hm', about: { user: 'U7', text: 'of others' } }, 'U7');
  await store.personErasure.eraseUser('T1', 'U9');
  expect(await about()).toEqual({ content: null, title: null });
  expect(await readBack()).toEqual({ content: null, title: 'their words' });
  expect(await others()).toEqual({ content: 'their words', title: 'their words' });
});

test('Try again can be pressed again if its message is not sent', async () => {
  const [turn, other] = [await begun(1), await begun(1)];
  const press = `${Number(turn.thread_ts) + 51}.000000`;
  const row = { thread_ts: turn.thread_ts, user_id: 'U1', content: { text: 'hi' }, edited_ts: null } as const;
  const key = { workspace: 'T1', channel: 'C1', ts: press };
  await store.messages.add(key, { ...row, state: 'waiting', resends_turn_id: turn.id });
  const message = await store.messages.get(key);
  if (message === undefined) throw new Error('It is not there.');
  for (const { id } of [turn, other])
    await store.turns.claimButton({ workspace: 'T1', id }, 'button_message_ts', press);
  const sources = 'sources_message_ts';
  expect(await store.turns.claimButton(turn, sources, press)).toBe(true);
  expect(await store.turns.claimButton(turn, sources, press)).toBe(false);
  await store.turns.releaseButton(message);
  expect((await store.turns.get('T1', turn.id))?.sources_message_ts).toBeNull();
  expect((await store.turns.get('T1', turn.id))?.button_message_ts).toBeNull();
  expect((await store.turns.get('T1', other.id))?.button_message_ts).not.toBeNull();
});

test('a new message resumes a thread only if nothing else waits', async () => {
  const turn = await begun(3);
  await store.pausedThreads.pause(turn);
  await store.turns.finish(turn, 'cancelled');
  await store.messages.leaveUnsent({ ...turn, ts: turn.message_ts }, 'closed');
  const [second, third] = await store.pausedThreads.waitingMessages(turn);
  if (second === undefined || third === undefined) throw new Error('Two wait.');
  // The second came late, after the third: that was held already.
  expect(await store.pausedThreads.resumeIfNothingElseWaits(turn, turn.id, second.ts)).toBe(false);
  expect(await store.pausedThreads.pausedBy(turn)).toBe(turn.id);
  await store.messages.withdraw(third);
  expect(await store.pausedThreads.resumeIfNothingElseWaits(turn, turn.id, second.ts)).toBe(true);
  expect(await store.pausedThreads.pausedBy(turn)).toBeUndefined();
});

test('files kept for a message are sent with it although its first turn was deleted', async () => {
  const kept = await begun(2);
  await store.turns.record(kept, { attached_file_ids: ['file-1'] });
  await store.turns.finish(kept, 'kept');
  await store.messages.leaveUnsent({ ...kept, ts: kept.message_ts }, 'closed');
  const next = await store.messages.nextWaiting(kept);
  if (next === undefined) throw new Error('Nothing waits.');
  for (const _ of ['passed on', 'of its own']) {
    const turn = await store.turns.begin(crypto.randomUUID(), next);
    expect(await store.keptFiles.take(turn)).toMatchObject([{ attached_file_ids: ['file-1'] }]);
    await store.turns.delete(turn);
  }
});
