import { describe, expect, test } from 'vitest';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import { openAppScene } from '../../support/app-scene.ts';

const scene = await openAppScene({ limits: { maxTranscriptMessages: 4 } });
const { grace, slack } = scene;

/** Grace begins a thread of people. */
function begin(channel: Channel, text: string, files?: Parameters<typeof slack.say>[0]['files']): Message {
  return slack.say({ person: grace, channel, text, ...(files && { files }) });
}

/** What the agent gets of a mention in a thread of people. */
async function promptOf(channel: Channel, root: Message, question: string): Promise<string> {
  await scene.finished(channel, scene.reply(channel, root, `${scene.mention} ${question}`));
  const texts = scene.agent.tasks.flatMap(({ messages }) =>
    messages.map((one) => JSON.stringify(one.content)),
  );
  return texts.find((text) => text.includes(question)) ?? '';
}

describe.concurrent('of the messages before a mention, the agent gets', () => {
  test('none that was deleted, and no notice of that', async () => {
    const channel = scene.channel();
    const root = begin(channel, 'the wrong plate');
    scene.reply(channel, root, 'the right plate', { person: grace });
    slack.remove(channel.id, root.ts);
    const prompt = await promptOf(channel, root, 'which plate?');
    expect(prompt).toContain('(quoted: the newest message; times in UTC)');
    expect(prompt).toContain('the right plate');
    expect(prompt).not.toMatch(/the wrong plate|USLACKBOT|deleted/);
  });

  test('the one that the thread began with, with its file, and the newest', async () => {
    const channel = scene.channel();
    const files = [{ name: 'sheet.csv', mime: 'text/csv', bytes: 'well\nB7\n' }];
    const root = begin(channel, 'which buffer for run 9?', files);
    for (let count = 1; count <= 6; count += 1)
      scene.reply(channel, root, `talk ${count}`, { person: grace });
    const prompt = await promptOf(channel, root, 'what was asked at first?');
    expect(prompt).toContain('(quoted: the first message and the newest 3, those between left out;');
    expect(prompt).toMatch(/which buffer for run 9.*sheet\.csv/);
    expect(prompt.match(/talk \d/g)).toEqual(['talk 4', 'talk 5', 'talk 6']);
    expect(scene.sentToAgent('what was asked at first?').fileIds.flat()).toHaveLength(1);
  });

  test('the one that the thread began with, also where the newest are long', async () => {
    const channel = scene.channel();
    const root = begin(channel, 'which buffer for run 10?');
    for (let count = 1; count <= 6; count += 1)
      scene.reply(channel, root, `talk ${count} ${'so '.repeat(3_000)}`, { person: grace });
    const prompt = await promptOf(channel, root, 'which run was it?');
    expect(prompt).toContain('(quoted: the first message and the newest 2, those between left out;');
    expect(prompt).toContain('which buffer for run 10?');
  });

  test('all but the one that somebody asked about before', async () => {
    const channel = scene.channel();
    const root = begin(channel, 'the plates of Monday');
    const odd = scene.reply(channel, root, 'the odd well', { person: grace });
    scene.reply(channel, root, 'it is B7', { person: grace });
    const { ada: person } = scene;
    await slack.shortcut({ person, callbackId: 'ask_about', channel, ts: odd.ts });
    await scene.until('the form is open', () => slack.modal(person)?.callbackId === 'start');
    await slack.submitView(person, { question: 'is a well odd?' });
    const asked = await scene.until('it is asked', () =>
      scene.replies(channel, root).find(({ text }) => text.includes('is a well odd?')),
    );
    await scene.finished(channel, asked);
    scene.reply(channel, root, 'B8, too', { person: grace });
    const prompt = await promptOf(channel, root, 'which wells are odd?');
    expect(prompt).toMatch(/all 3 messages; .*the plates of Monday.*it is B7.*B8, too.*The question:/);
    expect(prompt).not.toContain('the odd well');
    expect(await promptOf(channel, root, 'and now?')).not.toContain('the plates of Monday');
  });
});

