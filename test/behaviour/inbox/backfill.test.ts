import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { textOf } from '../../../sandbox/agent/records.ts';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import { messageGivenUp, messagesNotRead } from '../../../src/render/strings/index.ts';
import { type AppScene, openAppScene } from '../../support/app-scene.ts';
import { withinMs } from '../../support/busy-machine.ts';
import { FAST_RETRIES, letJobBeGivenUp, stopBotFor } from '../../support/outage.ts';

const readings = (scene: AppScene) =>
  scene.slack.calls.filter(({ method }) => /^conversations\.(replies|history)$/.test(method)).length;

/** The service takes no files: a message with one waits. */
const NO_UPLOADS = { call: 'POST /experimental/files', fault: { kind: 'status', status: 503 } } as const;
const TABLE = { name: 'table.csv', bytes: 'a\n1\n' };

/** What the service holds of people's messages, in the tasks of a channel. */
const toldTo = ({ agent }: AppScene, { name }: Channel) =>
  agent.tasks
    .filter(({ project }) => project.title === name)
    .flatMap(({ messages }) => messages)
    .filter(({ role }) => role === 'user')
    .map(({ content }) => textOf(content));

/** The jobs that are left to read a channel and its threads. */
const jobsLeft = ({ sandbox }: AppScene, { id }: Channel) =>
  sandbox.bot.store.db
    .selectFrom('jobs')
    .where('kind', '=', 'backfill')
    .where('channel', '=', id)
    .select('tried_since')
    .execute();

/** The database refuses messages that contain a word. */
async function refuseWord(scene: AppScene, word: string): Promise<void> {
  await sql`
    create or replace function refuse_word() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
    create or replace trigger refuse_word before insert or update on messages for each row
      when (new.content::text like ${sql.lit(`%${word}%`)}) execute function refuse_word()`.execute(
    scene.sandbox.bot.store.db,
  );
}

/** A scene for tests that stop the bot: one that failed may have left it so. */
async function openGapScene(options: Parameters<typeof openAppScene>[0] = {}): Promise<AppScene> {
  const scene = await openAppScene({ slack: FAST_RETRIES, ...options });
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await scene.sandbox.restartBot();
    await scene.reset();
  });
  return scene;
}

describe.concurrent('a gap in receiving events', () => {
  test.for(['socket', 'http'] as const)(
    'by %s is filled: each message is answered once, and an unreachable channel delays nothing',
    async (transport, { onTestFinished }) => {
      const scene = await openAppScene({ transport, slack: FAST_RETRIES }, onTestFinished);
      const [lab, lost] = [scene.channel(), scene.channel()];
      const dm = scene.slack.openDm(scene.ada);
      const root = scene.ask(lab, 'before the gap');
      const gone = scene.ask(lost, 'in a channel that we leave');
      const direct = scene.slack.say({ person: scene.ada, channel: dm, text: 'directly' });
      await scene.finished(lab, root);
      await scene.finished(lost, gone);
      await scene.finished(dm, direct);
      // Nobody has written to the bot there for days.
      const days = { last_used_at: sql<Date>`last_used_at - interval '3 days'` };
      await scene.sandbox.bot.store.db
        .updateTable('threads')
        .set(days)
        .where('channel', '=', dm.id)
        .execute();
      const said: [typeof lab, ReturnType<AppScene['reply']>][] = [];
      await stopBotFor(scene, 6, () => {
        scene.slack.kick(lost);
        said.push([lab, scene.reply(lab, root, 'in the gap', { files: [] })]);
        const mention = scene.ask(lab, 'a new one');
        said.push([lab, mention], [lab, scene.reply(lab, mention, 'and more of it')]);
        said.push([dm, scene.slack.say({ person: scene.ada, channel: dm, text: 'directly again' })]);
        scene.slack.say({ person: scene.ada, channel: lab, text: 'not for the bot' });
      });
      await scene.sandbox.restartBot();
      for (const [channel, message] of said) await scene.finished(channel, message);
      expect(scene.sentToAgent('before the gap').texts).toEqual(['before the gap', 'in the gap']);
      expect(scene.sentToAgent('a new one').texts).toEqual(['a new one', 'and more of it']);
      expect(scene.sentToAgent('directly again').texts).toEqual(['directly again']);
      expect(scene.agent.tasks).toHaveLength(5);
      await scene.until('nothing is left to read', async () => {
        const { db } = scene.sandbox.bot.store;
        return (
          (await db.selectFrom('jobs').where('kind', '=', 'backfill').select('key').execute()).length === 0
        );
      });
      await scene.sandbox.restartBot();
      const next = scene.reply(lab, root, 'after it');
      await scene.finished(lab, next);
      expect(scene.sentToAgent('before the gap').texts).toEqual(['before the gap', 'in the gap', 'after it']);
    },
  );
});

