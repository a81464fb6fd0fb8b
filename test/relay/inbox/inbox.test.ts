import { Kysely, PostgresDialect } from 'kysely';
import { describe, expect, test } from 'vitest';
import { Inbox, type InboxDeps } from '../../../src/relay/inbox/inbox.ts';
import type { InboxEvent, IncomingMessage } from '../../../src/relay/runtime/incoming-message.ts';
import { JOB_KIND } from '../../../src/store/jobs/jobs.ts';
import { ofMessage } from '../../../src/store/queries.ts';
import type { Tables } from '../../../src/store/schema.ts';
import { Store } from '../../../src/store/store.ts';
import { InboxWriter } from '../../../src/store/threads/inbox.ts';
import { EVERYWHERE } from '../../support/answer-limits.ts';
import { freshDatabase } from '../../support/fresh-database.ts';

const database = await freshDatabase();
const store = new Store(database.kysely);
const deps = {
  settings: { listenMode: 'conversation', answers: EVERYWHERE, lookupMs: 1_500, stopWords: [] },
  workspace: () => undefined,
  rowsKeptDays: Number.POSITIVE_INFINITY,
  store,
  recordJob: (write) => write(undefined),
  onStopMessage: async () => 'nothing',
  accountOf: () => 'settings',
} satisfies InboxDeps;
const inbox = new Inbox(deps);
const bot = { userId: 'UBOT' };
let seconds = 1_700_000_000;

/** The job of the thread's turns. */
const turnJob = (thread_ts: string) =>
  store.jobs.get({ workspace: 'T1', kind: JOB_KIND.turn, channel: 'C1', thread_ts, key: '' });

/** A ts of its own, later than all before. */
function ts(): string {
  seconds += 1;
  return `${seconds}.000100`;
}

function message(text: string, fields: Partial<IncomingMessage> = {}): IncomingMessage {
  const at = fields.ts ?? ts();
  return {
    workspace: 'T1',
    channel: 'C1',
    ts: at,
    thread_ts: at,
    person: 'U1',
    content: { text },
    ...fields,
  };
}

const accept = (arrival: InboxEvent) => inbox.accept(arrival, bot);
const say = (one: IncomingMessage) => accept({ kind: 'message', message: one });
const edit = (one: IncomingMessage, text: string, before?: string) =>
  accept({
    kind: 'edit',
    message: { ...one, content: { text } },
    editedTs: ts(),
    ...(before !== undefined && { before: { text: before } }),
  });
const remove = ({ workspace, channel, ts: at, thread_ts, person }: IncomingMessage) =>
  accept({ kind: 'deletion', workspace, channel, ts: at, thread_ts, person });
const keyOf = ({ workspace, channel, ts: at }: IncomingMessage) => ({ workspace, channel, ts: at });
const change = (text: string, edited_ts: string) => ({
  is_deletion: false,
  content: { text: `<@UBOT> ${text}` },
  edited_ts,
});
const row = ({ workspace, channel, ts: at }: IncomingMessage) =>
  store.messages.get({ workspace, channel, ts: at });

