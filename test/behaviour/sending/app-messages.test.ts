import { describe, expect, test } from 'vitest';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';

const scene = await openAppScene();
const { ada, slack } = scene;
const monitor = slack.createPerson({ name: 'monitor', kind: 'bot' });

/** An app's alert: a summary for notifications, and blocks that say why. */
function alert(channel: Channel, why: string, thread?: Message): Message {
  const blocks = [
    { type: 'section', text: { type: 'mrkdwn', text: `*Why:* ${why}` } },
    { type: 'image', image_url: 'https://monitor.example/curve.png', alt_text: `the curve of ${why}` },
  ];
  if (!channel.members.has(monitor.id)) slack.invite(channel, monitor);
  const person = { person: monitor, channel, text: 'JobFailed', blocks };
  return slack.say({ ...person, ...(thread && { thread: thread.ts }) });
}

/** What an app attaches to a message. */
const attached = (text: string) => ({
  id: 1,
  color: '#a30200',
  title: 'Freezer 3',
  text,
  footer: 'Room B12',
});

/** The alert as the agent reads it; the summary is nowhere. */
function asRead(why: string): RegExp {
  const picture = `\\[picture: the curve of ${why}\\]`;
  return new RegExp(`^(?!.*JobFailed).*\\*\\*Why:\\*\\* ${why}[\\s>]+${picture}`, 's');
}

test('an alert is read as people see it, as the root of a thread and as a reply before the question', async () => {
  const channel = scene.channel();
  const root = alert(channel, 'the disk is full');
  alert(channel, 'the queue is long', root);
  const question = scene.reply(channel, root, `${scene.mention} explain both alerts`);
  await scene.finished(channel, question);
  const [prompt] = scene.sentToAgent('explain both alerts').texts;
  expect(prompt).toMatch(asRead('the disk is full'));
  expect(prompt).toMatch(asRead('the queue is long'));
});

test('an alert that a question links to is read as people see it', async () => {
  const channel = scene.channel();
  const linked = alert(channel, 'the freezer is warm');
  const question = scene.ask(channel, `about this alert ${slack.permalink(linked)}`);
  await scene.finished(channel, question);
  expect(scene.sentToAgent('about this alert').texts[0]).toMatch(asRead('the freezer is warm'));
});

test('an alert that a form is about is read as people see it', async () => {
  const channel = scene.channel();
  const about = alert(channel, 'the lamp is dark');
  await slack.shortcut({ person: ada, callbackId: 'ask_about', channel, ts: about.ts });
  await scene.until('the form is open', () => slack.modal(ada)?.callbackId === 'start');
  await slack.submitView(ada, { question: 'what does the lamp need?' });
  await scene.until('it is answered', () => scene.sentToAgent('what does the lamp need?').texts.length > 0);
  expect(scene.sentToAgent('what does the lamp need?').texts[0]).toMatch(asRead('the lamp is dark'));
});

test('a message whose mention stands only in a section is answered', async () => {
  const channel = scene.channel();
  const text = { type: 'mrkdwn', text: `${scene.mention} which wells are empty?` };
  const question = slack.say({
    person: ada,
    channel,
    text: 'A question',
    blocks: [{ type: 'section', text }],
  });
  await scene.finished(channel, question);
  expect(scene.sentToAgent('which wells are empty?').texts).toEqual(['which wells are empty?']);
});

test('a message whose blocks were cut is sent whole', async () => {
  const channel = scene.channel();
  const words = Array.from({ length: 400 }, (_, at) => `word${at}`).join(' ');
  const cut = [{ type: 'text', text: ` ${words.slice(0, 1_500)}` }];
  const elements = [{ type: 'user', user_id: slack.bot.userId }, ...cut];
  const blocks = [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }];
  const question = scene.ask(channel, words, { blocks });
  await scene.finished(channel, question);
  expect(scene.sentToAgent('word0 word1').texts).toEqual([words]);
});

test('an alert that an app posts under another name is told as from that one, with all that it attaches', async () => {
  const channel = scene.channel();
  slack.invite(channel, monitor);
  const alarm = { person: monitor, channel, text: '', attachments: [attached('-62 °C')] };
  const root = slack.say({ ...alarm, odd: { username: 'Freezers' } });
  const question = scene.reply(channel, root, `${scene.mention} which freezer is it?`);
  await scene.finished(channel, question);
  expect(scene.sentToAgent('which freezer is it?').texts[0]).toMatch(
    /> \*\*Freezers \(app\)\*\*.*\n> \*\*Freezer 3\*\*\n>\n> -62 °C\n>\n> Room B12\n/,
  );
});

test('what an app posts between two questions goes with the next one, which needs no mention for it', async () => {
  const channel = scene.channel();
  const root = slack.say({ person: scene.grace, channel, text: 'the pump again' });
  await scene.finished(channel, scene.reply(channel, root, `${scene.mention} which pump?`));
  alert(channel, 'the pump is loud', root);
  await slack.settled();
  const next = scene.reply(channel, root, 'and now?');
  await scene.finished(channel, next);
  const [, prompt] = scene.sentToAgent('which pump?').texts;
  expect(prompt).toMatch(asRead('the pump is loud'));
  expect(prompt).toContain('and now?');
});

