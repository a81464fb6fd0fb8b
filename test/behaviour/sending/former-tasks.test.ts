import { describe, expect, test } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import { textOf } from '../../../sandbox/agent/records.ts';
import type { Channel, Message, Person } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';

const script: AgentScript = async (turn) => {
  const question = (turn.text.split('\n').at(-1) ?? '').replace(/^\w+: /, '');
  turn.write(`I thought about ${question}.\n\n| gene | count |\n|---|---|\n| TP53 | 7 |\n`);
  if (question.includes('breaks')) throw new Error('The script says so.');
};
const scene = await openAppScene({ agent: { script, behaviour: { messageToStopped: 409 } } });
const { slack } = scene;
const { store } = scene.sandbox.bot;

/** The first message of each task of a thread, by the words that the thread began with. */
const firstMessages = (words: string) =>
  scene.agent.tasks
    .filter(({ messages: [first] }) => first !== undefined && textOf(first.content).includes(words))
    .map(({ messages: [first] }) => (first === undefined ? '' : textOf(first.content)));

/** What the turns of a thread sent, as far as it is kept. */
async function promptsOf(channel: Channel, root: Message): Promise<(string | null)[]> {
  const ofThread = store.db.selectFrom('turns').select('prompt').where('thread_ts', '=', root.ts);
  return (await ofThread.where('channel', '=', channel.id).execute()).map(({ prompt }) => prompt);
}

async function say(
  channel: Channel,
  root: Message,
  text: string,
  person: Person = scene.ada,
): Promise<Message> {
  const message = scene.reply(channel, root, text, { person });
  await scene.finished(channel, message);
  return message;
}

/** Presses the newest **Try again** of a thread, and waits until the message has gone to its `tasks`th task. */
async function tryAgain(channel: Channel, root: Message, words: string, tasks: number): Promise<string> {
  const openTurns = store.db.selectFrom('turns').select('id').where('finished_at', 'is', null);
  const open = () => openTurns.where('channel', '=', channel.id).execute();
  await scene.until('no turn is open', async () => (await open()).length === 0);
  const { ts } = await scene.messageWithButton(channel, root, 'retry');
  await slack.click({ person: scene.ada, channel, ts, actionId: 'retry' });
  await scene.until(`a task number ${tasks} has it`, () => firstMessages(words).length === tasks);
  return firstMessages(words).at(-1) ?? '';
}

/** Deletes a thread's task at the service. */
async function loseTask(words: string): Promise<void> {
  const task = scene.agent.tasks.findLast(({ messages: [first] }) =>
    textOf(first?.content ?? []).includes(words),
  );
  const url = `${scene.sandbox.config.AGENT_BASE_URL}/experimental/tasks/${task?.id ?? ''}`;
  const headers = { authorization: `Bearer ${scene.sandbox.config.AGENT_API_KEY}` };
  expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(200);
}

