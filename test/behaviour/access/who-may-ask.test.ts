import { describe, expect, test } from 'vitest';
import type { Channel, Message, Person, PersonKind } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';
import { openStartFormScene } from '../../support/start-form-scene.ts';

const starting = await openStartFormScene();
const { scene } = starting;
const { slack } = scene;

const mayNot = "You don't have access to this agent here";

let count = 0;

/** A channel with Ada, somebody of another kind, and the bot. */
function room(kind: PersonKind, more: { shared?: boolean } = {}): { channel: Channel; other: Person } {
  count += 1;
  const other = slack.createPerson({ name: `other-${count}`, kind });
  return { channel: slack.createChannel({ name: `access-${count}`, ...more }), other };
}

const mention = (person: Person, channel: Channel, text: string, thread?: Message): Message =>
  slack.say({ person, channel, text: `${scene.mention} ${text}`, ...(thread && { thread: thread.ts }) });

/** Waits until the person was told so many things in the channel. */
async function told(person: Person, channel: Channel, times = 1): Promise<string[]> {
  return scene.until(`${person.name} is told`, () => {
    const heard = starting.ephemeralTexts(person, channel);
    return heard.length >= times && heard;
  });
}

const row = async (channel: Channel, { ts }: Message) =>
  scene.sandbox.bot.store.messages.get({ workspace: slack.team.id, channel: channel.id, ts });

const refusals = async (channel: Channel): Promise<unknown[]> => {
  const rows = await scene.sandbox.bot.store.db
    .selectFrom('audit_events')
    .select(['user_id', 'details'])
    .where('kind', '=', 'refusal')
    .where('channel', '=', channel.id)
    .orderBy('id')
    .execute();
  return rows.map(({ user_id, details }) => ({ person: user_id, ...details }));
};

async function admit(channel: Channel, admits: 'members' | 'guests' | 'everyone' | null): Promise<void> {
  await scene.sandbox.bot.store.settings.set(slack.team.id, channel.id, scene.ada.id, {
    allowed_users: admits,
  });
}