test('after a question about one message, the agent gets nothing that it has or that is for others', async () => {
  const channel = scene.channel();
  const root = begin(channel, 'the plates of Tuesday');
  const { ada: person } = scene;
  await slack.shortcut({ person, callbackId: 'ask_about', channel, ts: root.ts });
  await scene.until('the form is open', () => slack.modal(person)?.callbackId === 'start');
  await slack.submitView(person, { question: 'whose plates?' });
  const asked = await scene.until('it is asked', () =>
    scene.replies(channel, root).find(({ text }) => text.includes('whose plates?')),
  );
  await scene.finished(channel, asked);
  scene.reply(channel, root, `<@${person.id}> between us`, { person: grace });
  await slack.settled();
  const files = [{ name: 'tuesday.csv', mime: 'text/csv', bytes: 'well\nB7\n' }];
  await scene.finished(channel, scene.reply(channel, root, scene.mention, { files }));
  const prompt = await promptOf(channel, root, 'what is in the table?');
  expect(prompt).toContain('what is in the table?');
  expect(prompt).not.toMatch(/between us|files: tuesday/);
});

test('of the tasks before one that was lost, the agent gets the first question and the newest messages', async () => {
  const channel = scene.channel();
  const root = scene.ask(channel, 'what of maize');
  await scene.finished(channel, root);
  for (const crop of ['rice', 'wheat', 'rye'])
    await scene.finished(channel, scene.reply(channel, root, `what of ${crop}`));
  const url = `${scene.agent.url}/experimental/tasks/${scene.taskOf('what of maize')?.id ?? ''}`;
  const headers = { authorization: `Bearer ${scene.agent.apiKey}` };
  expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(200);
  const question = scene.reply(channel, root, 'are you there');
  await scene.finished(channel, question);
  const { ts } = await scene.messageWithButton(channel, root, 'retry');
  await slack.click({ person: scene.ada, channel, ts, actionId: 'retry' });
  const isSent = () =>
    scene.agent.tasks
      .flatMap(({ messages }) => messages.map((one) => JSON.stringify(one.content)))
      .find((text) => text.includes('are you there'));
  const prompt = await scene.until('a new task has it', isSent);
  expect(prompt).toContain('(quoted: the first message and the newest 3, those between left out;');
  const asked = new Set(prompt.match(/(?<=> )what of \w+/g));
  expect(asked).toEqual(new Set(['what of maize', 'what of rye']));
});

test('a question goes without what was said before it, and says so, where Slack refuses to show that', async () => {
  const channel = scene.channel();
  const root = begin(channel, 'the hidden plates');
  const fault = { kind: 'status', status: 200, body: { ok: false, error: 'missing_scope' } } as const;
  const mend = slack.faults.add({ call: 'conversations.replies', about: root.ts, fault });
  const prompt = await promptOf(channel, root, 'what is hidden?');
  mend();
  expect(prompt).toContain('“What was said here before” was left out');
  expect(prompt).not.toContain('plates');
  expect(scene.shown(channel, root)).toContain("Slack doesn't let me read it.");
});

test('the beginning of a thread with three questions about messages goes along once', async () => {
  const mary = slack.createPerson({ name: 'mary' });
  const channel = scene.channel();
  slack.invite(channel, undefined, mary);
  const root = begin(channel, 'the plates of Friday');
  const people = [scene.ada, grace, mary];
  const odd = people.map((_, index) => scene.reply(channel, root, `odd ${index}`, { person: grace }));
  for (const [index, person] of people.entries()) {
    await slack.shortcut({ person, callbackId: 'ask_about', channel, ts: odd[index]?.ts ?? '' });
    await scene.until('the form is open', () => slack.modal(person)?.callbackId === 'start');
  }
  for (const [index, person] of people.entries()) {
    await slack.submitView(person, { question: `is it odd, ${index}?` });
    const asked = await scene.until('it is asked', () =>
      scene.replies(channel, root).find(({ text }) => text.includes(`is it odd, ${index}?`)),
    );
    await scene.finished(channel, asked);
  }
  expect(await promptOf(channel, root, 'and the first?')).toContain('the plates of Friday');
  expect(await promptOf(channel, root, 'and the second?')).not.toContain('the plates of Friday');
});