describe.concurrent('a task that begins in place of one that the service has closed or lost', () => {
  test('gets the messages and answers of that one as they stand in Slack, and nothing else', async () => {
    const ivan = slack.createPerson({ name: 'ivan' });
    const channel = scene.channel();
    channel.members.add(ivan.id);
    const root = scene.ask(channel, 'what of maize', {
      files: [{ name: 'maize.csv', mime: 'text/csv', bytes: 'a\n1\n' }],
    });
    await scene.finished(channel, root);
    const edited = await say(channel, root, 'what of rice', scene.grace);
    const deleted = await say(channel, root, 'what of wheat', scene.grace);
    await say(channel, root, 'what of barley', ivan);
    scene.reply(channel, root, `<@${scene.grace.id}> lunch at noon?`);
    await say(channel, root, 'what breaks');
    slack.edit(channel.id, edited.ts, 'what of brown rice');
    slack.remove(channel.id, deleted.ts);
    await store.personErasure.eraseUser(slack.team.id, ivan.id);
    scene.reply(channel, root, `<@${scene.grace.id}> or at one?`);
    await slack.settled();

    const sent = await tryAgain(channel, root, 'maize', 2);
    const quoted = sent.split('\n').filter((line) => line.startsWith('>'));
    const spoken = quoted
      .filter((line) => /\*\*|what of|thought/.test(line))
      .map((line) => line.replace(/, [\d-]+ [\d:]+:$/, ''));
    const bot = '> **taskthread (you)**';
    expect(spoken).toEqual([
      ...['> **ada**', '> what of maize', bot, '> I thought about what of maize.'],
      ...['> **grace**', '> what of brown rice', bot, '> I thought about what of rice.'],
      ...[bot, '> I thought about what of wheat.', bot, '> I thought about what breaks.'],
    ]);
    expect(quoted.filter((line) => line === '> | TP53 | 7 |')).toHaveLength(4);
    expect(quoted).toContain('> [files: maize.csv]');
    expect(sent).toMatch(/\n\n---\n\nThe question:\n\nada: what breaks$/);
    await scene.until('the thread says so', () =>
      scene.shown(channel, root).includes(strings.conversationQuoted),
    );
    expect(scene.shown(channel, root)).not.toContain(strings.newConversation);

    const again = await tryAgain(channel, root, 'maize', 3);
    expect(again.match(/Earlier in this Slack thread/g)).toHaveLength(1);
    expect(again.match(/The question:/g)).toHaveLength(1);
    expect(again.match(/I thought about what breaks/g)).toHaveLength(2);
    expect(again).toContain('brown rice');

    expect((await promptsOf(channel, root)).filter((prompt) => prompt?.includes('brown rice'))).toHaveLength(
      2,
    );
    await store.personErasure.eraseUser(slack.team.id, scene.grace.id);
    expect((await promptsOf(channel, root)).filter((prompt) => prompt?.includes('rice'))).toEqual([]);
  });

  test('gets nothing from before a person deleted a task', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'what of oats');
    await scene.finished(channel, root);
    await loseTask('oats');
    await say(channel, root, 'are you there');
    expect(scene.shown(channel, root)).toContain(strings.taskNotFound);
    const sent = await tryAgain(channel, root, 'oats', 1);
    expect(sent).toMatch(/> what of oats\n.*The question:\n\nare you there$/s);
    const thread = { workspace: slack.team.id, channel: channel.id, thread_ts: root.ts };
    const { task_id } = await store.threads.getOrThrow(thread);
    await scene.until('the task is deleted', async () => {
      const job = await store.taskDeletions.request(thread, task_id ?? '', scene.ada.id);
      return job !== 'busy';
    });
    await say(channel, root, 'and from here on?');
    expect(firstMessages('and from here on?')).toEqual(['and from here on?']);
  });
});

test('a task that took the place of a closed one is deleted with that one', async () => {
  const channel = scene.channel();
  const root = scene.ask(channel, 'what of spelt');
  await scene.finished(channel, root);
  await say(channel, root, 'and that breaks');
  await tryAgain(channel, root, 'what of spelt', 2);
  const thread = { workspace: slack.team.id, channel: channel.id, thread_ts: root.ts };
  const { task_id } = await store.threads.getOrThrow(thread);
  await scene.until('the deletion is asked for', async () => {
    return (await store.taskDeletions.request(thread, task_id ?? '', scene.ada.id)) !== 'busy';
  });
  await scene.until('both are gone', () => firstMessages('what of spelt').length === 0);
  expect((await store.threads.getOrThrow(thread)).former_task_ids).toEqual([]);
});

test('the next message has it where the one that left the task was not sent', async () => {
  const channel = scene.channel();
  const root = scene.ask(channel, 'what of millet');
  await scene.finished(channel, root);
  await say(channel, root, 'and that breaks');
  const { ts } = await scene.messageWithButton(channel, root, 'retry');
  const mend = scene.agent.faults.add({
    call: 'POST /experimental/tasks',
    fault: { kind: 'status', status: 422 },
  });
  await slack.click({ person: scene.ada, channel, ts, actionId: 'retry' });
  await scene.until('no task begins', () =>
    scene.shown(channel, root).includes(strings.messageRejected('422 Unprocessable Entity')),
  );
  mend();
  await say(channel, root, 'something else', scene.grace);
  const [, sent = ''] = firstMessages('millet');
  expect(sent).toMatch(/> what of millet\n.*> and that breaks\n.*The question:\n\ngrace: something else$/s);
  expect(scene.shown(channel, root)).toContain(strings.conversationQuoted);
});
