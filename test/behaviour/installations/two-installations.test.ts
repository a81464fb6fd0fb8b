import { afterEach, describe, expect, test } from 'vitest';
import type { Channel, Message, Person } from '../../../sandbox/slack/slack-workspace.ts';
import { openMultiWorkspaceScene } from '../../support/multi-workspace-scene.ts';

const tenants = await openMultiWorkspaceScene();
const { scene, slack } = tenants;
const { store } = scene.sandbox.bot;
const ann = slack.createPerson({ name: 'ann', teamId: 'T1' });
const bob = slack.createPerson({ name: 'bob', teamId: 'T2' });
const [one, two] = [tenants.team('T1').bot.userId, tenants.team('T2').bot.userId];

afterEach(() => {
  slack.delivery.authorizes = 'host';
});

/** A channel of the first workspace that the second one shares, with the bots of both. */
function sharedChannel(): Channel {
  const channel = slack.createChannel({ teamId: 'T1', name: 'together', members: [ann, bob], shared: true });
  slack.connect(channel, 'T2');
  return channel;
}

function mention(bot: string, person: Person, channel: Channel, text: string, root?: Message): Message {
  return slack.say({ person, channel, text: `<@${bot}> ${text}`, ...(root && { thread: root.ts }) });
}

/** Which workspaces know a message, and what became of it there. */
async function known({ id: channel }: Channel, { ts }: Message) {
  const rows = store.db.selectFrom('messages').select(['workspace', 'state']);
  return (await rows.where('channel', '=', channel).where('ts', '=', ts).execute()).map(
    ({ workspace, state }) => `${workspace} ${state}`,
  );
}

describe('in a channel of two installations', () => {
  test.each(['host', 'connected'] as const)(
    'the bot that is mentioned answers, and goes on in its thread, whichever one Slack names (%s)',
    async (authorizes) => {
      slack.delivery.authorizes = authorizes;
      const channel = sharedChannel();
      for (const [bot, person, workspace] of [
        [one, ann, 'T1'],
        [two, bob, 'T2'],
      ] as const) {
        const root = mention(bot, person, channel, `hello from ${workspace}, ${authorizes}`);
        await scene.until('it is sent', async () => (await known(channel, root))[0] === `${workspace} sent`);
        const reply = slack.say({ person, channel, thread: root.ts, text: 'and this' });
        await scene.until(
          'the reply is sent',
          async () => (await known(channel, reply))[0] === `${workspace} sent`,
        );
        await slack.settled();
        expect([await known(channel, root), await known(channel, reply)]).toEqual([
          [`${workspace} sent`],
          [`${workspace} sent`],
        ]);
        const writers = slack.thread(channel, root.ts).map(({ user }) => user);
        expect(new Set(writers)).toEqual(new Set([person.id, bot]));
      }
    },
  );

  test.each(['host', 'connected'] as const)(
    'where both have the thread, each reply goes to the bot to which its writer turned (Slack names the %s)',
    async (authorizes) => {
      slack.delivery.authorizes = authorizes;
      const channel = sharedChannel();
      const root = mention(one, ann, channel, `ours, ${authorizes}`);
      await scene.until('it is sent', async () => (await known(channel, root))[0] === 'T1 sent');
      const other = mention(two, bob, channel, `theirs, ${authorizes}`, root);
      await scene.until('it is sent', async () => (await known(channel, other))[0] === 'T2 sent');
      for (const [person, workspace] of [
        [bob, 'T2'],
        [ann, 'T1'],
      ] as const) {
        const reply = slack.say({ person, channel, thread: root.ts, text: `more from ${person.name}` });
        await scene.until('it is known', async () => (await known(channel, reply)).length > 0);
        await scene.until(
          'it waits no more',
          async () => !/waiting|sending/.test((await known(channel, reply)).join()),
        );
        expect(await known(channel, reply)).toEqual([`${workspace} sent`]);
      }
      expect(scene.sentToAgent(`ours, ${authorizes}`).texts.join()).not.toContain('more from bob');
    },
  );

  test('an edit and a deletion of a waiting message reach the one that has it', async () => {
    const channel = sharedChannel();
    const root = mention(two, bob, channel, 'at work\n/slow 9000');
    await scene.until('it is sent', async () => (await known(channel, root))[0] === 'T2 sent');
    const [reply, deleted] = ['wiht a typo', 'never mind'].map((text) =>
      slack.say({ person: bob, channel, thread: root.ts, text }),
    );
    if (reply === undefined || deleted === undefined) throw new Error('There are two.');
    await slack.settled();
    slack.edit(channel, reply.ts, 'without a typo');
    slack.remove(channel, deleted.ts);
    await slack.settled();
    await scene.hurry('at work');
    await scene.until('it is sent', async () => (await known(channel, reply))[0] === 'T2 sent');
    expect(scene.sentToAgent('at work').texts.slice(1)).toEqual(['without a typo']);
    expect(await known(channel, deleted)).toEqual(['T2 withdrawn']);
  });

  test('a person of the other workspace is a stranger to the bot that they mention', async () => {
    const channel = sharedChannel();
    const question = mention(two, ann, channel, 'a question from over there');
    await scene.until('it is refused', async () => (await known(channel, question))[0] === 'T2 refused');
    expect(scene.sentToAgent('a question from over there').texts).toEqual([]);
  });
});

test.each([
  ['that its workspace does not share', false],
  ['that it has left', true],
])('a mention of the bot of another workspace in a channel %s reaches nobody', async (_where, wasInside) => {
  const channel = wasInside
    ? sharedChannel()
    : slack.createChannel({ teamId: 'T1', name: 'ours', members: [ann] });
  channel.members.delete(two);
  slack.delivery.authorizes = 'host';
  const question = mention(two, ann, channel, 'is anybody there?');
  await slack.settled();
  await scene.expectStays(() => slack.thread(channel, question.ts).length, 1);
  expect(await known(channel, question)).toEqual([]);
  // Nobody outside a channel makes another workspace's token ask about it.
  const asked = slack.calls.filter(({ teamId, args }) => teamId === 'T2' && args.channel === channel.id);
  expect(asked.length > 0).toBe(wasInside);
});