describe.concurrent('access to the agent', () => {
  test('is refused to a guest with one answer that only they see, no task, and an audit row without the text', async () => {
    const { channel, other } = room('guest');
    const root = mention(other, channel, 'the secret of a guest');
    expect(await told(other, channel)).toEqual([expect.stringContaining(mayNot)]);
    expect(scene.replies(channel, root)).toEqual([]);
    expect(scene.sentToAgent('the secret of a guest').texts).toEqual([]);
    expect(await row(channel, root)).toMatchObject({ state: 'refused', content: null });
    expect(await refusals(channel)).toEqual([{ person: other.id, why: 'guest', message: root.ts }]);
  });

  test('leaves a thread that a refused message began to its people: replies there need a mention', async () => {
    const { channel, other } = room('guest');
    const root = mention(other, channel, 'may a guest begin this?');
    await told(other, channel);
    const talk = scene.reply(channel, root, 'just between us');
    await slack.settled();
    expect(await row(channel, talk)).toBeUndefined();
    const asked = mention(scene.ada, channel, 'Ada begins it', root);
    await scene.finished(channel, asked);
    expect(scene.sentToAgent('Ada begins it').texts[0]).toContain('Ada begins it');
    const next = scene.reply(channel, root, 'and goes on');
    await scene.finished(channel, next);
    expect(scene.sentToAgent('Ada begins it').texts).toHaveLength(2);
  });

  test("keeps a guest's replies in a member's thread from the agent, and says so each time", async () => {
    const { channel, other } = room('guest');
    const root = scene.ask(channel, 'a thread of Ada');
    await scene.finished(channel, root);
    const first = scene.reply(channel, root, 'a guest puts in', { person: other });
    await told(other, channel);
    const second = scene.reply(channel, root, 'and again', { person: other });
    await scene.until('it is refused', async () => (await row(channel, second))?.state === 'refused');
    const ours = scene.reply(channel, root, 'Ada goes on');
    await scene.finished(channel, ours);
    expect(await row(channel, first)).toMatchObject({ state: 'refused', content: null });
    expect(scene.sentToAgent('a thread of Ada').texts).toEqual(['a thread of Ada', 'Ada goes on']);
    expect(await told(other, channel, 2)).toHaveLength(2);
  });

  test('is refused the same way to an edit that adds a mention, a direct message and before a form', async () => {
    const { channel, other } = room('guest');
    const said = slack.say({ person: other, channel, text: 'forgot the mention' });
    await slack.settled();
    slack.edit(channel, said.ts, `${scene.mention} forgot the mention`);
    expect(await told(other, channel)).toEqual([expect.stringContaining(mayNot)]);

    const dm = slack.openDm(other);
    slack.say({ person: other, channel: dm, text: 'directly' });
    expect(await told(other, dm)).toEqual([expect.stringContaining(mayNot)]);

    await starting.command(other, channel, 'new');
    await scene.until('it is said in place of the form', () => starting.modalText(other).includes(mayNot));
    expect(starting.modalText(other)).not.toContain('"input"');
    for (const title of ['forgot the mention', 'directly'])
      expect(scene.sentToAgent(title).texts).toEqual([]);
  });

  test('follows the setting of each channel', async () => {
    const { channel, other: guest } = room('guest');
    const stranger = slack.createPerson({ name: `afar-${count}`, kind: 'stranger' });
    slack.invite(channel, stranger);
    await admit(channel, 'guests');
    await scene.finished(channel, mention(guest, channel, 'a guest is let in'));
    mention(stranger, channel, 'a stranger is not');
    await told(stranger, channel);
    await admit(channel, 'everyone');
    await scene.finished(channel, mention(stranger, channel, 'now the stranger is'));
    await admit(channel, 'members');
    mention(guest, channel, 'the guest no more');
    expect(await told(guest, channel)).toHaveLength(1);
    expect(scene.sentToAgent('a stranger is not').texts).toEqual([]);
    expect(scene.sentToAgent('the guest no more').texts).toEqual([]);
  });

  test('comes with one notice, before the first task, in a channel shared with another organisation', async () => {
    const { channel } = room('stranger', { shared: true });
    const says = (root: Message) => scene.shown(channel, root).includes('shared with another organisation');
    const root = scene.ask(channel, 'the first of a shared channel');
    await scene.until('it says so', () => says(root));
    await scene.finished(channel, root);
    const next = scene.ask(channel, 'the second of a shared channel');
    await scene.finished(channel, next);
    expect(says(next)).toBe(false);
    const notice = scene
      .replies(channel, root)
      .filter((one) => slack.visibleText(one).includes('shared with'));
    expect(notice).toHaveLength(1);
    const task = scene.agent.tasks.findLast(({ title }) => title === 'the first of a shared channel');
    expect(Number(notice[0]?.ts)).toBeLessThan((task?.createdAt ?? 0) / 1_000);
  });
});

test('a channel gets its notice before the first task after it was shared', async () => {
  const channel = scene.channel();
  const before = scene.ask(channel, 'asked before it was shared');
  await scene.finished(channel, before);
  channel.shared = true;
  const after = scene.ask(channel, 'asked just after it was shared');
  await scene.finished(channel, after);
  expect(scene.shown(channel, before)).not.toContain(strings.sharedChannel);
  expect(scene.shown(channel, after)).toContain(strings.sharedChannel);
});

test('a notice at which Slack fails a few times costs no answer', async () => {
  const channel = scene.channel();
  channel.shared = true;
  const fault = { kind: 'status', status: 200, body: { ok: false, error: 'internal_error' } } as const;
  scene.slack.faults.add({ call: 'chat.postMessage', about: 'another organisation', fault, times: 3 });
  const text = 'asked where a notice fails';
  const root = scene.ask(channel, text);
  await scene.finished(channel, root);
  const key = { workspace: slack.team.id, channel: channel.id, ts: root.ts };
  expect(await scene.sandbox.bot.store.turns.ofMessage(key)).toMatchObject({ outcome: 'completed' });
  expect(scene.sentToAgent(text).texts).toEqual([text]);
  expect(scene.shown(channel, root).split(strings.sharedChannel)).toHaveLength(2);
});

