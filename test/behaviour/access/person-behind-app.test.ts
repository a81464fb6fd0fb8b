import { afterEach, expect, test } from 'vitest';
import type { Channel, Message, Person } from '../../../sandbox/slack/slack-workspace.ts';
import { openAppScene, pause } from '../../support/app-scene.ts';

// One delivery of an event waits so long for who wrote it.
const limits = { lookupMs: 1_500 };
const scene = await openAppScene({ limits });
const { ada, slack } = scene;
const guest = slack.createPerson({ name: 'guest', kind: 'guest' });
const robot = slack.createPerson({ name: 'robot', kind: 'bot' });
/** A tool that posts with people's own tokens. */
const byApp = 'B0DRAFTS';

afterEach(() => scene.reset());

async function isKnown(channel: Channel, { ts }: Message): Promise<boolean> {
  const key = { workspace: slack.team.id, channel: channel.id, ts };
  return (await scene.sandbox.bot.store.messages.get(key)) !== undefined;
}

test('what a person posts by an app is theirs: questions, replies, edits and deletions', async () => {
  const channel = scene.channel();
  const root = scene.ask(channel, 'scheduled yesterday\n/slow 9000', { byApp });
  await scene.until('the agent works', () => scene.sentToAgent('scheduled yesterday').texts.length > 0);
  const reply = scene.reply(channel, root, 'wiht a typo', { byApp });
  const deleted = scene.reply(channel, root, 'never mind this', { byApp });
  await slack.settled();
  slack.edit(channel, reply.ts, 'without a typo');
  slack.remove(channel, deleted.ts);
  await slack.settled();
  await scene.hurry('scheduled yesterday');
  await scene.finished(channel, reply);
  expect(scene.sentToAgent('scheduled yesterday').texts.slice(1)).toEqual(['without a typo']);
  const turn = await scene.sandbox.bot.store.turns.ofMessage({
    workspace: slack.team.id,
    channel: channel.id,
    ts: root.ts,
  });
  expect(turn?.asked_by).toBe(ada.id);
});

test('who has no access has none by an app either', async () => {
  const channel = scene.channel();
  slack.invite(channel, guest);
  const question = scene.ask(channel, 'by a guest', { person: guest, byApp });
  await scene.until('they are told', () => slack.ephemerals(guest, channel).length > 0);
  await scene.expectNoReply(channel, question);
});

test.each<[string, Person, { odd?: Record<string, unknown>; subtype?: string }]>([
  ['its own user', robot, {}],
  ['its own user, without a profile', robot, { odd: { bot_profile: undefined } }],
  ['a person, of subtype bot_message', ada, { subtype: 'bot_message', odd: { user: ada.id } }],
  ['a person, under another name', ada, { odd: { username: 'Ada' } }],
  ['the user of its profile', ada, { odd: { bot_profile: { id: byApp, user_id: ada.id } } }],
])("an app's post that names %s is the app's, and starts nothing", async (_who, person, more) => {
  const channel = scene.channel();
  if (!channel.members.has(person.id)) slack.invite(channel, person);
  const question = scene.ask(channel, 'an app says this', { person, byApp, ...more });
  await scene.expectNoReply(channel, question);
  expect(await isKnown(channel, question)).toBe(false);
});

test.each(['gone', 'unknown'])('a post of an app whose person is %s starts nothing', async (what) => {
  const person = slack.createPerson({ name: what });
  const channel = scene.channel();
  const body = { ok: false, error: 'user_not_found' };
  if (what === 'gone') person.deleted = true;
  else slack.faults.add({ call: 'users.info', fault: { kind: 'status', status: 200, body } });
  const question = scene.ask(channel, 'nobody says this', { person, byApp });
  await scene.expectNoReply(channel, question);
  expect(await isKnown(channel, question)).toBe(false);
});

test('a post by an app waits until Slack says who wrote it', async () => {
  const person = slack.createPerson({ name: 'late' });
  const channel = scene.channel();
  const fault = { kind: 'status', status: 503 } as const;
  const mend = slack.faults.add({ call: 'users.info', fault });
  const question = scene.ask(channel, 'said meanwhile', { person, byApp });
  await scene.until('it was asked', () =>
    slack.calls.some(({ method, ok }) => method === 'users.info' && !ok),
  );
  mend();
  await scene.finished(channel, question);
  expect(scene.sentToAgent('said meanwhile').texts).toHaveLength(1);
});

test('a reply by an app, without a mention, waits as well', async () => {
  const channel = scene.channel();
  const person = slack.createPerson({ name: 'late in a thread' });
  slack.invite(channel, person);
  const root = scene.ask(channel, 'begun by hand');
  await scene.finished(channel, root);
  const asked = () =>
    slack.calls.some(({ method, ok, args }) => method === 'users.info' && !ok && args.user === person.id);
  const mend = slack.faults.add({ call: 'users.info', fault: { kind: 'status', status: 503 } });
  const reply = scene.reply(channel, root, 'and by age?', { person, byApp });
  await scene.until('it was asked', asked);
  // Longer than one delivery of the event may wait.
  await pause(limits.lookupMs + 1_000);
  mend();
  await scene.finished(channel, reply);
  expect(scene.sentToAgent('begun by hand').texts.join()).toContain('and by age?');
});
