import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { v7 as nextId } from 'uuid';
import { expect, test } from 'vitest';
import type { Message, Turn } from '../../../src/store/schema.ts';
import { Store } from '../../../src/store/store.ts';
import { hasSettled, isOver, PHASES } from '../../../src/store/threads/turn-phase.ts';
import type { TurnUpdate } from '../../../src/store/threads/turn-steps.ts';
import { freshDatabase } from '../../support/fresh-database.ts';

const { kysely } = await freshDatabase();
const store = new Store(kysely);
const place = { workspace: 'T1', channel: 'C1' };
const content = { prompt: 'a question', attached_file_ids: [] };
let seconds = 1_700_000_000;

async function waiting(thread_ts: string, ts: string): Promise<Message> {
  const row = { thread_ts, user_id: 'U1', content: { text: 'a question' }, edited_ts: null } as const;
  await store.messages.add({ ...place, ts }, { ...row, state: 'waiting' });
  const message = await store.messages.get({ ...place, ts });
  if (message === undefined) throw new Error('The message is not there.');
  return message;
}

/** The turn of a message in a thread of its own. */
async function begun(): Promise<{ turn: Turn; message: Message }> {
  seconds += 10;
  const ts = `${seconds}.000000`;
  await store.threads.adopt({ ...place, thread_ts: ts }, { account_id: 'a', user_id: 'U1', ts });
  const message = await waiting(ts, ts);
  return { turn: await store.turns.begin(nextId(), message), message };
}

const stop = ({ workspace, id }: Turn) => ({ workspace, turn_id: id, user_id: 'U2', ts: `${seconds}.5` });

async function stateOf(turn: Turn): Promise<unknown[]> {
  const message = await store.messages.get({ ...place, ts: turn.message_ts });
  const { participant_ids } = await store.threads.getOrThrow(turn);
  return [message?.state, participant_ids, (await store.turns.get('T1', turn.id))?.prompt];
}

test('freezing records the content, the message and its writer at once', async () => {
  const { turn, message } = await begun();
  expect(await store.turns.freeze(turn, message, content)).toMatchObject({ prompt: 'a question' });
  expect(await stateOf(turn)).toEqual(['sending', ['U1'], 'a question']);
});

test('a turn begins with the intent of its first reply, unless another turn passes it on', async () => {
  const { turn } = await begun();
  const intended = { part: 'reply:0', state: 'intended', ts: null, dedupe_key: `${turn.id}/reply:0` };
  expect([...(await store.posts.ofTurn(turn)).values()]).toMatchObject([intended]);
  const message = await waiting(turn.thread_ts, `${seconds + 1}.000000`);
  const passedOn = await store.turns.begin(nextId(), message, turn.id);
  expect((await store.posts.ofTurn(passedOn)).size).toBe(0);
});

test('freezing records the task that was started, unless the thread has one, and the intent to send', async () => {
  const { turn, message } = await begun();
  const intent = { title: 'a question', projectId: 'prj_1' };
  expect(await store.turns.record(turn, { skill: null }, { taskIntent: intent })).toMatchObject({
    id: turn.id,
  });
  expect((await store.threads.getOrThrow(turn)).task_intended_at).not.toBeNull();
  const sending = { ...content, send_intended_at: new Date() };
  const frozen = await store.turns.freeze(turn, message, sending, { startedTaskId: 'tsk_1' });
  expect(frozen?.send_intended_at).not.toBeNull();
  const task = { task_id: 'tsk_1', task_intended_at: null, task_title: 'a question' };
  expect(await store.threads.getOrThrow(turn)).toMatchObject(task);

  const other = await begun();
  await store.threads.bindTask(other.turn, 'tsk_other');
  await store.turns.freeze(other.turn, other.message, content, { startedTaskId: 'tsk_2' });
  expect((await store.threads.getOrThrow(other.turn)).task_id).toBe('tsk_other');
});

test('freezing writes nothing for a message that was edited or deleted, or that another one precedes', async () => {
  const edited = await begun();
  const words = { content: { text: 'other words' }, edited_ts: `${seconds}.1`, is_partial: false };
  await store.messages.updateContent(edited.message, words);
  expect(await store.turns.freeze(edited.turn, edited.message, content)).toBeUndefined();
  expect(await stateOf(edited.turn)).toEqual(['waiting', [], null]);

  const deleted = await begun();
  await store.messages.withdraw(deleted.message);
  expect(await store.turns.freeze(deleted.turn, deleted.message, content)).toBeUndefined();

  const late = await begun();
  const earlier = await waiting(late.turn.thread_ts, `${seconds - 1}.000000`);
  expect(await store.turns.freeze(late.turn, late.message, content)).toBeUndefined();
  expect(await stateOf(late.turn)).toEqual(['waiting', [], null]);
  expect(await store.turns.freeze(late.turn, late.message, content, { earlierTs: earlier.ts })).toBeDefined();
});