test('a shared channel gets its notice even where Slack cannot say at first that it is shared', async ({
  onTestFinished,
}) => {
  const own = await openAppScene({}, onTestFinished);
  const fault = { kind: 'status', status: 503 } as const;
  const mend = own.slack.faults.add({ call: 'conversations.info', fault });
  const channel = own.slack.createChannel({ name: 'shared-lab', shared: true });
  const root = own.ask(channel, 'asked while Slack is away');
  const refused = () => own.slack.calls.filter(({ method, ok }) => method === 'conversations.info' && !ok);
  await own.until('it was asked repeatedly', () => refused().length > 3);
  mend();
  await own.finished(channel, root);
  expect(own.shown(channel, root)).toContain('shared with another organisation');
});

test('a bot that the settings name is answered where it mentions the app, and every other bot is ignored', async ({
  onTestFinished,
}) => {
  // Ids of the sandbox's are known only once it runs.
  const own = await openAppScene({ settings: { ALLOWED_BOTS: 'B0KNOWN' } }, onTestFinished);
  const channel = own.channel();
  const [known, unknown] = ['known', 'unknown'].map((name) => own.slack.createPerson({ name, kind: 'bot' }));
  if (known === undefined || unknown === undefined) throw new Error('There are two.');
  known.botId = 'B0KNOWN';
  for (const bot of [known, unknown]) own.slack.invite(channel, bot);
  const asks = (person: Person, text: string, more: { subtype?: 'bot_message' } = {}) =>
    own.slack.say({ person, channel, text: `${own.mention} ${text}`, ...more });
  const root = asks(known, 'a known bot asks');
  const ignored = [asks(unknown, 'a bot asks'), asks(unknown, 'a workflow asks', { subtype: 'bot_message' })];
  await own.finished(channel, root);
  // A workflow's message names no user: people go on in its thread all the same.
  const byWorkflow = asks(known, 'a known workflow asks', { subtype: 'bot_message' });
  await own.finished(channel, byWorkflow);
  await own.finished(channel, own.reply(channel, byWorkflow, 'and a person goes on'));
  const echo = own.slack.say({ person: known, channel, thread: root.ts, text: 'an echo' });
  await own.slack.settled();
  const kept = ({ ts }: Message) =>
    own.sandbox.bot.store.messages.get({ workspace: own.slack.team.id, channel: channel.id, ts });
  for (const one of ignored) expect(await kept(one)).toBeUndefined();
  expect(await kept(echo)).toMatchObject({ state: 'unsent', content: null });
  expect(own.agent.tasks.map(({ title }) => title)).toEqual(['a known bot asks', 'a known workflow asks']);
  expect(own.sentToAgent('a known workflow').texts).toHaveLength(2);
});

test('a question of such a bot that is deleted while it waits is not sent', async ({ onTestFinished }) => {
  const own = await openAppScene({ settings: { ALLOWED_BOTS: 'B0KNOWN' } }, onTestFinished);
  const channel = own.channel();
  const bot = own.slack.createPerson({ name: 'known', kind: 'bot' });
  bot.botId = 'B0KNOWN';
  own.slack.invite(channel, bot);
  const root = own.ask(channel, 'work for long\n/slow 9000');
  const asked = own.reply(channel, root, `${own.mention} a bot asks`, { person: bot });
  const key = { workspace: own.slack.team.id, channel: channel.id, ts: asked.ts };
  const is = async (state: string) => (await own.sandbox.bot.store.messages.get(key))?.state === state;
  await own.until('it waits', () => is('waiting'));
  own.slack.remove(channel.id, asked.ts);
  await own.until('it is withdrawn', () => is('withdrawn'));
  await own.hurry('work for long');
  await own.finished(channel, root);
  await own.expectStays(() => own.sentToAgent('work for long').texts.length, 1);
});
