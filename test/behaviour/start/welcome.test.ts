import { afterEach, describe, expect, test } from 'vitest';
import type { Channel, Person } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import type { Settings } from '../../../src/store/workspaces/settings-store.ts';
import { WHOLE_WORKSPACE } from '../../../src/store/workspaces/settings-store.ts';
import { openAppScene } from '../../support/app-scene.ts';

const scene = await openAppScene();
const { slack } = scene;
const workspace = slack.team.id;

async function choose(change: Partial<Settings>): Promise<void> {
  await scene.sandbox.bot.store.settings.set(workspace, WHOLE_WORKSPACE, scene.ada.id, change);
}

/** What the bot says at the top of a conversation. */
function said(channel: Channel): string[] {
  return slack
    .messages(channel)
    .filter(({ user, threadTs }) => user === slack.bot.userId && threadTs === undefined)
    .map((message) => slack.visibleText(message))
    .filter((text) => !text.includes('has joined the channel'));
}

function withoutBot(): Channel {
  const channel = slack.createChannel({ name: `hall-${Math.random().toString(36).slice(2, 8)}`, bot: false });
  return channel;
}

/** Opens a person's direct messages with the bot. */
async function openMessages(person: Person): Promise<Channel> {
  slack.openHome(person, 'messages');
  await slack.settled();
  return slack.openDm(person);
}

describe('the welcome', () => {
  afterEach(() => choose({ welcomes: null, direct_messages: null, allowed_users: null, answers_in: null }));

  test('says two lines once in a channel where the bot is invited, with a button that opens the form', async () => {
    const channel = withoutBot();
    slack.invite(channel);
    const [lines = ''] = await scene.until('it is said', () => said(channel).length > 0 && said(channel));
    const { begin, who, sent } = strings.welcome;
    for (const part of [begin, who.members, sent]) expect(lines).toContain(part);
    const ts = slack.messages(channel).at(-1)?.ts ?? '';
    await slack.click({ person: scene.ada, channel, ts, actionId: 'ask_agent' });
    await scene.until('the form is open', () => slack.modal(scene.ada)?.callbackId === 'start');
    await slack.closeView(scene.ada);
    slack.kick(channel);
    slack.invite(channel);
    await slack.settled();
    await scene.expectStays(() => said(channel).length, 1);
  });

  test('says who may ask there, and nothing where admins turned it off or the bot does not answer', async () => {
    await choose({ allowed_users: 'everyone' });
    const open = withoutBot();
    slack.invite(open);
    await scene.until('it is said', () =>
      said(open).some((text) => text.includes(strings.welcome.who.everyone)),
    );
    await choose({ welcomes: 'off' });
    const quiet = withoutBot();
    slack.invite(quiet);
    await choose({ welcomes: null, answers_in: 'channels' });
    const closed = withoutBot();
    slack.invite(closed);
    await slack.settled();
    await scene.expectStays(() => [...said(quiet), ...said(closed)], []);
  });

  test('greets each person once in their direct messages, with three things to try', async () => {
    const person = slack.createPerson({ name: 'newcomer' });
    const dm = await openMessages(person);
    await scene.until('they are greeted', () => said(dm).length > 0);
    const titles = strings.prompts.list.map(({ title }) => title);
    expect(titles.filter((title) => said(dm)[0]?.includes(title))).toEqual(titles.slice(0, 3));
    const ts = slack.messages(dm).at(-1)?.ts ?? '';
    const greeting = slack.messages(dm).at(-1);
    for (const title of titles.slice(0, 3)) {
      expect(greeting?.text).toContain(title);
      expect(JSON.stringify(greeting?.blocks)).toContain(`"accessibility_label":"Try it: ${title}"`);
    }
    const [second] = strings.prompts.list.slice(1);
    await slack.click({ person, channel: dm, ts, actionId: 'ask_agent', value: `prompt/${second?.title}` });
    await scene.until('the form has it', () =>
      JSON.stringify(slack.modal(person)?.blocks ?? []).includes(second?.prompt.trim() ?? '-'),
    );
    await slack.closeView(person);
    await openMessages(person);
    await scene.expectStays(() => said(dm).length, 1);
  });

  test('greets nobody who may not use the agent, nor where direct messages are off', async () => {
    const guest = slack.createPerson({ name: 'gus', kind: 'guest' });
    const member = slack.createPerson({ name: 'mia' });
    const refused = await openMessages(guest);
    await choose({ direct_messages: 'off' });
    const off = await openMessages(member);
    await scene.expectStays(() => [...said(refused), ...said(off)], []);
    await choose({ direct_messages: null, allowed_users: 'guests' });
    await openMessages(guest);
    await openMessages(member);
    await scene.until('both are greeted', () => said(refused).length === 1 && said(off).length === 1);
  });
});

