import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { textOf } from '../../../sandbox/agent/records.ts';
import type { Message } from '../../../sandbox/slack/slack-workspace.ts';
import { messageGivenUp, messagesNotRead } from '../../../src/render/strings/index.ts';
import { type AppScene, openAppScene } from '../../support/app-scene.ts';
import { FAST_RETRIES, letJobBeGivenUp, stopBotFor } from '../../support/outage.ts';

const readings = (scene: AppScene) =>
  scene.slack.calls.filter(({ method }) => /^conversations\.(replies|history)$/.test(method)).length;

/** The service takes no files: a message with one waits. */
const NO_UPLOADS = { call: 'POST /experimental/files', fault: { kind: 'status', status: 503 } } as const;
const TABLE = { name: 'table.csv', bytes: 'a\n1\n' };

/** What the service holds of people's messages, in all tasks. */
const toldTo = ({ agent }: AppScene) =>
  agent.tasks
    .flatMap(({ messages }) => messages)
    .filter(({ role }) => role === 'user')
    .map(({ content }) => textOf(content));

/** The database refuses messages that contain a word. */
async function refusePoison(scene: AppScene): Promise<void> {
  await sql`
    create function refuse_poison() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
    create trigger refuse_poison before insert or update on messages for each row
      when (new.content::text like '%poison%') execute function refuse_poison()`.execute(
    scene.sandbox.bot.store.db,
  );
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

  test('is filled to its end, even if a restart interrupts the backfill', async ({ onTestFinished }) => {
    const scene = await openAppScene({ slack: FAST_RETRIES }, onTestFinished);
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

  test('is filled although a thread cannot be read for good, which learns that after days', async ({
    onTestFinished,
  }) => {
    const scene = await openAppScene({ slack: FAST_RETRIES }, onTestFinished);
    const channel = scene.channel();
    const root = scene.ask(channel, 'one thread');
    await scene.finished(channel, root);
    const body = { ok: false, error: 'internal_error' };
    scene.slack.faults.add({ call: 'conversations.replies', fault: { kind: 'status', status: 200, body } });
    let mention = root;
    await stopBotFor(scene, 6, () => {
      mention = scene.ask(channel, 'in the gap');
    });
    await scene.sandbox.restartBot();
    await scene.finished(channel, mention);
    // The thread is tried again, with pauses.
    const { db } = scene.sandbox.bot.store;
    const left = db.selectFrom('jobs').where('kind', '=', 'backfill').select('tried_since');
    await scene.until('only the thread is left', async () => (await left.execute()).length === 1);
    expect(await left.execute()).toEqual([{ tried_since: expect.any(Date) }]);
    await letJobBeGivenUp(scene, 'backfill', channel.id);
    await scene.until('the thread is told', () => scene.shown(channel, root).includes(messagesNotRead));
    await scene.until('the job is gone', async () => (await left.execute()).length === 0);
  });

  test('is searched for edits and deletions of what waited, and nothing of that is sent as it was', async ({
    onTestFinished,
  }) => {
    const scene = await openAppScene({ slack: FAST_RETRIES, limits: { lookAgainMs: 300 } }, onTestFinished);
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
    expect(toldTo(scene)).toEqual(['the first', 'the second', 'the last']);
  });

  test('deletes no waiting message that Slack lacks only once', async ({ onTestFinished }) => {
    const scene = await openAppScene({ slack: FAST_RETRIES, limits: { lookAgainMs: 300 } }, onTestFinished);
    const channel = scene.channel();
    const mend = scene.agent.faults.add(NO_UPLOADS);
    const root = scene.ask(channel, 'still there', { files: [TABLE] });
    await scene.until('it waits for its file', () => scene.replies(channel, root).length > 0);
    await stopBotFor(scene, 6, () => scene.reply(channel, root, 'said in the gap'));
    mend();
    const body = { ok: true, messages: [] };
    const fault = { kind: 'status', status: 200, body } as const;
    scene.slack.faults.add({ call: 'conversations.replies', fault, times: 1 });
    await scene.sandbox.restartBot();
    await scene.until('both are told', () => toldTo(scene).length === 2);
    expect(toldTo(scene)).toEqual(['still there', 'said in the gap']);
  });

  test('does not count where the bot has just joined: a mention from before is answered, and nothing else', async ({
    onTestFinished,
  }) => {
    const scene = await openAppScene({}, onTestFinished);
    const channel = scene.channel();
    await scene.sandbox.bot.store.settings.set(scene.slack.team.id, channel.id, scene.ada.id, {
      listen_mode: 'everything',
    });
    scene.slack.kick(channel);
    await scene.slack.settled();
    scene.slack.say({ person: scene.ada, channel, text: 'whom shall we ask?' });
    const mention = scene.ask(channel, 'who is there?');
    await scene.slack.settled();
    expect(scene.agent.tasks).toHaveLength(0);
    scene.slack.invite(channel);
    await scene.finished(channel, mention);
    expect(toldTo(scene)).toEqual(['who is there?']);
  });

  test('is filled although the database refuses one of its messages, whose writer is told', async ({
    onTestFinished,
  }) => {
    const scene = await openAppScene({ slack: FAST_RETRIES }, onTestFinished);
    const channel = scene.channel();
    const root = scene.ask(channel, 'a thread');
    await scene.finished(channel, root);
    await refusePoison(scene);
    await stopBotFor(scene, 6, () => {
      for (const text of ['poison', 'and more']) scene.reply(channel, root, text);
      scene.ask(channel, 'poison at the root');
    });
    await scene.sandbox.restartBot();
    await scene.until('the other message is told', () => toldTo(scene).includes('and more'));
    const told = () =>
      scene.slack.ephemerals(scene.ada, channel).filter(({ text }) => text === messageGivenUp).length;
    await scene.until('the writer is told of both', () => told() === 2);
    // They are tried again by themselves, and each is told once.
    const store = scene.sandbox.bot.store;
    const left = store.db.selectFrom('jobs').where('kind', '=', 'backfill').select('key');
    await scene.until('only they are left', async () => (await left.execute()).length === 2);
    await sql`drop trigger refuse_poison on messages`.execute(store.db);
    await store.db
      .updateTable('jobs')
      .set({ due_at: new Date(0) })
      .where('kind', '=', 'backfill')
      .execute();
    await scene.until('both are told at last', () => toldTo(scene).length === 4);
    expect(toldTo(scene).sort()).toEqual(['a thread', 'and more', 'poison', 'poison at the root']);
    expect(told()).toBe(2);
  });

  test('is filled although the database refuses the edit of a message that waits', async ({
    onTestFinished,
  }) => {
    const scene = await openAppScene({ slack: FAST_RETRIES }, onTestFinished);
    const channel = scene.channel();
    const mend = scene.agent.faults.add(NO_UPLOADS);
    const root = scene.ask(channel, 'as it was', { files: [TABLE] });
    await scene.until('it waits for its file', () => scene.replies(channel, root).length > 0);
    await refusePoison(scene);
    await stopBotFor(scene, 6, () => {
      scene.slack.edit(channel.id, root.ts, `${scene.mention} poison`);
      scene.reply(channel, root, 'and more');
    });
    mend();
    const restartedAt = performance.now();
    await scene.sandbox.restartBot();
    await scene.until('both are told', () => toldTo(scene).length === 2);
    expect(toldTo(scene)).toEqual(['as it was', 'and more']);
    // What waits is held for a minute where the place cannot be read.
    expect(performance.now() - restartedAt).toBeLessThan(40_000);
  });

  test('ends where Slack does not accept its own cursor, and the thread learns that', async ({
    onTestFinished,
  }) => {
    const scene = await openAppScene({ slack: FAST_RETRIES }, onTestFinished);
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
    scene.slack.faults.add({ call, fault: { kind: 'status', status: 200, body: page } });
    const before = scene.slack.calls.length;
    await scene.sandbox.restartBot();
    await scene.until('the thread is told', () => scene.shown(channel, root).includes(messagesNotRead));
    const { db } = scene.sandbox.bot.store;
    const left = db.selectFrom('jobs').where('kind', '=', 'backfill').select('key');
    await scene.until('nothing is left to read', async () => (await left.execute()).length === 0);
    // The first page, the refused one, and both once more.
    expect(scene.slack.calls.slice(before).filter(({ method }) => method === call)).toHaveLength(4);
  });

  test('ends where Slack repeats a cursor for ever', async ({ onTestFinished }) => {
    const scene = await openAppScene({ slack: FAST_RETRIES }, onTestFinished);
    const channel = scene.channel();
    const root = scene.ask(channel, 'a thread');
    await scene.finished(channel, root);
    await stopBotFor(scene, 6, () => scene.reply(channel, root, 'meanwhile'));
    const body = { ok: true, messages: [], response_metadata: { next_cursor: 'again' } };
    for (const call of ['conversations.replies', 'conversations.history'])
      scene.slack.faults.add({ call, fault: { kind: 'status', status: 200, body } });
    const before = scene.slack.calls.length;
    await scene.sandbox.restartBot();
    const { db } = scene.sandbox.bot.store;
    const isRead = () =>
      scene.slack.calls.slice(before).some(({ method }) => method === 'conversations.replies');
    const places = () => db.selectFrom('jobs').where('kind', '=', 'backfill').select('key').execute();
    await scene.until('nothing is left to read', async () => isRead() && (await places()).length === 0);
    expect(
      scene.slack.calls.slice(before).filter(({ method }) => method.startsWith('conversations.re')),
    ).toHaveLength(2);
  });

  test('of less than a minute is filled at the start, where people wait', async ({ onTestFinished }) => {
    const scene = await openAppScene({ slack: FAST_RETRIES }, onTestFinished);
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
    expect(performance.now() - restartedAt).toBeLessThan(10_000);
    expect(toldTo(scene)).toEqual(['a thread', 'meanwhile', 'a new one']);
  });

  test('is filled when a lost connection comes back', async ({ onTestFinished }) => {
    const scene = await openAppScene({ slack: FAST_RETRIES }, onTestFinished);
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
});
