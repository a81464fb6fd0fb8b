import { describe, expect, test } from 'vitest';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';

const scene = await openAppScene();
const { slack, agent } = scene;

describe.concurrent('a conversation', () => {
  test('starts with a mention, whose task is answered in its thread', async () => {
    const channel = scene.channel('proteins');
    const root = scene.ask(channel, 'what folds fastest? And why?');
    await scene.finished(channel, root);
    const project = agent.projects.find(({ title }) => title === 'proteins');
    expect(project?.description).toBe('Where things are tried');
    const task = agent.tasks.findLast(({ title }) => title === 'what folds fastest?');
    expect(task?.project.id).toBe(project?.id);
    expect(scene.sentToAgent('what folds fastest?').texts).toEqual(['what folds fastest? And why?']);
    expect(scene.shown(channel, root)).toContain("I am the sandbox's agent");
    expect(scene.shown(channel, root)).toMatch(/Took (\d+ s|under a second) · default model/);
    expect(scene.shown(channel, root)).not.toContain('Stop');
  });

  test('continues with replies without a mention, and names who wrote and who is answered once two people ask', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'first question of Ada');
    await scene.finished(channel, root);
    const second = scene.reply(channel, root, 'second question');
    await scene.finished(channel, second);
    const named = () =>
      scene.replies(channel, root).map((reply) => /Replying to .*/.exec(slack.visibleText(reply))?.[0]);
    expect(named()).toEqual([undefined, undefined]);
    const third = scene.reply(channel, root, 'and mine', { person: scene.grace });
    await scene.finished(channel, third);
    expect(named()).toEqual([undefined, undefined, strings.inAnswerTo(['grace'])]);
    await scene.finished(channel, scene.reply(channel, root, 'and mine again'));
    expect(named().at(-1)).toBe(strings.inAnswerTo(['ada']));
    expect(scene.sentToAgent('first question of Ada').texts).toEqual([
      'first question of Ada',
      'second question',
      `${strings.unnamedWriter('ada')}\n\ngrace: and mine`,
      'ada: and mine again',
    ]);
  });

  test('tells two people of one name apart', async () => {
    const one = slack.createPerson({ name: 'wei', realName: 'Wei Zhang' });
    const other = slack.createPerson({ name: 'wei-2', realName: 'Wei Zhang' });
    const channel = scene.channel();
    const root = scene.ask(channel, 'which buffer?', { person: one });
    await scene.finished(channel, root);
    await scene.finished(channel, scene.reply(channel, root, 'the old one', { person: other }));
    await scene.finished(channel, scene.reply(channel, root, 'the new one', { person: one }));
    const named = ({ id }: typeof one) => `Wei Zhang (${id})`;
    expect(scene.sentToAgent('which buffer?').texts).toEqual([
      'which buffer?',
      `${strings.unnamedWriter(named(one))}\n\n${named(other)}: the old one`,
      `${named(one)}: the new one`,
    ]);
  });

  test('leaves out a reply addressed to another person', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'who is asked here?');
    await scene.finished(channel, root);
    scene.reply(channel, root, `<@${scene.grace.id}> what do you think?`);
    await slack.settled();
    await scene.expectStays(() => scene.sentToAgent('who is asked here?').texts.length, 1);
  });

  test('never starts without a mention, at the top or in a thread', async () => {
    const channel = scene.channel();
    const root = slack.say({ person: scene.ada, channel, text: 'lunch?' });
    scene.reply(channel, root, 'yes', { person: scene.grace });
    await slack.settled();
    await scene.expectNoReply(channel, root);
  });

  test('needs a mention in a group direct message', async () => {
    const group = slack.openGroupDm([scene.ada, scene.grace]);
    const silent = slack.say({ person: scene.ada, channel: group, text: 'between us' });
    const root = scene.ask(group, 'a question of two');
    await scene.finished(group, root);
    expect(scene.replies(group, silent)).toHaveLength(0);
    expect(scene.replies(group, root)).not.toHaveLength(0);
  });

  test('includes replies also sent to the channel and /me messages', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'broadcasts and me');
    await scene.finished(channel, root);
    const broadcast = scene.reply(channel, root, 'to all of you', { broadcast: true });
    await scene.finished(channel, broadcast);
    const me = scene.reply(channel, root, 'is thinking', { subtype: 'me_message' });
    await scene.finished(channel, me);
    expect(scene.sentToAgent('broadcasts and me').texts).toEqual([
      'broadcasts and me',
      'to all of you',
      'is thinking',
    ]);
  });

  test('starts with an edit that adds a mention, and not with an unfurled link', async () => {
    const channel = scene.channel();
    const root = slack.say({ person: scene.ada, channel, text: 'forgot to mention https://example.com/' });
    slack.unfurl(channel.id, root.ts);
    await slack.settled();
    slack.edit(channel.id, root.ts, `${scene.mention} forgot to mention you`);
    await scene.finished(channel, root);
    slack.unfurl(channel.id, root.ts);
    await slack.settled();
    await scene.expectStays(
      () => scene.sentToAgent('forgot to mention you').texts,
      [expect.stringMatching(/^forgot to mention you/)],
    );
  });

  test('brings the earlier messages of a human thread along', async () => {
    const channel = scene.channel();
    const root = slack.say({ person: scene.ada, channel, text: 'The gel looks odd.' });
    scene.reply(channel, root, 'Which lane?', { person: scene.grace });
    const question = scene.ask(channel, 'what may be wrong with the gel?', { thread: root.ts });
    await scene.finished(channel, question);
    const [text] = scene.sentToAgent('what may be wrong').texts;
    expect(text).toContain('> ');
    expect(text).toContain('The gel looks odd.');
    expect(text).toContain('grace');
    expect(text?.endsWith('what may be wrong with the gel?')).toBe(true);
  });

  test('begins after an empty mention in the middle, with the newest files from before it', async () => {
    const channel = scene.channel();
    const file = (n: number) => ({ name: `lane-${n}.csv`, mime: 'text/csv', bytes: `a\n${n}\n` });
    const root = slack.say({ person: scene.ada, channel, text: 'Six lanes.', files: [file(1), file(2)] });
    scene.reply(channel, root, 'Four more.', { person: scene.grace, files: [3, 4, 5, 6].map(file) });
    await scene.finished(channel, scene.ask(channel, '', { thread: root.ts }));
    await scene.finished(channel, scene.reply(channel, root, 'what is the mean of all lanes?'));
    const { texts, fileIds } = scene.sentToAgent('what is the mean of all');
    expect(texts[0]).toContain('> Six lanes.');
    expect(texts[0]).toContain('> Four more.');
    expect(texts[0]).not.toContain('Mention me with a question');
    expect(fileIds.map((ids) => ids.length)).toEqual([5]);
    expect(scene.shown(channel, root)).toMatch(/lane-1\.csv.* was left out: it isn't among the five newest/);
  });

  test('does not start with an empty mention, which is answered with help', async () => {
    const channel = scene.channel();
    const before = agent.tasks.length;
    const root = scene.ask(channel, '');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('Mention me with a question');
    expect(agent.tasks.slice(before).some(({ title }) => title === 'New question')).toBe(false);
    const question = scene.reply(channel, root, 'a question below an empty mention');
    await scene.finished(channel, question);
    expect(scene.sentToAgent('a question below').texts).toEqual(['a question below an empty mention']);
  });

  test('goes on after an empty mention, which is asked for the next message', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'a question with an afterthought');
    await scene.finished(channel, root);
    await scene.finished(channel, scene.ask(channel, '', { thread: root.ts }));
    expect(scene.shown(channel, root)).toContain(strings.helpInThread);
    expect(scene.shown(channel, root)).not.toContain('Mention me with a question');
  });

  test('sends messages that come while the agent works in order of ts', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 9000\nthe first of four');
    const others = ['two', 'three', 'four'].map((text) => scene.reply(channel, root, text));
    await scene.until('a waiting message has its reaction', () =>
      others.some(({ reactions }) => reactions.has('hourglass_flowing_sand')),
    );
    await scene.hurry('/slow 9000');
    for (const message of others) await scene.finished(channel, message);
    const task = agent.tasks.find(({ messages }) =>
      messages.some(({ content }) => JSON.stringify(content).includes('the first of four')),
    );
    const texts = (task?.messages ?? [])
      .filter(({ role }) => role === 'user')
      .map(({ content }) => JSON.stringify(content));
    // What one person writes meanwhile may go as one.
    expect(texts.join('\n').match(/first of four|two|three|four/g)).toEqual([
      'first of four',
      'two',
      'three',
      'four',
    ]);
    await scene.until('no waiting reaction is left', () =>
      others.every(({ reactions }) => !(reactions.get('hourglass_flowing_sand')?.length ?? 0)),
    );
  });
});