describe('the inbox', () => {
  test('accepts a mention once, whichever copy comes first', async () => {
    const mention = message('<@UBOT> hi');
    expect((await say(mention)).kind).toBe('admitted');
    expect((await say({ ...mention })).kind).toBe('known');
    expect(await turnJob(mention.thread_ts)).toMatchObject({ version: 1 });
  });

  test('asks the database about one copy of a mention, and about the other one if that failed', async () => {
    const written: string[] = [];
    class CountedAdmissions extends InboxWriter {
      override async write(one: Parameters<InboxWriter['write']>[0]): ReturnType<InboxWriter['write']> {
        written.push(one.ts);
        if (written.length === 1) throw new Error('no room');
        return super.write(one);
      }
    }
    class CountedStore extends Store {
      override readonly inbox = new CountedAdmissions(database.kysely);
    }
    const counted = new Inbox({ ...deps, store: new CountedStore(database.kysely) });
    const mention = message('<@UBOT> hi');
    const copies = [1, 2, 3].map(() => counted.accept({ kind: 'message', message: { ...mention } }, bot));
    const outcomes = await Promise.allSettled(copies);
    expect(outcomes).toMatchObject([
      { status: 'rejected' },
      { value: { kind: 'admitted' } },
      { value: { kind: 'known' } },
    ]);
    expect(written).toEqual([mention.ts, mention.ts]);
  });

  test('writes a mention once whose app_mention, which may lack files, came just before its message', async () => {
    const written: (boolean | undefined)[] = [];
    const counted = new Inbox({
      ...deps,
      recordJob: async (write) => {
        const recorded = await write(undefined);
        written.push((await row(mention))?.is_partial);
        return recorded;
      },
    });
    const mention = message('<@UBOT> hi');
    const copies = [{ ...mention, isMention: true }, mention];
    const accepted = copies.map((copy) => counted.accept({ kind: 'message', message: copy }, bot));
    expect((await Promise.all(accepted)).map(({ kind }) => kind)).toEqual(['known', 'admitted']);
    expect(written).toEqual([false]);
  });

  test('writes a mention in one statement, unless people have set where the bot answers', async () => {
    let statements = 0;
    const dialect = new PostgresDialect({ pool: database.pool });
    const log = () => {
      statements += 1;
    };
    const counted = new Inbox({ ...deps, store: new Store(new Kysely<Tables>({ dialect, log })) });
    const ask = async (channel: string) => {
      statements = 0;
      const mention = message('<@UBOT> hi', { channel });
      const { kind } = await counted.accept({ kind: 'message', message: mention }, bot);
      return { kind, statements, isWritten: (await row(mention)) !== undefined };
    };
    await store.settings.set('T1', 'Cunlimited', 'U1', { show_steps: false });
    await store.settings.set('T1', 'Cclosed', 'U1', { answers_here: 'off' });
    expect(await ask('Cunlimited')).toEqual({ kind: 'admitted', statements: 1, isWritten: true });
    expect(await ask('Cclosed')).toEqual({ kind: 'closed', statements: 2, isWritten: false });
    await store.settings.set('T1', 'Cclosed', 'U1', { answers_here: 'on' });
    expect(await ask('Cclosed')).toEqual({ kind: 'admitted', statements: 3, isWritten: true });
  });

  test.each(['first', 'last'])('accepts once what Slack calls a mention, which comes %s', async (place) => {
    const copy = message('<@WOTHER> hi');
    const mention = { ...copy, isMention: true };
    const copies = place === 'first' ? [mention, copy] : [copy, mention];
    const outcomes = [];
    for (const one of copies) outcomes.push((await say(one)).kind);
    expect(outcomes.filter((kind) => kind === 'admitted')).toHaveLength(1);
    const edited = { ...message('<@WOTHER> hi'), isMention: true };
    await edit({ ...edited, isMention: false }, 'never mind');
    expect((await say(edited)).kind).toBe('ignored');
  });

  test('stores only the ids of a reply in an unknown thread, and nothing of other conversations', async () => {
    const root = ts();
    const reply = message('a reply', { thread_ts: root });
    expect((await say(reply)).kind).toBe('orphan');
    expect((await say(message('just talk'))).kind).toBe('ignored');
    await say(message('<@UBOT> now you', { ts: root, thread_ts: root }));
    expect(
      await store.orphanReplies.after({ workspace: 'T1', channel: 'C1', thread_ts: root }, root),
    ).toEqual([reply.ts]);
  });

  test('does not accept a reply that was written before the mention but arrives after it', async () => {
    const root = ts();
    const [between, mention] = [
      message('which lane?', { thread_ts: root }),
      message('<@UBOT> see above', { thread_ts: root }),
    ];
    expect((await say(mention)).kind).toBe('admitted');
    expect((await say(between)).kind).toBe('orphan');
    expect(await row(between)).toBeUndefined();
  });

  test('accepts replies from the earliest mention on, in whatever order they arrive', async () => {
    const root = ts();
    const first = message('<@UBOT> see above', { thread_ts: root });
    const reply = message('and the other lane', { thread_ts: root });
    const second = message('<@UBOT> hello?', { thread_ts: root });
    await say(second);
    expect((await say(reply)).kind).toBe('orphan');
    await say(first);
    const thread = { workspace: 'T1', channel: 'C1', thread_ts: root };
    expect((await store.threads.getOrThrow(thread)).adopted_ts).toBe(first.ts);
    expect(await store.orphanReplies.after(thread, first.ts)).toEqual([reply.ts]);
  });

  test('loses no reply that arrives at the same moment as the mention', async () => {
    for (let round = 0; round < 50; round += 1) {
      const mention = message('<@UBOT> go');
      const reply = message('and this', { thread_ts: mention.ts });
      const both = [() => say(mention), () => say(reply)];
      await Promise.all((round % 2 === 0 ? both : both.toReversed()).map((one) => one()));
      const thread = { workspace: 'T1', channel: 'C1', thread_ts: mention.ts };
      const orphans = await store.orphanReplies.after(thread, mention.ts);
      expect([(await row(reply))?.ts, ...orphans].filter((at) => at === reply.ts)).toHaveLength(1);
    }
  });

  test('applies an edit and a deletion that arrive before their message', async () => {
    const edited = message('<@UBOT> first words');
    const root = edited.ts;
    expect((await edit(edited, '<@UBOT> second words', edited.content.text)).kind).toBe('ignored');
    expect((await say(edited)).kind).toBe('admitted');
    expect((await row(edited))?.content?.text).toBe('<@UBOT> second words');
    const taken = message('never mind', { thread_ts: root });
    await remove(taken);
    expect((await say(taken)).kind).toBe('withdrawn');
    expect((await row(taken))?.state).toBe('withdrawn');
  });

  test('starts a turn for an edit that adds a mention, and none if an earlier edit removed it', async () => {
    const added = message('forgot the mention');
    expect((await say(added)).kind).toBe('ignored');
    expect((await edit(added, '<@UBOT> forgot the mention', added.content.text)).kind).toBe('admitted');
    const removed = message('<@UBOT> not for you');
    await edit(removed, 'not for you');
    expect((await say(removed)).kind).toBe('ignored');
  });

  test('starts no turn for an edit of a message whose row may have expired', async () => {
    const old = message('<@UBOT> of last year');
    const brief = new Inbox({ ...deps, rowsKeptDays: 30 });
    const edited = (before?: string): InboxEvent => ({
      kind: 'edit',
      message: { ...old, content: { text: '<@UBOT> of two years ago' } },
      editedTs: ts(),
      ...(before !== undefined && { before: { text: before } }),
    });
    expect((await brief.accept(edited(old.content.text), bot)).kind).toBe('ignored');
    expect((await brief.accept(edited('of last year'), bot)).kind).toBe('ignored');
    expect((await brief.accept(edited(), bot)).kind).toBe('ignored');
    expect(await store.pendingEdits.get(keyOf(old))).toBeUndefined();
    expect((await inbox.accept(edited('of last year'), bot)).kind).toBe('admitted');

    const direct = message('how many?', { channel: 'D2' });
    expect((await edit(direct, 'how many groups?', direct.content.text)).kind).toBe('ignored');
    expect((await say(direct)).kind).toBe('admitted');
  });

  test('keeps the words of an edit only where its message is for the bot', async () => {
    const root = message('<@UBOT> ours');
    await say(root);
    const own = message('our reply', { thread_ts: root.ts });
    const people = [
      message('their talk'),
      message('their reply', { thread_ts: ts() }),
      message('before ours', { thread_ts: root.ts, ts: '1600000000.000001' }),
      message('for somebody else', { thread_ts: root.ts }),
    ];
    for (const one of people) await edit(one, `<@U2> ${one.content.text}, edited`);
    for (const one of people.slice(1, 3)) await edit(one, 'among people');
    await edit(own, 'our edited reply');
    expect((await say(own)).kind).toBe('admitted');
    expect((await row(own))?.content?.text).toBe('our edited reply');
    for (const one of [...people, own])
      expect(await store.pendingEdits.get(keyOf(one))).toMatchObject({ is_deletion: false, content: null });
    for (const one of [...people, own])
      expect(['ignored', 'orphan', 'known']).toContain((await say(one)).kind);
    for (const one of people) expect(await row(one)).toBeUndefined();
    expect((await row(own))?.content?.text).toBe('our edited reply');
  });

  test('reads a reply back from Slack if its edit came before its thread was for the bot', async () => {
    const root = ts();
    const mention = message('<@UBOT> now you', { thread_ts: root });
    const reply = message('first words', { thread_ts: root });
    expect(await edit(reply, 'second words')).toEqual({ kind: 'orphan' });
    await say(mention);
    expect(await say(reply)).toEqual({ kind: 'orphan' });
    const thread = { workspace: 'T1', channel: 'C1', thread_ts: root };
    expect(await store.orphanReplies.after(thread, mention.ts)).toEqual([reply.ts]);
    const edited = { ...reply, content: { text: 'second words' } };
    const editedTs = (await store.pendingEdits.get(keyOf(reply)))?.edited_ts ?? undefined;
    expect((await say({ ...edited, editedTs: reply.ts })).kind).toBe('orphan');
    expect((await say({ ...edited, editedTs })).kind).toBe('admitted');
    expect(await row(reply)).toMatchObject({ content: edited.content, edited_ts: editedTs });
  });

  test('takes the words of a later edit from a message that is read back', async () => {
    const mention = message('<@UBOT> first words');
    await edit(mention, '<@UBOT> second words', mention.content.text);
    const editedTs = ts();
    const read = { ...mention, content: { text: '<@UBOT> third words' }, editedTs };
    expect((await say(read)).kind).toBe('admitted');
    expect(await row(read)).toMatchObject({ content: read.content, edited_ts: editedTs });
  });

  test('keeps no words of a message that was deleted before it arrived', async () => {
    const taken = message('<@UBOT> never mind');
    await remove(taken);
    expect(await edit(taken, '<@UBOT> second words', 'never mind')).toEqual({ kind: 'withdrawn' });
    expect(await store.pendingEdits.get(keyOf(taken))).toMatchObject({ is_deletion: true, content: null });
  });

  test('lets every pending edit be forgotten with its writer', async () => {
    const [person, channel] = ['UGONE', 'CFORGET'];
    await store.settings.set('T1', channel, 'U1', { listen_mode: 'everything' });
    const asked = message('<@UBOT> asked', { person, channel });
    const unheard = message('not here yet', { person, channel });
    await say(asked);
    await store.db
      .updateTable('messages')
      .set({ state: 'sending' })
      .where(ofMessage(keyOf(asked)))
      .execute();
    for (const one of [asked, unheard]) {
      await edit(one, `${one.content.text} again`);
      expect(await store.pendingEdits.get(keyOf(one))).toMatchObject({
        content: { text: expect.stringMatching(/again$/) },
      });
    }
    await store.personErasure.eraseUser('T1', person);
    for (const one of [asked, unheard])
      expect(await store.pendingEdits.get(keyOf(one))).toMatchObject({ content: null });
    const rows = await store.db
      .selectFrom('pending_edits')
      .selectAll()
      .where('channel', '=', channel)
      .execute();
    expect(JSON.stringify(rows)).not.toContain(person);
    expect(await say(unheard)).toMatchObject({ kind: 'ignored' });
  });

  test('edits a waiting message, and reports that a later edit is too late', async () => {
    const waiting = message('<@UBOT> wiht a typo');
    await say(waiting);
    expect((await edit(waiting, '<@UBOT> with no typo')).kind).toBe('reworded');
    const key = { workspace: 'T1', channel: 'C1', ts: waiting.ts };
    await store.db.updateTable('messages').set({ state: 'sending' }).where(ofMessage(key)).execute();
    expect(await edit(waiting, '<@UBOT> later')).toEqual({ kind: 'too_late', change: 'edit' });
    expect(await remove(waiting)).toEqual({ kind: 'too_late', change: 'deletion' });
    expect((await row(waiting))?.content?.text).toBe('<@UBOT> with no typo');
  });

  test('ignores an edit that is redelivered, or that arrives after a later one', async () => {
    const edited = message('<@UBOT> first words');
    await say(edited);
    const [early, late] = [ts(), ts()];
    const editAt = (editedTs: string, text: string) =>
      accept({ kind: 'edit', message: { ...edited, content: { text } }, editedTs });
    await editAt(late, '<@UBOT> second words');
    expect(await editAt(late, '<@UBOT> second words')).toEqual({ kind: 'known' });
    await store.db
      .updateTable('messages')
      .set({ state: 'sending' })
      .where(ofMessage(keyOf(edited)))
      .execute();
    expect(await editAt(late, '<@UBOT> second words')).toEqual({ kind: 'known' });
    expect(await editAt(early, '<@UBOT> older words')).toEqual({ kind: 'known' });
    const [third, fourth] = [ts(), ts()];
    await editAt(fourth, '<@UBOT> fourth words');
    await editAt(third, '<@UBOT> third words');
    const taken = await store.pendingEdits.claim(keyOf(edited), ts());
    expect(taken).toMatchObject({ content: { text: '<@UBOT> fourth words' } });
  });

  test('knows the other copy of an edit, and an edit without new text', async () => {
    const asked = message('<@UBOT> first words');
    await say(asked);
    await store.db
      .updateTable('messages')
      .set({ state: 'sending' })
      .where(ofMessage(keyOf(asked)))
      .execute();
    const again = (text: string, editedTs: string) =>
      accept({ kind: 'edit', message: { ...asked, content: { text } }, editedTs });
    expect(await again('<@UBOT> first words', ts())).toEqual({ kind: 'known' });
    const at = ts();
    expect((await again('<@UBOT> second words', at)).kind).toBe('too_late');
    expect(await again('<@UBOT> second words', at)).toEqual({ kind: 'known' });
    // The note on the edit before is still there; later it is gone.
    expect((await again('<@UBOT> first words', ts())).kind).toBe('reworded');
    expect((await store.pendingEdits.get(keyOf(asked)))?.content?.text).toBe('<@UBOT> first words');
    const later = (Number(ts()) + 700).toFixed(6);
    expect((await again('<@UBOT> third words', later)).kind).toBe('too_late');
    await store.pendingEdits.claim(keyOf(asked), ts());
    const next = (Number(later) + 1).toFixed(6);
    expect((await again('<@UBOT> fourth words', next)).kind).toBe('too_late');
  });

  test('stops when an edit makes a message the word stop', async () => {
    const stop = message('stpo');
    expect((await say(stop)).kind).toBe('ignored');
    expect((await edit(stop, '<@UBOT> stop', stop.content.text)).kind).toBe('stop_said');
    expect((await row(stop))?.state).toBe('closed');
  });

  test('withdraws a waiting message when it is deleted', async () => {
    const waiting = message('<@UBOT> never mind');
    await say(waiting);
    expect((await remove(waiting)).kind).toBe('withdrawn');
    expect((await row(waiting))?.content).toBeNull();
  });

  test('accepts every direct message, and in a group only mentions', async () => {
    expect((await say(message('hello', { channel: 'D1' }))).kind).toBe('admitted');
    expect((await say(message('hello', { channel: 'G1' }))).kind).toBe('ignored');
    expect((await say(message('<@UBOT> hello', { channel: 'G1' }))).kind).toBe('admitted');
  });

  test("accepts every top-level message after the channel's setting asks for it", async () => {
    const channel = 'CALL';
    const said = (text: string, fields: Partial<IncomingMessage> = {}) =>
      message(text, { channel, ...fields });
    const early = said('before');
    expect(await say(early)).toMatchObject({ kind: 'ignored' });
    await store.settings.set('T1', channel, 'U1', { listen_mode: 'everything' });
    const first = said('no mention');
    expect(await say(first)).toMatchObject({ kind: 'admitted' });
    expect(await say(said('a reply', { thread_ts: first.thread_ts }))).toMatchObject({ kind: 'admitted' });
    expect(await say(said('<@U2> not for us'))).toMatchObject({ kind: 'ignored' });
    expect(await edit(early, 'changed')).toMatchObject({ kind: 'ignored' });
    expect(await say(said('among people', { thread_ts: early.thread_ts }))).toEqual({ kind: 'orphan' });
    const changed = said('and this');
    expect(await edit(changed, 'and that')).toMatchObject({ kind: 'ignored' });
    expect(await say(changed)).toMatchObject({ kind: 'admitted' });
    expect((await row(changed))?.content).toEqual({ text: 'and that' });
    await store.settings.set('T1', channel, 'U1', { listen_mode: 'mentions' });
    expect(await say(said('after'))).toMatchObject({ kind: 'ignored' });
  });

  test('ignores messages for somebody else, and dormant threads', async () => {
    const mention = message('<@UBOT> hi');
    await say(mention);
    expect((await say(message('<@U2> look', { thread_ts: mention.ts }))).kind).toBe('ignored');
    expect((await say(message('for the bot', { thread_ts: mention.ts }))).kind).toBe('admitted');
    await store.threads.makeDormant({ workspace: 'T1', channel: 'C1', thread_ts: mention.ts });
    expect((await say(message('anybody?', { thread_ts: mention.ts }))).kind).toBe('orphan');
    expect((await say(message('<@UBOT> again', { thread_ts: mention.ts }))).kind).toBe('admitted');
  });

  test('keeps workspaces apart', async () => {
    const here = message('<@UBOT> hi');
    await say(here);
    expect((await say({ ...here, workspace: 'T2' })).kind).toBe('admitted');
    const reply = message('a reply', { workspace: 'T3', thread_ts: here.ts });
    expect((await say(reply)).kind).toBe('orphan');
  });

  test('applies the latest of the edits that arrive before their message', async () => {
    const edited = message('<@UBOT> first words');
    await Promise.all([
      store.pendingEdits.record(keyOf(edited), change('second words', '1600000000.000001')),
      say(edited),
      say(edited),
    ]);
    await edit(edited, '<@UBOT> third words');
    expect((await row(edited))?.content?.text).toBe('<@UBOT> third words');
    expect(await turnJob(edited.thread_ts)).toMatchObject({ version: 1 });
  });

  test('takes in other threads while one is locked', async () => {
    const locked = message('<@UBOT> hi');
    const unlock = Promise.withResolvers<void>();
    const isLocked = Promise.withResolvers<void>();
    const lock = store.transaction(async (within) => {
      await within.threads.lock(locked);
      isLocked.resolve();
      await unlock.promise;
    });
    await isLocked.promise;
    let settled = 0;
    const behind = Array.from({ length: 30 }, async () => {
      await say(message('<@UBOT> more', { thread_ts: locked.thread_ts }));
      settled += 1;
    });
    for (const other of [1, 2, 3]) expect((await say(message(`<@UBOT> ${other}`))).kind).toBe('admitted');
    expect(settled).toBe(0);
    unlock.resolve();
    await Promise.all([lock, ...behind]);
    expect(settled).toBe(30);
  });

  test('queues no job where the message could not be stored', async () => {
    class BrokenAdmissions extends InboxWriter {
      override async write(): Promise<never> {
        throw new Error('no room');
      }
    }
    class BrokenStore extends Store {
      override readonly inbox = new BrokenAdmissions(database.kysely);
    }
    const broken = new Inbox({ ...deps, store: new BrokenStore(database.kysely) });
    const mention = message('<@UBOT> hi');
    await expect(broken.accept({ kind: 'message', message: mention }, bot)).rejects.toThrow('no room');
    expect(await turnJob(mention.thread_ts)).toBeUndefined();
  });
});
