import { describe, expect, onTestFinished, test } from 'vitest';
import { openScene, openServer } from './scene.ts';

await openServer();

describe('trouble', () => {
  test('the service away at the mention: the thread says so, and the turn goes on when it is back', async () => {
    const scene = await openScene({}, onTestFinished);
    const channel = scene.channel();
    const back = scene.agent.faults.add({ call: /./, fault: { kind: 'status', status: 503 } });
    const root = scene.ask(channel, 'are you there?');
    await scene.until('the thread says that the service is away', () =>
      scene.shown(channel, root).includes('cannot be reached'),
    );
    back();
    await scene.finished(channel, root);
    expect(scene.told('are you there?').texts).toEqual(['are you there?']);
    expect(scene.shown(channel, root)).not.toContain('cannot be reached');
    expect(scene.replies(channel, root)).toHaveLength(1);
  });

  test('a dead service key is said once, and the turn goes on when it is mended', async () => {
    const scene = await openScene({}, onTestFinished);
    const channel = scene.channel();
    const mend = scene.agent.faults.add({ call: /./, fault: { kind: 'status', status: 401 } });
    const root = scene.ask(channel, 'does the key fit?');
    await scene.until('the thread says that the key is not accepted', () =>
      scene.shown(channel, root).includes('does not accept the key'),
    );
    mend();
    await scene.finished(channel, root);
    expect(scene.told('does the key fit?').texts).toEqual(['does the key fit?']);
    expect(scene.replies(channel, root)).toHaveLength(1);
  });

  test('lost answers of creations and sends lead to no second project in use, task or message', async () => {
    const scene = await openScene({}, onTestFinished);
    const channel = scene.channel('lossy');
    for (const call of ['POST /experimental/tasks', 'POST /experimental/tasks/{task_id}/messages']) {
      scene.agent.faults.add({ call, fault: { kind: 'lost' }, times: 1 });
    }
    const root = scene.ask(channel, 'only once please');
    await scene.finished(channel, root);
    const tasks = scene.agent.tasks.filter(({ title }) => title === 'only once please');
    expect(tasks).toHaveLength(1);
    expect(scene.told('only once please').texts).toEqual(['only once please']);
  });

  test('a lost answer to a post leads to no second reply', async () => {
    const scene = await openScene({}, onTestFinished);
    const channel = scene.channel();
    scene.slack.faults.add({ call: 'chat.postMessage', fault: { kind: 'lost' }, times: 1 });
    const root = scene.ask(channel, 'posted once?');
    await scene.finished(channel, root);
    expect(scene.replies(channel, root)).toHaveLength(1);
  });

  test('replies that came before their thread became ours are read back and wait like any other', async () => {
    const scene = await openScene({}, onTestFinished);
    const channel = scene.channel();
    const root = scene.slack.say({ person: scene.ada, channel, text: 'forgot to mention the bot' });
    const reply = scene.reply(channel, root, 'and one more thing', { person: scene.grace });
    await scene.slack.settled();
    scene.slack.edit(channel.id, root.ts, `${scene.mention} forgot to mention the bot`);
    await scene.finished(channel, root);
    await scene.finished(channel, reply);
    expect(scene.told('forgot to mention the bot').texts).toEqual([
      'forgot to mention the bot',
      'grace: and one more thing',
    ]);
  });
});