test('what a person says to somebody else by an app of theirs is not quoted', async () => {
  const channel = scene.channel();
  const root = slack.say({ person: scene.grace, channel, text: 'the valve again' });
  await scene.finished(channel, scene.reply(channel, root, `${scene.mention} which valve?`));
  const aside = scene.reply(channel, root, `<@${scene.grace.id}> lunch?`, { byApp: 'B0DRAFTS' });
  const key = { workspace: slack.team.id, channel: channel.id, ts: aside.ts };
  await scene.until('its ids are kept', async () => {
    return (await scene.sandbox.bot.store.messages.get(key))?.user_id === ada.id;
  });
  await scene.finished(channel, scene.reply(channel, root, `${scene.mention} and now?`));
  expect(scene.sentToAgent('which valve?').texts.at(-1)).not.toContain('lunch?');
});

test("what apps say and share in the agent's thread goes with the next question, and asks and stops nothing", async () => {
  const channel = scene.channel();
  const root = scene.ask(channel, 'watch the lamp\n/slow 9000');
  await scene.until('the agent works', () => scene.sentToAgent('watch the lamp').texts.length > 0);
  slack.invite(channel, monitor);
  scene.reply(channel, root, `<@${ada.id}> the lamp is dark`, { person: monitor });
  scene.reply(channel, root, `${scene.mention} stop`, { person: monitor });
  // Slack names no app for the files that it shares.
  const odd = { bot_id: undefined, app_id: undefined, bot_profile: undefined };
  const files = [{ name: 'lamp.csv', mime: 'text/csv', bytes: 'well\nB7\n' }];
  const shared = scene.reply(channel, root, 'the wells', { person: monitor, files, odd });
  await slack.settled();
  await scene.hurry('watch the lamp');
  const key = { workspace: slack.team.id, channel: channel.id, ts: shared.ts };
  await scene.until('it asks nothing', async () => {
    return (await scene.sandbox.bot.store.messages.get(key))?.state === 'unsent';
  });
  const next = scene.reply(channel, root, 'which wells?');
  await scene.finished(channel, next);
  const { texts, fileIds } = scene.sentToAgent('watch the lamp');
  expect(texts).toHaveLength(2);
  expect(texts[1]).toMatch(/@ada the lamp is dark.*stop.*the wells.*lamp\.csv.*which wells\?/s);
  expect(fileIds[1]).toHaveLength(1);
});

test('an app whose questions are taken is answered where only its attachment mentions the bot', async ({
  onTestFinished,
}) => {
  const own = await openAppScene({ settings: { ALLOWED_BOTS: 'B0ALARMS' } }, onTestFinished);
  const channel = own.channel();
  const alarms = own.slack.createPerson({ name: 'alarms', kind: 'bot' });
  alarms.botId = 'B0ALARMS';
  own.slack.invite(channel, alarms);
  const attachments = [attached(`${own.mention} what is stored there?`)];
  const alarm = own.slack.say({ person: alarms, channel, text: '', attachments, subtype: 'bot_message' });
  await own.finished(channel, alarm);
  expect(own.agent.tasks.map(({ title }) => title)).toEqual([expect.stringContaining('Freezer 3')]);
  expect(own.shown(channel, alarm)).not.toBe('');
});

describe('an app whose questions are taken', async () => {
  const own = await openAppScene({ settings: { ALLOWED_BOTS: 'B0ALARMS' } });
  const alarms = own.slack.createPerson({ name: 'alarms', kind: 'bot' });
  alarms.botId = 'B0ALARMS';
  const byApp = { person: alarms, subtype: 'bot_message' };
  const begin = () => {
    const channel = own.channel();
    own.slack.invite(channel, alarms);
    return channel;
  };

  test('waits for a person after ten questions in a row in a thread', async () => {
    const channel = begin();
    const root = own.ask(channel, 'alarm 1', byApp);
    await own.finished(channel, root);
    const again = (count: number) => own.reply(channel, root, `${own.mention} alarm ${count}`, byApp);
    for (let count = 2; count <= 10; count += 1) await own.finished(channel, again(count));
    // Slack names no app for the files that it shares.
    const odd = { bot_id: undefined, app_id: undefined, bot_profile: undefined };
    const files = [{ name: 'lamp.csv', mime: 'text/csv', bytes: 'well\nB7\n' }];
    own.reply(channel, root, 'the wells', { person: alarms, files, odd });
    const key = { workspace: own.slack.team.id, channel: channel.id, ts: again(11).ts };
    const { messages } = own.sandbox.bot.store;
    await own.until('it is left', async () => (await messages.get(key))?.state === 'unsent');
    await own.finished(channel, own.reply(channel, root, 'go on'));
    await own.finished(channel, again(12));
    const { texts } = own.sentToAgent('alarm 1');
    expect(texts).toHaveLength(12);
    expect(texts[10]).toMatch(/alarm 11.*go on/s);
    expect(texts[11]).toBe('a bot or workflow: alarm 12');
    expect(own.shown(channel, root)).toContain(strings.inAnswerTo(['a bot or workflow']));
    expect(own.shown(channel, root)).not.toContain('B0ALARMS');
  });

  test('is told nothing privately, as people are', async () => {
    const channel = begin();
    const root = own.ask(channel, 'alarm at night\n/slow 9000', byApp);
    await own.until('the agent works', () => own.sentToAgent('alarm at night').texts.length > 0);
    const next = own.reply(channel, root, `${own.mention} --model max and in the morning?`, byApp);
    await own.slack.settled();
    await own.hurry('alarm at night');
    await own.finished(channel, next);
    const told = own.slack.calls.filter(({ method }) => method === 'chat.postEphemeral');
    expect(told.filter(({ args }) => args.channel === channel.id)).toEqual([]);
  });
});