test('an earlier message that arrives after others which go along goes along in its place, a later one does not', async () => {
  seconds += 10;
  const ts = `${seconds}.000000`;
  const behind = (more: number) => waiting(ts, `${seconds + more}.000000`);
  const message = await waiting(ts, ts);
  const last = await behind(2);
  const turn = await store.turns.begin(nextId(), message);
  const tsOf = async () => (await store.messages.ofTurn(turn)).map((one) => one.ts);
  expect(await tsOf()).toEqual([message.ts, last.ts]);
  const middle = await behind(1);
  await behind(3);
  expect(await store.turns.freeze(turn, message, content, { others: [last] })).toBeUndefined();
  expect(await tsOf()).toEqual([message.ts, middle.ts, last.ts]);
  expect(await store.turns.freeze(turn, message, content, { others: [middle, last] })).toBeDefined();
});

test('what waited as a turn began goes along, to the microsecond', async () => {
  seconds += 10;
  const ts = `${seconds}.000000`;
  const at = (fraction: string) => `2026-01-01 00:00:00.${fraction}`;
  const received = (one: Message, fraction: string) =>
    sql`update messages set received_at = ${at(fraction)} where ts = ${one.ts}`.execute(kysely);
  const message = await waiting(ts, ts);
  const before = await waiting(ts, `${seconds + 1}.000000`);
  const after = await waiting(ts, `${seconds + 2}.000000`);
  await received(before, '123400');
  await received(after, '123600');
  const { id } = await store.turns.begin(nextId(), message);
  await sql`update turns set started_at = ${at('123500')} where id = ${id}`.execute(kysely);
  const turn = await store.turns.get('T1', id);
  if (turn === undefined) throw new Error('The turn is not there.');
  expect((await store.messages.ofTurn(turn)).map((one) => one.ts)).toEqual([message.ts, before.ts]);
});

test.each([
  ['freezing', async (turn: Turn, message: Message) => store.turns.freeze(turn, message, content)],
  ['the intent to send', async (turn: Turn) => store.turns.intendToSend(turn, { skill: null })],
])('%s waits for a stop that is being recorded, and then writes nothing', async (_, step) => {
  const { turn, message } = await begun();
  if (step.length === 1) await store.turns.record(turn, { prompt: 'a question' });
  const recorded = Promise.withResolvers<void>();
  const commit = Promise.withResolvers<void>();
  const stopping = store.transaction(async ({ stopRequests }) => {
    await stopRequests.record(stop(turn), 10);
    recorded.resolve();
    await commit.promise;
  });
  await recorded.promise;
  const outcome = step(turn, message);
  commit.resolve();
  await stopping;
  expect(await outcome).toBeUndefined();
  expect((await stateOf(turn))[0]).toBe('waiting');
});

test('freezing waits while somebody is erased whose instructions it quotes, and then writes nothing', async () => {
  const { turn, message } = await begun();
  const instructions = JSON.stringify({ encrypted: 'secret', set_by: 'U3', set_at: '2026-01-01T00:00:00Z' });
  await kysely
    .insertInto('settings')
    .values({ ...place, instructions, changed_by: 'U1' })
    .execute();
  const quoting = { ...content, instructions_set_by: 'U3', quoted_ids: ['U3'] };
  const [erasing, freezing] = await store.transaction(async ({ db: trx }) => {
    const waiters = async () => {
      await sql`select pg_stat_clear_snapshot()`.execute(trx);
      const { rows } = await sql<{ count: number }>`
        select count(*)::int as count from pg_locks join pg_stat_activity using (pid)
        where datname = current_database() and not granted`.execute(trx);
      return rows[0]?.count;
    };
    await sql`lock table feedback in exclusive mode`.execute(trx);
    const erased = store.personErasure.eraseUser('T1', 'U3');
    await expect.poll(waiters).toBe(1);
    const frozen = store.turns.freeze(turn, message, quoting);
    let isOver = false;
    const over = frozen.finally(() => {
      isOver = true;
    });
    await expect.poll(async () => isOver || (await waiters()) === 2).toBe(true);
    return [() => erased, () => over];
  });
  await erasing();
  expect(await freezing()).toBeUndefined();
  expect(await stateOf(turn)).toEqual(['waiting', [], null]);
});

