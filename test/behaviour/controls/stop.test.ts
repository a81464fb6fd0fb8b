import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import { openAppScene } from '../../support/app-scene.ts';

const scene = await openAppScene();
const { slack, agent } = scene;

/** Waits until the live reply of a message shows something of the answer. */
async function growing(channel: Channel, root: Message): Promise<Message> {
  return scene.until('the reply grows', () =>
    scene.replies(channel, root).find((message) => slack.visibleText(message).includes('Second')),
  );
}

function told(person: typeof scene.ada, channel: Channel): string {
  return slack
    .ephemerals(person, channel)
    .map(({ text }) => text)
    .join('\n');
}

async function pausedPost(channel: Channel, root: Message): Promise<Message> {
  return scene.until('the thread names the paused messages', () =>
    scene.replies(channel, root).find((message) => /^\d+ messages? (?:is|are) waiting\.$/.test(message.text)),
  );
}

describe.concurrent('the agent', () => {
  test('is stopped by the whole message "@bot stop."', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 9000 and stop');
    await growing(channel, root);
    scene.reply(channel, root, `${scene.mention} stop.`, { person: scene.grace });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('Stopped by grace.');
    expect(scene.shown(channel, root)).toContain('Second 1');
    expect(scene.sentToAgent('/slow 9000 and stop').texts).toHaveLength(1);
  });

  test('answers "stop" to its writer alone where nothing is running', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'soon over');
    await scene.finished(channel, root);
    scene.reply(channel, root, 'stop');
    await scene.until('it is told', () => told(scene.ada, channel).includes('nothing to stop'));
    expect(scene.sentToAgent('soon over').texts).toHaveLength(1);
    const top = scene.ask(channel, 'stop');
    await scene.until('it is told again', () => slack.ephemerals(scene.ada, channel).length > 1);
    await scene.expectNoReply(channel, top);
    expect(slack.ephemerals(scene.ada, channel)).toHaveLength(2);
  });

  test.each(['please stop', 'Cancel that, please.', 'never mind, stop'])(
    'is stopped by “%s”',
    async (words) => {
      const channel = scene.channel();
      const question = `/slow 9000 until ${words}`;
      const root = scene.ask(channel, question);
      await growing(channel, root);
      scene.reply(channel, root, words);
      await scene.finished(channel, root);
      expect(scene.shown(channel, root)).toContain('Stopped by ada.');
      expect(scene.sentToAgent(question.slice(0, 22)).texts).toHaveLength(1);
      // With no run at work it is a message like any other.
      const asked = scene.reply(channel, root, words);
      await scene.finished(channel, asked);
      expect(scene.sentToAgent(question.slice(0, 22)).texts).toContain(words);
      expect(told(scene.ada, channel)).toBe('');
    },
  );

  test('is not stopped by such words between people, or below a message that mentions somebody else', async () => {
    const channel = scene.channel();
    const talk = slack.say({ person: scene.grace, channel, text: 'we argue here' });
    const root = scene.reply(channel, talk, `${scene.mention} /slow 9000 while people talk`);
    await growing(channel, root);
    scene.reply(channel, talk, 'please stop', { person: scene.grace });
    scene.reply(channel, talk, `<@${scene.grace.id}> stop it`);
    await slack.settled();
    await scene.expectStays(() => scene.shown(channel, root).includes('Stopp'), false);
    scene.reply(channel, talk, `${scene.mention} please stop`);
    await scene.finished(channel, root);
  });

  test('is stopped by a top-level "stop" in direct messages', async () => {
    const dm = slack.openDm(scene.ada);
    const root = slack.say({ person: scene.ada, channel: dm, text: '/slow 9000' });
    await growing(dm, root);
    slack.say({ person: scene.ada, channel: dm, text: 'stop' });
    await scene.finished(dm, root);
    expect(scene.shown(dm, root)).toContain('Stopped by ada.');
  });

  test.each(['reply', 'message'])('is stopped by the reaction on the %s', async (where) => {
    const channel = scene.channel();
    const root = scene.ask(channel, `/slow 9000 ${where}`);
    const reply = await growing(channel, root);
    slack.react(scene.grace, channel, reply.ts, 'thumbsup');
    await scene.expectStays(() => scene.shown(channel, root).includes('Stopped by'), false);
    slack.react(scene.grace, channel, where === 'reply' ? reply.ts : root.ts, 'octagonal_sign');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('Stopped by grace.');
  });

  test('is stopped by the reaction on a reply whose post is not known to have arrived', async ({
    onTestFinished,
  }) => {
    const channel = scene.channel();
    // However soon the post is found, nothing is sent before the stop is recorded.
    const { promise: isStopped, resolve: stopped } = Promise.withResolvers<void>();
    onTestFinished(() => stopped());
    const held = { kind: 'hold', until: isStopped } as const;
    scene.agent.faults.add({ call: 'POST /experimental/tasks', about: 'not recorded yet', fault: held });
    slack.faults.add({ call: 'chat.postMessage', about: channel.id, fault: { kind: 'lost' }, times: 1 });
    const root = scene.ask(channel, '/slow 9000 not recorded yet');
    const reply = await scene.until('it is posted', () => scene.replies(channel, root)[0]);
    slack.react(scene.grace, channel, reply.ts, 'octagonal_sign');
    await slack.settled();
    stopped();
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('Stopped by grace.');
    expect(scene.sentToAgent('/slow 9000 not recorded yet').texts).toEqual([]);
  });

  test('never receives a waiting message that a reaction withdrew, and a later reaction is told it has ended', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 9000 react to what waits');
    await growing(channel, root);
    const waiting = scene.reply(channel, root, 'never to be sent');
    await slack.settled();
    slack.react(scene.ada, channel, waiting.ts, 'octagonal_sign');
    await scene.until('it is told', () => told(scene.ada, channel).includes('before it reached the agent'));
    scene.reply(channel, root, 'stop');
    await scene.finished(channel, root);
    slack.react(scene.ada, channel, root.ts, 'octagonal_sign');
    await scene.until('it is told', () => told(scene.ada, channel).includes('already ended'));
    expect(scene.sentToAgent('/slow 9000 react').texts).toHaveLength(1);
  });

  test('is cancelled by force only by a second press more than ten seconds after the first', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/stubborn');
    const reply = await scene.until('the reply grows', () =>
      scene.replies(channel, root).find((message) => slack.visibleText(message).includes('I do not stop')),
    );
    const press = { person: scene.grace, channel, ts: reply.ts, actionId: 'stop' };
    await slack.click(press);
    await scene.until('who stops is shown', () =>
      scene.shown(channel, root).includes('grace asked me to stop'),
    );
    await slack.click({ ...press, person: scene.ada });
    await scene.until('it is told', () => told(scene.ada, channel).includes('already been asked to stop'));
    const { db, turns } = scene.sandbox.bot.store;
    const key = { workspace: slack.team.id, channel: channel.id, ts: root.ts };
    const id = (await turns.ofMessage(key))?.id ?? '';
    await db
      .updateTable('turns')
      .set({ stop_requested_ts: sql`stop_requested_ts - 10` })
      .where('id', '=', id)
      .execute();
    await slack.click({ ...press, person: scene.ada });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('Stopped by grace.');
    expect(scene.shown(channel, root)).toContain('I do not stop');
    const forced = agent.calls.filter(
      ({ name, body }) => name.endsWith('{task_id}/cancel') && JSON.stringify(body).includes('true'),
    );
    expect(forced.length).toBeGreaterThan(0);
  });
});

