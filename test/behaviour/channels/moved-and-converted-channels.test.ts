import { describe, expect, test } from 'vitest';
import { openAppScene, pause } from '../../support/app-scene.ts';

const scene = await openAppScene();
const { slack, agent } = scene;

describe.concurrent('a channel', () => {
  test('whose id changes during a turn keeps its reply, its task and its project', async () => {
    const channel = scene.channel();
    const before = channel.id;
    const root = scene.ask(channel, 'one to move\n/slow 300');
    const reply = await scene.until('the reply grows', () =>
      scene.replies(channel, root).find(({ versions }) => versions.length > 1),
    );
    const announce = slack.changeId(channel);
    await scene.until('an edit is refused', () =>
      slack.calls.some(({ args, ok }) => args.channel === before && !ok),
    );
    // The turn has noticed it before the event tells why.
    await pause(1_500);
    announce();
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

  test('where Slack names another id in a mention gets one answer', async () => {
    slack.delivery.botAlias = 'UALIAS';
    const channel = scene.channel();
    const root = slack.say({ person: scene.ada, channel, text: '<@UALIAS> who are you?' });
    await scene.finished(channel, root);
    expect(scene.replies(channel, root)).toHaveLength(1);
  });
});
