import { describe, expect, test } from 'vitest';
import { textOf } from '../../../sandbox/agent/records.ts';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { type AppScene, openAppScene } from '../../support/app-scene.ts';

const scene = await openAppScene();
await scene.makeKnown(scene.grace);
const strict = await openAppScene({ agent: { behaviour: { messageToStopped: 409 } } });

async function stopped(
  on: AppScene,
  channel: Channel,
  text: string,
): Promise<{ root: Message; reply: Message }> {
  const root = on.ask(channel, text, {
    files: [{ name: 'kept.csv', mime: 'text/csv', bytes: 'a,b\n1,2\n' }],
  });
  const reply = await on.until('the reply grows', () =>
    on.replies(channel, root).find((message) => on.slack.visibleText(message).includes('Second')),
  );
  await on.slack.click({ person: on.ada, channel, ts: reply.ts, actionId: 'stop' });
  await on.finished(channel, root);
  return { root, reply: await on.messageWithButton(channel, root, 'retry') };
}

const sentTo = (on: AppScene, title: string) =>
  on.agent.tasks
    .filter((task) => task.title.startsWith(title))
    .map(({ messages }) => messages.filter(({ role }) => role === 'user').length);

describe.concurrent('Try again', () => {
  test('sends a stopped message once more in the same task, also when two people press at once', async () => {
    const channel = scene.channel();
    const { root, reply } = await stopped(scene, channel, '/slow 9000 same task');
    const press = { channel, ts: reply.ts, actionId: 'retry' };
    await Promise.all([
      scene.slack.click({ ...press, person: scene.ada }),
      scene.slack.click({ ...press, person: scene.grace }),
    ]);
    const told = await scene.until('it is sent again', () => {
      const now = scene.sentToAgent('/slow 9000 same task');
      return now.fileIds.length === 2 && now;
    });
    expect(told.texts[1]).toBe(told.texts[0]);
    expect(told.fileIds[1]).toEqual(told.fileIds[0]);
    expect(told.fileIds[1]).toHaveLength(1);
    expect(sentTo(scene, '/slow 9000 same task')).toEqual([2]);
    expect(scene.shown(channel, root)).not.toContain(strings.newConversation);
    const toldLater = () => [scene.ada, scene.grace].map((one) => scene.slack.ephemerals(one, channel));
    await scene.until('the second press is told', () =>
      JSON.stringify(toldLater()).includes('Your press came later'),
    );
    await scene.until('the button has left', () => !JSON.stringify(reply.blocks).includes('"retry"'));
    const used = ['ada', 'grace'].map((name) => strings.buttonUsed(name, 'retry'));
    expect(used.filter((words) => scene.shown(channel, root).includes(words))).toHaveLength(1);
  });

  test('goes before messages that were paused by the stop', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 9000 again before the rest');
    const reply = await scene.until('the reply grows', () =>
      scene.replies(channel, root).find((message) => scene.slack.visibleText(message).includes('Second')),
    );
    scene.reply(channel, root, 'what waits');
    await scene.slack.settled();
    await scene.slack.click({ person: scene.ada, channel, ts: reply.ts, actionId: 'stop' });
    await scene.finished(channel, root);
    const { ts } = await scene.messageWithButton(channel, root, 'retry');
    await scene.slack.click({ person: scene.ada, channel, ts, actionId: 'retry' });
    await scene.until(
      'it is sent again',
      () => scene.sentToAgent('/slow 9000 again before').texts.length === 2,
    );
    expect(new Set(scene.sentToAgent('/slow 9000 again before').texts).size).toBe(1);
  });

  test('starts a new task where the old one accepts no further messages', async () => {
    const channel = strict.channel();
    const { root, reply } = await stopped(strict, channel, '/slow 9000 takes no more');
    await strict.slack.click({ person: strict.ada, channel, ts: reply.ts, actionId: 'retry' });
    await strict.hurry('/slow 9000 takes no more');
    await strict.until('the answer of the new task is there', () =>
      strict.shown(channel, root).includes(strings.conversationQuoted),
    );
    expect(sentTo(strict, '/slow 9000 takes no more')).toEqual([1, 1]);
    const [first, second] = strict.agent.tasks.filter(({ title }) =>
      title.startsWith('/slow 9000 takes no more'),
    );
    const [sent, again] = [first, second].map((task) => textOf(task?.messages[0]?.content ?? []));
    expect(again?.endsWith(`The question:\n\n${sent}`)).toBe(true);
    const next = strict.reply(channel, root, 'and on in the new one');
    await strict.finished(channel, next);
    expect(sentTo(strict, '/slow 9000 takes no more')).toEqual([1, 2]);
  });

  test('starts a new task where the service no longer has the old one', async () => {
    const channel = strict.channel();
    const root = strict.ask(channel, 'a task that will be gone');
    await strict.finished(channel, root);
    const task = strict.taskOf('a task that will be gone');
    const url = `${strict.sandbox.config.AGENT_BASE_URL}/experimental/tasks/${task?.id ?? ''}`;
    const headers = { authorization: `Bearer ${strict.sandbox.config.AGENT_API_KEY}` };
    expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(200);
    const next = strict.reply(channel, root, 'is anybody there');
    await strict.finished(channel, next);
    const refused = strict
      .replies(channel, root)
      .find((one) => strict.slack.visibleText(one).includes(strings.taskNotFound));
    await strict.slack.click({ person: strict.grace, channel, ts: refused?.ts ?? '', actionId: 'retry' });
    await strict.until('the new task has it', () => sentTo(strict, 'is anybody there')[0] === 1);
  });

  test('is the only way on once it is offered, also where the process is killed at that moment', async ({
    onTestFinished,
  }) => {
    const own = await openAppScene({ settings: { DRAIN_SECONDS: '0' } }, onTestFinished);
    const channel = own.channel();
    const refusal = { kind: 'status', status: 422 } as const;
    own.agent.faults.add({ call: /^POST .*\/messages$/, fault: refusal, times: 1 });
    // Slack shows why, and nobody hears that it does.
    const answersAgain = own.slack.faults.add({ call: 'chat.update', fault: { kind: 'lost' } });
    const root = own.ask(channel, 'not twice');
    const { ts } = await own.messageWithButton(channel, root, 'retry');
    await own.slack.click({ person: own.ada, channel, ts, actionId: 'retry' });
    await own.sandbox.bot.stop();
    answersAgain();
    await own.sandbox.restartBot();
    const thread = { workspace: own.slack.team.id, channel: channel.id, thread_ts: root.ts };
    const { messages, turns } = own.sandbox.bot.store;
    await own.until('nothing is left to do', async () => {
      const isOver = (await turns.open(thread)) === undefined;
      return isOver && (await messages.nextWaiting(thread)) === undefined;
    });
    expect(own.sentToAgent('not twice').texts).toEqual(['not twice']);
    expect(own.shown(channel, root)).toContain('You wrote 2 words');
  });

  test('says so where its question was deleted, and its button leaves', async ({ onTestFinished }) => {
    const own = await openAppScene({}, onTestFinished);
    const channel = own.channel();
    const refusal = { kind: 'status', status: 422 } as const;
    own.agent.faults.add({ call: /^POST .*\/messages$/, fault: refusal, times: 1 });
    const root = own.ask(channel, 'not this one');
    await own.finished(channel, root);
    const reply = await own.messageWithButton(channel, root, 'retry');
    own.slack.remove(channel.id, root.ts);
    await own.slack.settled();
    await own.slack.click({ person: own.ada, channel, ts: reply.ts, actionId: 'retry' });
    const told = await own.until('it is told', () => own.slack.ephemerals(own.ada, channel)[0]);
    expect(told.text).toBe(strings.pressedTooLate(strings.questionDeleted));
    await own.until('the button has left', () => !JSON.stringify(reply.blocks).includes('"retry"'));
    expect(own.sentToAgent('not this one').texts).toEqual([]);
  });
});