describe.concurrent('a message that waits when the agent is stopped', () => {
  test('stays paused until someone sends it on, and the thread shows how many there are', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 9000 held and let go');
    await growing(channel, root);
    scene.reply(channel, root, 'the first that waits');
    const second = scene.reply(channel, root, 'the second that waits');
    await slack.settled();
    scene.reply(channel, root, 'stop');
    await scene.finished(channel, root);
    const post = await pausedPost(channel, root);
    expect(post.text).toBe('2 messages are waiting.');
    const third = scene.reply(channel, root, 'the third, said since');
    await scene.until('the number is brought up to date', () => post.text.startsWith('3 messages'));
    slack.remove(channel, second.ts);
    await scene.until('the number is brought up to date', () => post.text.startsWith('2 messages'));
    expect(scene.sentToAgent('/slow 9000 held and let').texts).toHaveLength(1);
    const press = { person: scene.grace, channel, ts: post.ts, actionId: 'send_paused' };
    await Promise.allSettled([slack.click(press), slack.click({ ...press, person: scene.ada })]);
    await scene.finished(channel, third);
    expect(scene.sentToAgent('/slow 9000 held and let').texts.slice(1)).toEqual([
      'the first that waits\n\nthe third, said since',
    ]);
    await scene.until('the post says it', () => /sent 2 messages to the agent/.test(post.text));
    const answers = `${told(scene.ada, channel)}${told(scene.grace, channel)}`;
    expect(answers.match(/No messages are waiting/g)).toHaveLength(1);
  });

  test('can be withdrawn, and is then never sent', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 9000 held and taken back');
    await growing(channel, root);
    const waiting = scene.reply(channel, root, 'in vain');
    await slack.settled();
    scene.reply(channel, root, 'stop');
    await scene.finished(channel, root);
    const post = await pausedPost(channel, root);
    await slack.click({ person: scene.ada, channel, ts: post.ts, actionId: 'discard_paused' });
    await scene.until('the post says it', () => post.text.startsWith('ada discarded 1 message;'));
    const key = { workspace: slack.team.id, channel: channel.id, ts: waiting.ts };
    expect((await scene.sandbox.bot.store.messages.get(key))?.state).toBe('withdrawn');
    const next = scene.reply(channel, root, 'this one is meant');
    await scene.finished(channel, next);
    expect(scene.sentToAgent('/slow 9000 held and taken').texts.slice(1)).toEqual(['this one is meant']);
  });

  test('no longer pauses the thread once its writer deletes it', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 9000 deleted while held');
    await growing(channel, root);
    const waiting = scene.reply(channel, root, 'soon deleted');
    await slack.settled();
    scene.reply(channel, root, 'stop');
    await scene.finished(channel, root);
    const post = await pausedPost(channel, root);
    slack.remove(channel, waiting.ts);
    await slack.settled();
    const next = scene.reply(channel, root, 'this goes at once');
    await scene.finished(channel, next);
    expect(scene.sentToAgent('/slow 9000 deleted').texts.slice(1)).toEqual(['this goes at once']);
    await scene.until('the post says it', () => post.text === 'No messages are waiting here any more.');
  });

  test('is not named any more where it was deleted while the thread was being told', async ({
    onTestFinished,
  }) => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 9000 told too late');
    await growing(channel, root);
    const waiting = scene.reply(channel, root, 'deleted in between');
    await slack.settled();
    const gate = Promise.withResolvers<void>();
    onTestFinished(() => gate.resolve());
    const held = { kind: 'hold', until: gate.promise } as const;
    slack.faults.add({ call: 'chat.postMessage', about: channel.id, fault: held });
    scene.reply(channel, root, 'stop');
    await scene.until('the thread is being told', () =>
      slack.calls.some(
        ({ args }) => args.channel === channel.id && String(args.text).includes('message is waiting'),
      ),
    );
    slack.remove(channel, waiting.ts);
    await slack.settled();
    gate.resolve();
    const post = await scene.until('the thread says so', () =>
      scene.replies(channel, root).find(({ text }) => text === 'No messages are waiting here any more.'),
    );
    expect(JSON.stringify(post.blocks)).not.toContain('send_paused');
  });

  test('counts where it was written before the bot knew that the thread had been told', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 9000 told, as nobody knew');
    await growing(channel, root);
    scene.reply(channel, root, 'counted at once');
    await slack.settled();
    slack.faults.add({ call: 'chat.postMessage', about: channel.id, fault: { kind: 'lost' }, times: 1 });
    scene.reply(channel, root, 'stop');
    const post = await pausedPost(channel, root);
    scene.reply(channel, root, 'counted later');
    await scene.finished(channel, root);
    expect(post.text).toBe('2 messages are waiting.');
    expect(scene.replies(channel, root).filter(({ text }) => text.includes('waiting'))).toEqual([post]);
  });

  test('is sent at once where it was written after the stop', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 9000 something else instead');
    await growing(channel, root);
    scene.reply(channel, root, 'stop');
    await slack.settled();
    const instead = scene.reply(channel, root, 'do this instead');
    await scene.finished(channel, instead);
    expect(scene.sentToAgent('/slow 9000 something').texts.slice(1)).toEqual(['do this instead']);
  });
});