describe('a gap in receiving events', async () => {
  const scene = await openGapScene();

  test('is filled to its end, even if a restart interrupts the backfill', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'one thread');
    await scene.finished(channel, root);
    await stopBotFor(scene, 6, () => scene.reply(channel, root, 'said in the gap'));
    const mend = scene.slack.faults.add({
      call: /^conversations\.(replies|history)$/,
      fault: { kind: 'status', status: 503 },
    });
    const read = readings(scene);
    await scene.sandbox.restartBot();
    await scene.until('it tries to read', () => readings(scene) > read);
    await scene.sandbox.bot.stop();
    mend();
    await scene.sandbox.restartBot();
    await scene.until('the message is told', () => scene.sentToAgent('one thread').texts.length === 2);
    expect(scene.sentToAgent('one thread').texts).toEqual(['one thread', 'said in the gap']);
  });

  test('of less than a minute is filled at the start, where people wait', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'a thread');
    await scene.finished(channel, root);
    const said: Message[] = [];
    await stopBotFor(scene, 0.5, () =>
      said.push(scene.reply(channel, root, 'meanwhile'), scene.ask(channel, 'a new one')),
    );
    const restartedAt = performance.now();
    await scene.sandbox.restartBot();
    for (const message of said) await scene.finished(channel, message);
    expect(performance.now() - restartedAt).toBeLessThan(withinMs(10_000));
    expect(toldTo(scene, channel)).toEqual(['a thread', 'meanwhile', 'a new one']);
  });

  test("makes no app's post a person's, although Slack names a person, and loses none that counts", async () => {
    const channel = scene.channel();
    const alarms = scene.slack.createPerson({ name: 'alarms', kind: 'bot' });
    scene.slack.invite(channel, alarms);
    const { settings } = scene.sandbox.bot.store;
    const allowed_bots = [alarms.botId ?? ''];
    await settings.set(scene.slack.team.id, channel.id, scene.ada.id, { allowed_bots });
    const root = scene.ask(channel, 'a thread');
    await scene.finished(channel, root);
    const said: Message[] = [];
    await stopBotFor(scene, 6, () => {
      const odd = { bot_id: undefined, username: 'Ada' };
      said.push(scene.ask(channel, 'an app says this', { byApp: 'B0DRAFTS', odd }));
      said.push(scene.ask(channel, 'a person says this'));
      said.push(scene.ask(channel, 'a bot asks this', { person: alarms, subtype: 'bot_message' }));
      said.push(scene.reply(channel, root, 'stop', { person: alarms }));
    });
    await scene.sandbox.restartBot();
    const [byApp, own, asked, unsent] = said;
    if (!byApp || !own || !asked || !unsent) throw new Error('There are four.');
    await scene.finished(channel, own);
    await scene.finished(channel, asked);
    const { messages } = scene.sandbox.bot.store;
    const known = ({ ts }: Message) =>
      messages.get({ workspace: scene.slack.team.id, channel: channel.id, ts });
    expect(await known(byApp)).toBeUndefined();
    await scene.until('its ids are kept', async () => (await known(unsent))?.state === 'unsent');
    expect(toldTo(scene, channel).toSorted()).toEqual(['a bot asks this', 'a person says this', 'a thread']);
  });

  test('is filled when a lost connection comes back', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'with a connection');
    await scene.finished(channel, root);
    const mend = scene.slack.faults.add({
      call: 'apps.connections.open',
      fault: { kind: 'status', status: 503 },
    });
    scene.slack.cutSockets();
    scene.reply(channel, root, 'without one');
    await scene.slack.settled();
    expect(scene.sentToAgent('with a connection').texts).toHaveLength(1);
    await scene.sandbox.bot.store.db
      .updateTable('workspaces')
      .set({ last_receiving_at: new Date(Date.now() - 6 * 60_000) })
      .execute();
    mend();
    await scene.until('the message is told', () => scene.sentToAgent('with a connection').texts.length === 2);
  });

  test('does not count where the bot has just joined: a mention from before is answered, and nothing else', async () => {
    const channel = scene.channel();
    await scene.sandbox.bot.store.settings.set(scene.slack.team.id, channel.id, scene.ada.id, {
      listen_mode: 'everything',
    });
    scene.slack.kick(channel);
    await scene.slack.settled();
    scene.slack.say({ person: scene.ada, channel, text: 'whom shall we ask?' });
    const mention = scene.ask(channel, 'who is there?');
    await scene.slack.settled();
    expect(toldTo(scene, channel)).toEqual([]);
    scene.slack.invite(channel);
    await scene.finished(channel, mention);
    expect(toldTo(scene, channel)).toEqual(['who is there?']);
  });
});