test('each step takes a turn to its next phase, and its end says whether the service has its message', async () => {
  const { turn, message } = await begun();
  const phases = [turn.phase];
  const record = async (values: TurnUpdate) => phases.push((await store.turns.record(turn, values)).phase);
  await record({ first_visible_at: new Date() });
  phases.push((await store.turns.freeze(turn, message, content))?.phase ?? 'ended');
  phases.push((await store.turns.intendToSend(turn, { skill: null }))?.phase ?? 'ended');
  phases.push((await store.turns.recordSent(turn, { user_message_id: 'msg_1' })).phase);
  await record({ assistant_message_id: 'rep_1' });
  await record({ settled_at: new Date() });
  expect(phases).toEqual(PHASES);
  const ends = [{ turn }, await begun(), await begun()].map((one) => one.turn);
  if (ends[2] !== undefined) await store.turns.record(ends[2], { prompt: 'q', send_intended_at: new Date() });
  for (const one of ends) await store.turns.finish(one, 'completed');
  const ended = await Promise.all(ends.map(({ id }) => store.turns.get('T1', id)));
  expect(ended.map((one) => one?.phase)).toEqual(['ended', 'unsent', 'doubted']);
  expect(ended.every((one) => one !== undefined && isOver(one) && hasSettled(one))).toBe(true);
});

test.each<[string, TurnUpdate, TurnUpdate]>([
  ['sent', { user_message_id: 'msg_1' }, { prompt: 'another' }],
  ['settled', { user_message_id: 'msg_1', settled_at: new Date() }, { prompt: 'another' }],
  ['settled', { user_message_id: 'msg_1', settled_at: new Date() }, { user_message_id: 'msg_2' }],
])(
  'a turn that has been %s takes no earlier step, however late that is recorded',
  async (_, later, earlier) => {
    const { turn } = await begun();
    await store.turns.record(turn, later);
    await store.turns.record(turn, later);
    const before = await store.turns.get('T1', turn.id);
    await expect(store.turns.record(turn, earlier)).rejects.toThrow('further than this step');
    expect(await store.turns.get('T1', turn.id)).toEqual(before);
    await store.turns.finish(turn, 'completed');
    for (const step of [{ assistant_message_id: 'rep_1' }, { settled_at: new Date() }])
      await expect(store.turns.record(turn, step)).rejects.toThrow('further than this step');
  },
);

test('of a reply that has settled, the service may name another id', async () => {
  const { turn } = await begun();
  await store.turns.record(turn, { user_message_id: 'msg_1', assistant_message_id: 'rep_1' });
  await store.turns.record(turn, { settled_at: new Date() });
  const named = await store.turns.record(turn, { assistant_message_id: 'rep_2' });
  expect(named).toMatchObject({ assistant_message_id: 'rep_2', phase: 'finishing' });
});

test('a task has begun once a message was sent to it, also where retention has deleted its turns', async () => {
  const { turn, message } = await begun();
  await store.threads.bindTask(turn, 'tsk_begun');
  expect(await store.threads.hasOtherTurnSent(turn, 'tsk_begun')).toBe(false);
  await store.turns.freeze(turn, message, content);
  await store.turns.recordSent(turn, { user_message_id: 'msg_1', task_id: 'tsk_begun' });
  const next = await store.turns.begin(
    nextId(),
    await waiting(turn.thread_ts, `${seconds + 1}.000000`),
    turn.id,
  );
  expect(await store.threads.hasOtherTurnSent(next, 'tsk_begun')).toBe(true);
  expect(await store.threads.hasOtherTurnSent(next, 'tsk_2')).toBe(false);
  await kysely.deleteFrom('turns').where('id', '=', turn.id).execute();
  expect(await store.threads.hasOtherTurnSent(next, 'tsk_begun')).toBe(false);
  const daysAgo = sql<Date>`now() - interval '2 days'`;
  await kysely
    .updateTable('threads')
    .set({ task_started_at: daysAgo })
    .where('task_id', '=', 'tsk_begun')
    .execute();
  expect(await store.threads.hasOtherTurnSent(next, 'tsk_begun')).toBe(true);
});

