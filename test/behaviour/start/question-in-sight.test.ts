import { describe, expect, test } from 'vitest';
import type { Channel, Message, Person } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { openStartFormScene } from '../../support/start-form-scene.ts';

const dialect = { autoModeField: 'auto_mode', planModeField: 'plan_mode' };
const starting = await openStartFormScene({ settings: { AGENT_DIALECT: JSON.stringify(dialect) } });
const { scene } = starting;
const { slack } = scene;

/** The message of the bot that shows a question, once its thread has one. */
async function shownIn(channel: Channel, root: Message, question: string): Promise<Message> {
  return scene.until('the question is in the thread', () =>
    slack.thread(channel, root.ts).find((one) => slack.visibleText(one).includes(question)),
  );
}

/** Which of these words, and of who asks, nobody in a thread sees with a question. */
function unseen(message: Message, person: Person, ...words: string[]): string[] {
  const seen = slack.visibleText(message) + JSON.stringify(message.blocks);
  return [`"user_id":"${person.id}"`, ...words].filter((part) => !seen.includes(part));
}

async function askAbout(person: Person, channel: Channel, about: Message, values: Record<string, string>) {
  await slack.shortcut({ person, callbackId: 'ask_about', channel, ts: about.ts });
  await starting.form(person);
  await starting.send(person, values);
}

const answered = (channel: Channel, root: Message) =>
  scene.until('it is answered', () => scene.shown(channel, root).includes('All is said.'));

describe.concurrent('everybody in the thread sees the question, who asks and what was chosen', () => {
  test('about the message that begins it, before the answer, without that message again', async () => {
    const { channel, person } = starting.personInChannel();
    const said = slack.say({ person: scene.grace, channel, text: 'Plate 7 looks odd' });
    await askAbout(person, channel, said, {
      question: 'why is plate 7 so?',
      model: 'max',
      skill: 'summary',
      mode: 'plan',
    });
    const post = await shownIn(channel, said, 'why is plate 7 so?');
    expect(unseen(post, person, 'Model Max', 'skill summary', 'plan first')).toEqual([]);
    expect(slack.visibleText(post)).not.toContain('looks odd');
    await answered(channel, said);
    const [first, second] = scene.replies(channel, said);
    expect([first?.ts, second && slack.visibleText(second)]).toEqual([
      post.ts,
      expect.stringContaining('All is said.'),
    ]);
    await scene.expectStays(() => scene.replies(channel, said).length, 2);
  });

  test('about a message further down, with that message, also where nothing is added', async () => {
    const { channel, person } = starting.personInChannel();
    const root = slack.say({ person: scene.grace, channel, text: 'Let us talk' });
    const said = scene.reply(channel, root, 'Which plates are odd?', { person: scene.grace });
    await askAbout(person, channel, said, { model: 'fast' });
    await answered(channel, root);
    const [post] = scene.replies(channel, root);
    expect(post && slack.visibleText(post)).toContain(`<@${person.id}> ${strings.asksAbout}`);
    expect(post && unseen(post, person, 'Which plates are odd?', 'Model Fast')).toEqual([]);
  });

  test('about the message that begins it, where nothing is added', async () => {
    const { channel, person } = starting.personInChannel();
    const said = slack.say({ person: scene.grace, channel, text: 'Which freezer is warm?' });
    await askAbout(person, channel, said, {});
    await answered(channel, said);
    const [post] = scene.replies(channel, said);
    expect(post && slack.visibleText(post)).toBe(`<@${person.id}> ${strings.asksAboutRoot}`);
    expect(scene.sentToAgent('Which freezer is warm?').texts).toEqual(['grace: Which freezer is warm?']);
  });

  test('by a form, a command and again, in a thread that begins with it', async () => {
    const { channel, person } = starting.personInChannel();
    await starting.command(person, channel, 'new');
    await starting.form(person);
    await starting.send(person, { question: 'what is by form?', model: 'max', mode: 'auto' });
    const byForm = await starting.post(channel, 'what is by form?');
    expect(unseen(byForm, person, 'Model Max', 'without asking questions')).toEqual([]);
    await starting.askByCommand(person, channel, '--model fast --skill summary what is by command?');
    expect(
      unseen(await starting.post(channel, 'what is by command?'), person, 'Model Fast', 'skill summary'),
    ).toEqual([]);
    await scene.finished(channel, byForm);
    await starting.choose(person, channel, byForm, 'ask_again');
    await starting.form(person);
    await starting.send(person, { ...starting.filled(person), question: 'what is by menu?', model: 'fast' });
    expect(unseen(await starting.post(channel, 'what is by menu?'), person, 'Model Fast')).toEqual([]);
  });

  test('in direct messages with the bot', async () => {
    const person = starting.newPerson();
    const dm = slack.openDm(person);
    const said = slack.say({ person, channel: dm, text: 'what is between us?' });
    await scene.finished(dm, said);
    await starting.command(person, dm, 'new');
    await starting.form(person);
    await starting.send(person, { question: 'what is by form here?', model: 'max' });
    expect(unseen(await starting.post(dm, 'what is by form here?'), person, 'Model Max')).toEqual([]);
  });
});

test('a question about a message whose thread is deleted meanwhile goes back to its writer', async () => {
  const { channel, person } = starting.personInChannel();
  const said = slack.say({ person: scene.grace, channel, text: 'Soon gone' });
  await slack.shortcut({ person, callbackId: 'ask_about', channel, ts: said.ts });
  await starting.form(person);
  slack.remove(channel.id, said.ts);
  await starting.send(person, { question: 'what was it?' });
  const { questionNotPosted, questionRefusals } = strings;
  const returned = questionNotPosted(channel.id, questionRefusals.gone, 'what was it?');
  const dm = slack.openDm(person);
  await scene.until('it is given back', () => slack.messages(dm).some(({ text }) => text === returned));
  expect(starting.posts(channel, 'what was it?')).toEqual([]);
});

test('a question about a message is shown once where Slack does not say whether it took the post', async () => {
  const { channel, person } = starting.personInChannel();
  const said = slack.say({ person: scene.grace, channel, text: 'Heard once' });
  await slack.shortcut({ person, callbackId: 'ask_about', channel, ts: said.ts });
  await starting.form(person);
  slack.faults.add({ call: 'chat.postMessage', about: said.ts, times: 1, fault: { kind: 'lost' } });
  await starting.send(person, { question: 'is it shown once?' });
  await answered(channel, said);
  const shown = scene.replies(channel, said).filter((one) => slack.visibleText(one).includes('shown once?'));
  expect(shown).toHaveLength(1);
  expect(scene.sentToAgent('is it shown once?').texts).toHaveLength(1);
});