describe('a gap in a channel with many threads in use', async () => {
  const clock = { aheadMs: -30 * 60_000, now: () => Date.now() + clock.aheadMs };
  const scene = await openGapScene({ slack: { ...FAST_RETRIES, clock } });

  test('is filled by reading only those that were spoken in', async () => {
    const channel = scene.channel();
    const roots: Message[] = [];
    for (let count = 0; count < 6; count += 1) {
      const root = scene.ask(channel, `thread ${count}`);
      await scene.finished(channel, root);
      roots.push(root);
    }
    const [first, second, third] = roots;
    if (first === undefined || second === undefined || third === undefined) throw new Error('There are six.');
    clock.aheadMs = 0;
    const said: Message[] = [];
    await stopBotFor(scene, 6, () => {
      said.push(scene.reply(channel, first, 'in the first'), scene.ask(channel, 'a new one'));
      said.push(scene.reply(channel, third, 'in the third'));
    });
    const before = scene.slack.calls.length;
    await scene.sandbox.restartBot();
    for (const message of said) await scene.finished(channel, message);
    await scene.until('nothing is left to read', async () => (await jobsLeft(scene, channel)).length === 0);
    expect(scene.sentToAgent('thread 0').texts).toEqual(['thread 0', 'in the first']);
    expect(scene.sentToAgent('thread 2').texts).toEqual(['thread 2', 'in the third']);
    const made = scene.slack.calls.slice(before).filter(({ args }) => args.channel === channel.id);
    const read = made.filter(({ method }) => method === 'conversations.replies').map(({ args }) => args.ts);
    for (const root of [first, third]) expect(read).toContain(root.ts);
    for (const { ts } of [second, ...roots.slice(3)]) expect(read).not.toContain(ts);
  });
});

describe('a gap in a channel that cannot be read', async () => {
  const scene = await openGapScene();

  test('is filled although a thread cannot be read for good, which learns that after days', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'one thread');
    await scene.finished(channel, root);
    const body = { ok: false, error: 'internal_error' };
    const fault = { kind: 'status', status: 200, body } as const;
    scene.slack.faults.add({ call: 'conversations.replies', about: channel.id, fault });
    let mention = root;
    await stopBotFor(scene, 6, () => {
      mention = scene.ask(channel, 'in the gap');
    });
    await scene.sandbox.restartBot();
    await scene.finished(channel, mention);
    // The thread is tried again, with pauses.
    const left = () => jobsLeft(scene, channel);
    await scene.until('only the thread is left', async () => (await left()).length === 1);
    expect(await left()).toEqual([{ tried_since: expect.any(Date) }]);
    await letJobBeGivenUp(scene, 'backfill', channel.id);
    await scene.until('the thread is told', () => scene.shown(channel, root).includes(messagesNotRead));
    await scene.until('the job is gone', async () => (await left()).length === 0);
  });

  test('ends where Slack does not accept its own cursor, and the thread learns that', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'a thread');
    await scene.finished(channel, root);
    await stopBotFor(scene, 6, () => scene.reply(channel, root, 'meanwhile'));
    const call = 'conversations.replies';
    const refusal = { ok: false, error: 'invalid_cursor' };
    const page = { ok: true, messages: [], response_metadata: { next_cursor: 'refused' } };
    scene.slack.faults.add({
      call,
      about: 'refused',
      fault: { kind: 'status', status: 200, body: refusal },
    });
    scene.slack.faults.add({
      call,
      about: channel.id,
      fault: { kind: 'status', status: 200, body: page },
    });
    const before = scene.slack.calls.length;
    await scene.sandbox.restartBot();
    await scene.until('the thread is told', () => scene.shown(channel, root).includes(messagesNotRead));
    await scene.until('nothing is left to read', async () => (await jobsLeft(scene, channel)).length === 0);
    // The first page, the refused one, and both once more.
    const made = scene.slack.calls.slice(before).filter(({ args }) => args.channel === channel.id);
    expect(made.filter(({ method }) => method === call)).toHaveLength(4);
  });

  test('ends where Slack repeats a cursor for ever', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'a thread');
    await scene.finished(channel, root);
    await stopBotFor(scene, 6, () => scene.reply(channel, root, 'meanwhile'));
    const body = { ok: true, messages: [], response_metadata: { next_cursor: 'again' } };
    for (const call of ['conversations.replies', 'conversations.history'])
      scene.slack.faults.add({ call, about: channel.id, fault: { kind: 'status', status: 200, body } });
    const before = scene.slack.calls.length;
    await scene.sandbox.restartBot();
    const made = () => scene.slack.calls.slice(before).filter(({ args }) => args.channel === channel.id);
    const isRead = () => made().some(({ method }) => method === 'conversations.replies');
    await scene.until(
      'nothing is left to read',
      async () => isRead() && (await jobsLeft(scene, channel)).length === 0,
    );
    expect(made().filter(({ method }) => method.startsWith('conversations.re'))).toHaveLength(2);
  });
});