test('the end records what the reply shows and when to look again, once', async () => {
  const { turn } = await begun();
  await store.posts.intend(turn, 'reply:0', 'key');
  const posts = [{ part: 'reply:0', ts: `${seconds}.700000` }];
  const last = { posts, firstCheckMs: 60_000 };
  expect(await store.turns.finish(turn, 'completed', last)).toBe(true);
  expect(await store.turns.finish(turn, 'failed')).toBe(false);
  expect(await store.turns.get('T1', turn.id)).toMatchObject({ outcome: 'completed' });
  expect((await store.posts.ofTurn(turn)).get('reply:0')).toMatchObject({ state: 'posted', ...posts[0] });
  const followUps = kysely.selectFrom('jobs').select('payload').where('thread_ts', '=', turn.thread_ts);
  const since = expect.any(String);
  expect(await followUps.execute()).toEqual([{ payload: { turn_id: turn.id, since } }]);
});

test('a turn that has paused its thread is not finished with the others', async () => {
  const { turn } = await begun();
  await waiting(turn.thread_ts, `${seconds + 1}.000000`);
  await store.pausedThreads.pause(turn);
  expect(await store.turns.finishUnlessPausing(turn, 'cancelled', {})).toBe(false);
  await store.pausedThreads.resume(turn, turn.id);
  expect(await store.turns.finishUnlessPausing(turn, 'cancelled', {})).toBe(true);
});

test('a turn ends with the job of its run, unless the job was asked for again or its thread has other work', async () => {
  const end = async (before: (turn: Turn) => Promise<unknown>) => {
    const { turn, message } = await begun();
    await store.turns.freeze(turn, message, content);
    const { workspace, channel, thread_ts } = turn;
    const wanted = { workspace, channel, thread_ts, kind: `turn ${thread_ts}`, key: '' };
    await store.jobs.want(wanted);
    const [job] = await store.jobs.claim([{ kind: wanted.kind, room: 1, share: 1 }], [], 30_000);
    if (job === undefined) throw new Error('The job is not due.');
    await before(turn);
    let isJobDone = false;
    const onJobDone = () => {
      isJobDone = true;
    };
    expect(await store.turns.finishUnlessPausing(turn, 'completed', { job, onJobDone })).toBe(true);
    return { isJobDone, isThere: (await store.jobs.get(wanted)) !== undefined };
  };
  expect(await end(async () => undefined)).toEqual({ isJobDone: true, isThere: false });
  const remains = { isJobDone: false, isThere: true };
  expect(await end((turn) => store.jobs.wake({ ...turn, kind: `turn ${turn.thread_ts}` }))).toEqual(remains);
  expect(await end((turn) => waiting(turn.thread_ts, `${seconds + 1}.000000`))).toEqual(remains);
  const passOn = async (turn: Turn) =>
    store.turns.begin(nextId(), await waiting(turn.thread_ts, `${seconds + 1}.000000`), turn.id);
  expect(await end(passOn)).toEqual(remains);
});

test('a turn is not finished while another process is about to pause its thread', async () => {
  const { turn } = await begun();
  await waiting(turn.thread_ts, `${seconds + 1}.000000`);
  const waitsForLock = () =>
    kysely
      .selectNoFrom(
        sql<boolean>`exists (select from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database()))`.as('waits'),
      )
      .executeTakeFirstOrThrow();
  const finishing = await store.transaction(async (within) => {
    await within.threads.lock(turn);
    await within.pausedThreads.pause(turn);
    const isFinished = store.turns.finishUnlessPausing(turn, 'cancelled', {});
    do await sleep(10);
    while (!(await waitsForLock()).waits);
    return { isFinished };
  });
  expect(await finishing.isFinished).toBe(false);
  expect((await store.turns.get('T1', turn.id))?.finished_at).toBeNull();
});

test('the steps before the end of a turn write into no index of the turns', async () => {
  const { turn, message } = await begun();
  const changed = await store.transaction(async (within) => {
    // What this connection has not reported yet counts, too.
    const count = async () => {
      const { rows } = await sql<{ all: number; inPlace: number }>`
        select pg_stat_get_xact_tuples_updated('turns'::regclass)::int as all,
          pg_stat_get_xact_tuples_hot_updated('turns'::regclass)::int as "inPlace"`.execute(within.db);
      return rows[0] ?? { all: 0, inPlace: 0 };
    };
    const before = await count();
    await within.turns.record(turn, { first_visible_at: new Date(), file_notes: [] });
    const frozen = await within.turns.freeze(turn, message, content);
    await within.turns.recordSent(frozen ?? turn, { user_message_id: 'msg_1', task_id: 'tsk_1' });
    const after = await count();
    return { all: after.all - before.all, inPlace: after.inPlace - before.inPlace };
  });
  expect(changed).toEqual({ all: 3, inPlace: 3 });
});