describe('at the door', () => {
  afterEach(() => choose({ direct_messages: null, answers_in: null, answers_in_channels: null }));

  const home = (person: Person) => JSON.stringify(slack.home(person)?.blocks ?? []);
  const opened = async (person: Person, text: string) => {
    slack.openHome(person);
    await scene.until(`the tab shows ${text}`, () => home(person).includes(text));
    return home(person);
  };

  test('Home opens the form, and invites to direct messages only where they are on', async () => {
    const person = slack.createPerson({ name: 'homely' });
    expect(await opened(person, 'ask_agent')).toContain('send me a direct message');
    await slack.click({ person, view: 'home', actionId: 'ask_agent' });
    await scene.until('the form is open', () => slack.modal(person)?.callbackId === 'start');
    await slack.closeView(person);
    await choose({ direct_messages: 'off' });
    const text = await opened(person, strings.home.noneOfYours(false));
    expect(text).not.toMatch(/send me a direct message|under Messages/);
  });

  test('Home counts the tasks in which a person asked, and hides what is in channels that they left', async () => {
    const person = slack.createPerson({ name: 'joiner' });
    const channel = slack.createChannel({ name: 'joined', members: [scene.ada, person], private: true });
    const root = scene.ask(channel, 'Count the joined sheep');
    await scene.finished(channel, root);
    await scene.finished(channel, scene.reply(channel, root, 'and their legs', { person }));
    await opened(person, 'Count the joined sheep');
    slack.kick(channel, person);
    await slack.click({ person, view: 'home', actionId: 'home_refresh' });
    const { hiddenTask } = strings.command;
    await scene.until('the task is hidden', () => home(person).includes(hiddenTask));
    const text = home(person);
    expect(text).not.toContain('Count the joined sheep');
    expect(text).not.toContain('/archives/');
  });

  test('a closed channel says where one may ask', async () => {
    const open = scene.channel('open-lab');
    const closed = scene.channel('closed-lab');
    await choose({ answers_in: 'listed', answers_in_channels: [open.id], direct_messages: 'off' });
    scene.ask(closed, 'anybody there?');
    const where = strings.askElsewhere([open.id], false);
    await scene.until('it is said', () =>
      slack.ephemerals(scene.ada, closed).some(({ blocks }) => JSON.stringify(blocks).includes(where)),
    );
    await slack.command({ person: scene.ada, channel: closed, command: '/agent', text: 'new' });
    await scene.until('the window says it', () =>
      JSON.stringify(slack.modal(scene.ada)?.blocks ?? []).includes(where),
    );
    await slack.closeView(scene.ada);
    const asked = await slack.command({
      person: scene.ada,
      channel: closed,
      command: '/agent',
      text: 'what is this?',
    });
    expect(asked.acked).toBe(true);
    await choose({ direct_messages: null });
    const dm = strings.askElsewhere([open.id], true);
    scene.ask(closed, 'still nobody?', { person: scene.grace });
    await scene.until('it names direct messages', () =>
      slack.ephemerals(scene.grace, closed).some(({ blocks }) => JSON.stringify(blocks).includes(dm)),
    );
  });

  test("a guest's refusal names everybody who can let them in", async () => {
    const guest = slack.createPerson({ name: 'gisela', kind: 'guest' });
    const heard = (channel: Channel) => slack.ephemerals(guest, channel).map(({ text }) => text);
    const channel = scene.channel();
    slack.invite(channel, guest);
    scene.ask(channel, 'may I?', { person: guest });
    await scene.until('members are named', () => heard(channel).includes(strings.notAllowed.channel));
    const strict = scene.channel();
    slack.invite(strict, guest);
    const { settings } = scene.sandbox.bot.store;
    await settings.set(workspace, strict.id, scene.ada.id, { task_control: 'admins' });
    scene.ask(strict, 'may I here?', { person: guest });
    await scene.until('admins are named', () => heard(strict).length > 0);
    expect(heard(strict)).toEqual([strings.notAllowed.admins]);
  });
});