test.concurrent('a message that is stopped before it was sent is never sent, even while the service is down', async () => {
  const channel = scene.channel('without-a-project');
  const mend = agent.faults.add({
    call: 'POST /projects',
    about: channel.name,
    fault: { kind: 'status', status: 503 },
  });
  const root = scene.ask(channel, 'stopped before it began');
  const reply = await scene.until('the outage is shown', () =>
    scene.replies(channel, root).find((message) => slack.visibleText(message).includes("can't reach")),
  );
  await slack.click({ person: scene.ada, channel, ts: reply.ts, actionId: 'stop' });
  await scene.finished(channel, root);
  mend();
  expect(scene.shown(channel, root)).toContain('Stopped by ada.');
  expect(scene.sentToAgent('stopped before it began').texts).toEqual([]);
});

test.concurrent('a stop that does not reach the service is sent again', async () => {
  const channel = scene.channel();
  const root = scene.ask(channel, '/slow 9000 with a lost stop');
  const reply = await growing(channel, root);
  const task = agent.tasks.findLast(({ title }) => title.startsWith('/slow 9000 with a lost'));
  const mend = agent.faults.add({
    call: 'POST /experimental/tasks/{task_id}/messages/{message_id}/cancel',
    about: task?.id ?? '?',
    fault: { kind: 'status', status: 503 },
  });
  expect((await slack.click({ person: scene.ada, channel, ts: reply.ts, actionId: 'stop' })).acked).toBe(
    true,
  );
  await scene.expectStays(() => task?.status, 'running');
  mend();
  await scene.finished(channel, root);
  expect(scene.shown(channel, root)).toContain('Stopped by ada.');
});