describe('a gap while messages wait', async () => {
  const scene = await openGapScene({ limits: { lookAgainMs: 300 } });

  test('is searched for edits and deletions of what waited, and nothing of that is sent as it was', async () => {
    const channel = scene.channel();
    const mend = scene.agent.faults.add(NO_UPLOADS);
    const root = scene.ask(channel, 'teh first', { files: [TABLE] });
    const deletedRoot = scene.ask(channel, 'never asked', { files: [TABLE] });
    for (const one of [root, deletedRoot])
      await scene.until('it waits for its file', () => scene.replies(channel, one).length > 0);
    const reworded = scene.reply(channel, root, 'teh second');
    const deleted = scene.reply(channel, root, 'never mind');
    const last = scene.reply(channel, root, 'the last');
    await scene.slack.settled();
    await stopBotFor(scene, 6, () => {
      scene.slack.edit(channel.id, root.ts, `${scene.mention} the first`);
      scene.slack.edit(channel.id, reworded.ts, 'the second');
      for (const { ts } of [deleted, deletedRoot]) scene.slack.remove(channel.id, ts);
    });
    mend();
    await scene.sandbox.restartBot();
    await scene.finished(channel, last);
    await scene.finished(channel, deletedRoot);
    expect(toldTo(scene, channel).join('\n\n')).toBe('the first\n\nthe second\n\nthe last');
  });

  test('deletes no waiting message that Slack lacks only once', async () => {
    const channel = scene.channel();
    const mend = scene.agent.faults.add(NO_UPLOADS);
    const root = scene.ask(channel, 'still there', { files: [TABLE] });
    await scene.until('it waits for its file', () => scene.replies(channel, root).length > 0);
    await stopBotFor(scene, 6, () => scene.reply(channel, root, 'said in the gap'));
    mend();
    const body = { ok: true, messages: [] };
    const fault = { kind: 'status', status: 200, body } as const;
    scene.slack.faults.add({ call: 'conversations.replies', about: channel.id, fault, times: 1 });
    await scene.sandbox.restartBot();
    await scene.until('both are told', () => toldTo(scene, channel).length === 2);
    expect(toldTo(scene, channel)).toEqual(['still there', 'said in the gap']);
  });
});

describe('a gap in receiving events', async () => {
  const scene = await openGapScene();

  test('is filled although the database refuses one of its messages, whose writer is told', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'a thread');
    await scene.finished(channel, root);
    await refuseWord(scene, 'poison');
    await stopBotFor(scene, 6, () => {
      for (const text of ['poison', 'and more']) scene.reply(channel, root, text);
      scene.ask(channel, 'poison at the root');
    });
    await scene.sandbox.restartBot();
    await scene.until('the other message is told', () => toldTo(scene, channel).includes('and more'));
    const told = () =>
      scene.slack.ephemerals(scene.ada, channel).filter(({ text }) => text === messageGivenUp).length;
    await scene.until('the writer is told of both', () => told() === 2);
    // They are tried again by themselves, and each is told once.
    const store = scene.sandbox.bot.store;
    await scene.until('only they are left', async () => (await jobsLeft(scene, channel)).length === 2);
    await sql`drop trigger refuse_word on messages`.execute(store.db);
    await store.db
      .updateTable('jobs')
      .set({ due_at: new Date(0) })
      .where('kind', '=', 'backfill')
      .execute();
    await scene.until('both are told at last', () => toldTo(scene, channel).length === 4);
    expect(toldTo(scene, channel).sort()).toEqual(['a thread', 'and more', 'poison', 'poison at the root']);
    expect(told()).toBe(2);
  });

  test('is filled although the database refuses the edit of a message that waits', async () => {
    const channel = scene.channel();
    const mend = scene.agent.faults.add(NO_UPLOADS);
    const root = scene.ask(channel, 'as it was', { files: [TABLE] });
    await scene.until('it waits for its file', () => scene.replies(channel, root).length > 0);
    await refuseWord(scene, 'venom');
    await stopBotFor(scene, 6, () => {
      scene.slack.edit(channel.id, root.ts, `${scene.mention} venom`);
      scene.reply(channel, root, 'and more');
    });
    mend();
    const restartedAt = performance.now();
    await scene.sandbox.restartBot();
    await scene.until('both are told', () => toldTo(scene, channel).length === 2);
    expect(toldTo(scene, channel)).toEqual(['as it was', 'and more']);
    // What waits is held for a minute where the place cannot be read.
    expect(performance.now() - restartedAt).toBeLessThan(withinMs(40_000));
  });
});
