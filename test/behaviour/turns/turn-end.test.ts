import { describe, expect, test } from 'vitest';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';

const scene = await openAppScene({ limits: { waitingMs: 2_000 } });
const taskOnly = await openAppScene({ agent: { behaviour: { backgroundError: 'only-the-task' } } });
const { slack, agent } = scene;

describe.concurrent('a turn', () => {
  test('that failed shows the error of the service', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/fail the reader broke');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('the reader broke');
    expect(scene.shown(channel, root)).not.toContain('Stop\n');
  });

  test('shows fresh links to its results to the person who asks', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/files 2');
    await scene.finished(channel, root);
    const posted = scene.replies(channel, root).at(-1);
    const [person, other] = ['lena', 'otto'].map((name) => slack.createPerson({ name }));
    if (person === undefined || other === undefined) throw new Error('There are two.');
    for (const one of [person, other]) slack.invite(channel, one);
    await slack.click({
      person,
      channel: channel.id,
      ts: posted?.ts ?? '',
      actionId: 'fresh_links',
    });
    const shown = await scene.until('the links are there', () => {
      const text = JSON.stringify(slack.modal(person)?.blocks ?? []);
      return text.includes('2 files from the agent') && text;
    });
    expect(shown).toContain('These links work for a limited time.');
    const urls = [...shown.matchAll(/"url":"([^"]+)"/g)].map(([, url]) => url ?? '');
    expect(urls).toHaveLength(2);
    for (const url of urls) expect((await fetch(url)).status).toBe(200);
    expect(slack.modal(other)).toBeUndefined();
  });

  test('reports results as gone that the service has lost', async () => {
    const channel = scene.channel();
    const person = slack.createPerson({ name: 'mona' });
    slack.invite(channel, person);
    const root = scene.ask(channel, '/files 1 to lose');
    await scene.finished(channel, root);
    agent.tasks.findLast(({ title }) => title === '/files 1 to lose')?.results.splice(0);
    const ts = scene.replies(channel, root).at(-1)?.ts ?? '';
    await slack.click({ person, channel, ts, actionId: 'fresh_links' });
    await scene.until('it is told where it was pressed', () =>
      JSON.stringify(slack.modal(person)?.blocks ?? []).includes(strings.filesNotFound),
    );
    expect(slack.ephemerals(person, channel)).toEqual([]);
  });

  test('that reached the length limit has a Continue button that works once', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/lengthcut');
    await scene.finished(channel, root);
    const [reply] = scene.replies(channel, root);
    expect(scene.shown(channel, root)).toContain('reached its length limit');
    const press = { person: scene.ada.id, channel: channel.id, ts: reply?.ts ?? '', actionId: 'continue' };
    const results = await Promise.all([slack.click(press), slack.click(press)]);
    expect(results.every(({ acked }) => acked)).toBe(true);
    const task = () => agent.tasks.findLast(({ title }) => title === '/lengthcut');
    await scene.until('the agent is told to go on', () =>
      task()?.messages.some(({ content }) => JSON.stringify(content).includes('Continue.')),
    );
    await scene.until('the continued reply is done', () => scene.replies(channel, root).length >= 2);
    expect(task()?.messages.filter(({ role }) => role === 'user')).toHaveLength(2);
    await scene.until('the button has left', () => !JSON.stringify(reply?.blocks).includes('"continue"'));
    expect(scene.shown(channel, root)).toContain(strings.buttonUsed('ada', 'continue'));
    expect(JSON.stringify(reply?.blocks)).toContain('feedback');
  });

  test('that reached the length limit can be continued the moment its button is there', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/lengthcut at once');
    const { ts } = await scene.messageWithButton(channel, root, 'continue');
    await slack.click({ person: scene.ada.id, channel: channel.id, ts, actionId: 'continue' });
    await scene.until('the continued reply is there', () => scene.replies(channel, root).length >= 2);
    const [reply] = scene.replies(channel, root);
    await scene.until('the button has left', () => !JSON.stringify(reply?.blocks).includes('"continue"'));
    expect(scene.shown(channel, root)).toContain(strings.buttonUsed('ada', 'continue'));
    expect(scene.shown(channel, root)).toContain('reached its length limit');
  });

  test('that reached the length limit is not continued once somebody has written something else', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/lengthcut and then');
    const { ts } = await scene.messageWithButton(channel, root, 'continue');
    await scene.finished(channel, scene.reply(channel, root, 'what is a mouse?', { person: scene.grace }));
    await slack.click({ person: scene.ada.id, channel: channel.id, ts, actionId: 'continue' });
    await scene.until('it is told', () =>
      slack.ephemerals(scene.ada, channel).some(({ text }) => text.includes(strings.answeredInThread)),
    );
    expect(scene.sentToAgent('/lengthcut and then').texts).toHaveLength(2);
    const [reply] = scene.replies(channel, root);
    await scene.until('the button has left', () => !JSON.stringify(reply?.blocks).includes('"continue"'));
    expect(scene.shown(channel, root)).toContain(strings.answeredInThread);
  });

  test('waits for background work and posts its files', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/background 9000');
    await scene.until('it waits', () => scene.shown(channel, root).includes(strings.backgroundWork));
    await scene.hurry('/background 9000');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('from the agent');
  });

  test.each([
    ['on-the-reply', 'The background work broke down'],
    ['only-the-task', strings.agentFailed('')],
  ] as const)(
    'fails with its task after its reply was complete, the error standing %s',
    async (where, told) => {
      const own = where === 'on-the-reply' ? scene : taskOnly;
      const channel = own.channel();
      const root = own.ask(channel, '/background 9001 fail');
      await own.until('it waits', () => own.shown(channel, root).includes(strings.backgroundWork));
      await own.hurry('/background 9001');
      await own.messageWithButton(channel, root, 'retry');
      expect(own.shown(channel, root)).toContain('My answer is final.');
      expect(own.shown(channel, root)).toContain(told);
    },
  );

  test('says that background work was stopped where the service stopped it', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/background 9002 cancel');
    await scene.until('it waits', () => scene.shown(channel, root).includes(strings.backgroundWork));
    await scene.hurry('/background 9002');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain(strings.backgroundNotices.cancelled);
  });

  test('shows system messages as quiet lines, and blocks of an unknown kind', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/system the model was changed\n/unknownblock');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('the model was changed');
    expect(scene.shown(channel, root)).toMatch(/kind “|unknown/);
  });

  test('says after a while that the agent is silent, and can be stopped then', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/silent 5000');
    const reply = await scene.until('the reply says that the agent is silent', () =>
      scene
        .replies(channel, root)
        .find((message) => slack.visibleText(message).includes('No news from the agent')),
    );
    await slack.click({ person: scene.ada.id, channel: channel.id, ts: reply.ts, actionId: 'stop' });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('Stopped by ada.');
    expect(scene.shown(channel, root)).not.toContain('No news');
  });

  test('pings nobody, whatever the agent writes', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/ping');
    await scene.finished(channel, root);
    const raw = JSON.stringify(scene.replies(channel, root).map(({ text, blocks }) => ({ text, blocks })));
    expect(raw).not.toMatch(/<!(channel|here|everyone)|<@U|<!subteam|@channel|@here|@everyone/);
  });
});