describe('after a stop', () => {
  afterEach(() => scene.reset());

  test('a paused thread stays paused across a restart, and its buttons work until they are gone', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 9000 paused for long');
    await scene.until('the reply grows', () => scene.shown(channel, root).includes('Second'));
    const waiting = scene.reply(channel, root, 'after the restart');
    await slack.settled();
    scene.reply(channel, root, 'stop');
    await scene.finished(channel, root);
    const [stopped] = scene.replies(channel, root);
    const post = await scene.until('the thread names the paused messages', () =>
      scene.replies(channel, root).find(({ text }) => text.includes('message is waiting.')),
    );
    await scene.sandbox.restartBot();
    await scene.expectStays(() => scene.sentToAgent('/slow 9000 paused for long').texts.length, 1);
    const mend = slack.faults.add({
      call: 'chat.update',
      about: channel.id,
      fault: { kind: 'status', status: 503 },
    });
    const press = { person: scene.ada, channel, ts: post.ts, actionId: 'send_paused' };
    await slack.click(press);
    await scene.until('the update of the notice fails', () =>
      slack.calls.some(({ method, status, args }) => status === 503 && args.ts === post.ts && method),
    );
    mend();
    await scene.finished(channel, waiting);
    expect(scene.sentToAgent('/slow 9000 paused for long').texts).toEqual([
      '/slow 9000 paused for long',
      'after the restart',
    ]);
    // As if the process that posted the notice had died before it learnt that it stands.
    const unknown = scene.sandbox.bot.store.db.updateTable('posts').set({ state: 'intended', ts: null });
    await unknown.where('channel', '=', channel.id).where('part', '=', 'paused').execute();
    await slack.click(press);
    await scene.until('the buttons are gone', () => /sent 1 message/.test(post.text));
    await slack.click({ person: scene.grace, channel, ts: stopped?.ts ?? '', actionId: 'retry' });
    await scene.until(
      'it is sent again',
      () => scene.sentToAgent('/slow 9000 paused for long').texts.length === 3,
    );
  });

  test('a stop whose answer is lost never stops the next run', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 9000 stopped once');
    const reply = await growing(channel, root);
    const call = 'POST /experimental/tasks/{task_id}/messages/{message_id}/cancel';
    agent.faults.add({ call, fault: { kind: 'lost' }, times: 1 });
    // A second one would take effect while the agent works on the next message.
    agent.faults.add({ call, fault: { kind: 'latency', ms: 6_000 } });
    await slack.click({ person: scene.ada, channel, ts: reply.ts, actionId: 'stop' });
    await scene.finished(channel, root);
    scene.reply(channel, root, '/slow 9000 goes on');
    await scene.until('the next run is well under way', () =>
      scene.shown(channel, root).includes('Second 400 of 9000'),
    );
    const task = agent.tasks.findLast(({ title }) => title.endsWith('stopped once'));
    expect(task?.status).toBe('running');
    const stops = agent.calls.filter(({ name, path }) => name === call && path.includes(task?.id ?? '?'));
    expect(stops).toHaveLength(1);
  });
});
