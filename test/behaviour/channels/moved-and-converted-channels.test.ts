import { sql } from 'kysely';
import { describe, expect, test, vi } from 'vitest';
import { channelNotMoved } from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';
import { letJobBeGivenUp } from '../../support/outage.ts';

const scene = await openAppScene();
const { slack, agent } = scene;

describe.concurrent('a channel', () => {
  test('whose id changes during a turn keeps its reply, its task and its project', async () => {
    const channel = scene.channel();
    const before = channel.id;
    const root = scene.ask(channel, 'one to move\n/slow 9000');
    const reply = await scene.until('the reply grows', () =>
      scene.replies(channel, root).find(({ versions }) => versions.length > 1),
    );
    const { turns } = scene.sandbox.bot.store;
    const key = { workspace: slack.team.id, channel: before, ts: root.ts };
    const turn = await turns.ofMessage(key);
    const get = turns.get.bind(turns);
    const moved = Promise.withResolvers<void>();
    const look = vi.spyOn(turns, 'get').mockImplementation(async (workspace, id) => {
      if (id === turn?.id) await moved.promise;
      return get(workspace, id);
    });
    const announce = slack.changeId(channel);
    // Before the event tells why an edit is refused.
    await scene.until('the turn looks for another id', () =>
      look.mock.calls.some(([, id]) => id === turn?.id),
    );
    announce();
    await scene.until(
      'it is moved',
      async () => (await turns.ofMessage({ ...key, channel: channel.id })) !== undefined,
    );
    moved.resolve();
    await scene.hurry('one to move');
    await scene.finished(channel, root);
    expect(channel.id).not.toBe(before);
    expect(scene.replies(channel, root).map(({ ts }) => ts)).toEqual([reply.ts]);
    expect(slack.messages(slack.openDm(scene.ada))).toEqual([]);
    await scene.finished(channel, scene.reply(channel, root, 'and on'));
    await scene.finished(channel, scene.ask(channel, 'one more to move'));
    const tasks = agent.tasks.filter(({ title }) => title.includes('to move'));
    expect(tasks.map(({ status }) => status)).toEqual(['completed', 'completed']);
    expect(new Set(tasks.map(({ project }) => project)).size).toBe(1);
  });

  test('that cannot be moved to its new id for days is told, under that id', async () => {
    const channel = scene.channel();
    await scene.finished(channel, scene.ask(channel, 'one that stays'));
    const announce = slack.changeId(channel);
    await sql`
      create function refuse_move() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
      create trigger refuse_move before update on threads for each row
        when (new.channel = ${sql.lit(channel.id)}) execute function refuse_move()`.execute(
      scene.sandbox.bot.store.db,
    );
    announce();
    await letJobBeGivenUp(scene, 'channel_move', channel.id);
    const told = () => slack.messages(channel).filter(({ text }) => text === channelNotMoved);
    await scene.until('the channel is told', () => told().length > 0);
    const { db } = scene.sandbox.bot.store;
    const left = db.selectFrom('jobs').where('kind', '=', 'channel_move').select('key');
    await scene.until('the move is given up', async () => (await left.execute()).length === 0);
    expect(told()).toHaveLength(1);
  });

  test('that becomes private and public again goes on working', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'one to hide');
    await scene.finished(channel, root);
    for (const kind of ['private', 'public'] as const) {
      slack.convert(channel, kind);
      await scene.finished(channel, scene.reply(channel, root, `on while ${kind}`));
      await scene.finished(channel, scene.ask(channel, `new while ${kind}`));
    }
    expect(agent.tasks.filter(({ title }) => /to hide|new while/.test(title))).toHaveLength(3);
  });

  test.for(['mentionFirst', 'messageFirst'] as const)(
    'where Slack names another id in a mention gets one answer, also among people (%s)',
    async (order, { onTestFinished }) => {
      const own = await openAppScene({ slack: { delivery: { order, botAlias: 'UALIAS' } } }, onTestFinished);
      const channel = own.channel();
      const root = own.slack.say({ person: own.grace, channel, text: 'lunch?' });
      for (const text of ['<@UALIAS> who are you?', '<@UALIAS> and who am I?']) {
        own.reply(channel, root, 'no idea', { person: own.grace });
        await own.slack.settled();
        const asked = own.reply(channel, root, text);
        await own.finished(channel, asked);
      }
      expect(own.replies(channel, root)).toHaveLength(2);
    },
  );
});
