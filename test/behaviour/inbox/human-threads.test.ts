import { expect, test } from 'vitest';
import { textOf } from '../../../sandbox/agent/records.ts';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { SharedRateLimits } from '../../../src/store/slack/shared-rate-limits.ts';
import { SETTINGS_ACCOUNT } from '../../../src/store/workspaces/accounts.ts';
import { WHOLE_WORKSPACE } from '../../../src/store/workspaces/settings-store.ts';
import { openAppScene } from '../../support/app-scene.ts';

const scene = await openAppScene();
const { ada, grace, slack } = scene;
const alan = slack.createPerson({ name: 'alan' });
const edsger = slack.createPerson({ name: 'edsger' });
const barbara = slack.createPerson({ name: 'barbara' });
const everybody = [ada, grace, alan];
/** The bot may not read for so long (ms). */
const READING_WAITS_MS = 14_000;

/** What the service has got in a thread's task, oldest first, and the names of the files. */
async function received(channel: Channel, root: Message) {
  const key = { workspace: slack.team.id, channel: channel.id, thread_ts: root.ts };
  const thread = await scene.sandbox.bot.store.threads.get(key);
  const messages = scene.agent.tasks.find(({ id }) => id === thread?.task_id)?.messages ?? [];
  return {
    texts: messages.filter(({ role }) => role === 'user').map(({ content }) => textOf(content)),
    fileCounts: messages.flatMap(({ input }) => (input === null ? [] : [input.fileIds.length])),
  };
}

function told(channel: Channel) {
  return channel.ephemerals.filter(({ text }) => text === strings.replyNotSent);
}

/** A thread of 30 messages between three people; the 10th and the 20th mention the bot. */
async function humanThread(channel: Channel) {
  const root = slack.say({ person: ada, channel, text: 'talk 1' });
  for (let count = 2; count <= 30; count += 1) {
    const person = everybody[(count - 1) % everybody.length] ?? ada;
    const isMention = count % 10 === 0 && count < 30;
    const text = `${isMention ? `${scene.mention} question` : 'talk'} ${count}`;
    const files = count === 15 ? [{ name: 'ages.csv', mime: 'text/csv', bytes: 'age\n1\n' }] : [];
    if (isMention) await slack.settled();
    const message = scene.reply(channel, root, text, { person, files });
    if (isMention) await scene.finished(channel, message);
  }
  return root;
}

test.each([
  ['conversation', {}],
  ['mentions', { listen_mode: 'mentions' }],
] as const)(
  'only the two mentions of a thread of 30 messages are sent, with what was said between (%s)',
  async (_, settings) => {
    const channel = scene.channel();
    await scene.sandbox.bot.store.settings.set(slack.team.id, channel.id, ada.id, settings);
    const root = await humanThread(channel);
    await scene.until('everybody was told', () => told(channel).length === everybody.length);
    expect(new Set(told(channel).map(({ user }) => user))).toEqual(new Set(everybody.map(({ id }) => id)));
    const { texts, fileCounts } = await received(channel, root);
    expect(texts).toHaveLength(2);
    const quotedTalk = texts.map((text) =>
      [...text.matchAll(/talk (\d+)/g)].map(([, count]) => Number(count)),
    );
    expect(quotedTalk).toEqual([
      [1, 2, 3, 4, 5, 6, 7, 8, 9],
      [11, 12, 13, 14, 15, 16, 17, 18, 19],
    ]);
    expect(texts[0]).toContain('question 10');
    expect(texts[1]).toContain('question 20');
    expect(fileCounts).toEqual([0, 1]);
    const unsent = slack.thread(channel.id, root.ts).find(({ text }) => text === 'talk 26');
    const key = { workspace: slack.team.id, channel: channel.id, ts: unsent?.ts ?? '' };
    await slack.settled();
    expect(await scene.sandbox.bot.store.messages.get(key)).toMatchObject({ state: 'unsent', content: null });
  },
);

test('every reply after the mention is sent where the workspace says so', async () => {
  const { settings } = scene.sandbox.bot.store;
  await settings.set(slack.team.id, WHOLE_WORKSPACE, ada.id, { listen_mode: 'replies' });
  const channel = scene.channel();
  const root = slack.say({ person: grace, channel, text: 'talk 1' });
  await scene.finished(channel, scene.reply(channel, root, `${scene.mention} question 2`));
  await scene.finished(channel, scene.reply(channel, root, 'ok', { person: grace }));
  expect((await received(channel, root)).texts).toHaveLength(2);
  expect(told(channel)).toEqual([]);
  await settings.set(slack.team.id, WHOLE_WORKSPACE, ada.id, { listen_mode: null });
});

test('a reply is sent while nobody else has written since the answer, whatever it says', async () => {
  const channel = scene.channel();
  const root = slack.say({ person: grace, channel, text: 'lunch?' });
  await scene.finished(channel, scene.reply(channel, root, `${scene.mention} how many groups?`));
  await scene.finished(channel, scene.reply(channel, root, 'ok'));
  scene.reply(channel, root, 'see you at noon', { person: grace });
  scene.reply(channel, root, `<@${grace.id}> fine`);
  const unsent = scene.reply(channel, root, 'and by age?');
  await scene.until('both were told', () => told(channel).length === 2);
  expect((await received(channel, root)).texts).toHaveLength(2);

  // Somebody else cannot send it; its writer can, once.
  const note = told(channel).find(({ user }) => user === ada.id);
  await scene.until('its writer was told', () => note !== undefined);
  const press = { person: ada, channel, ts: note?.ts ?? '', actionId: 'send_reply' };
  await Promise.all([slack.click(press), slack.click(press)]);
  await scene.until('the note says so', () => note?.text === strings.sendingReply);
  expect(JSON.stringify(note?.blocks)).not.toContain('send_reply');
  await scene.finished(channel, unsent);
  const { texts } = await received(channel, root);
  expect(texts).toHaveLength(3);
  expect(texts[2]).toContain('and by age?');
  expect(texts[2]).toContain('see you at noon');
  expect(texts[2]).not.toContain('fine');
});

test('messages without a text or a writer, as old integrations post them, hold nothing up', async () => {
  const channel = scene.channel();
  const alarms = slack.createPerson({ name: 'alarms', kind: 'bot' });
  slack.invite(channel, alarms);
  const root = slack.say({ person: grace, channel, text: 'lunch?' });
  const nothing = { text: null, user: null, blocks: null, files: null, thread_ts: root.ts };
  const attachments = [null, { text: null, fallback: 'The disk is full' }];
  const subtype = 'bot_message';
  scene.reply(channel, root, '', { person: alarms, subtype, odd: { ...nothing, attachments } });
  scene.reply(channel, root, '', { person: alarms, subtype, odd: { ...nothing, username: null } });
  await scene.finished(channel, scene.reply(channel, root, `${scene.mention} how many groups?`));
  await scene.finished(
    channel,
    scene.reply(channel, root, 'and by age?', { odd: { text: null, files: null } }),
  );
  const [first, second] = (await received(channel, root)).texts;
  expect(first).toContain('lunch?');
  expect(first).toContain('The disk is full');
  expect(second).toContain('and by age?');
});

test('the first message and the newest of a very long thread are quoted, read in a few calls', async ({
  onTestFinished,
}) => {
  let daysAgo = 1;
  const clock = { now: () => Date.now() - daysAgo * 86_400_000 };
  const own = await openAppScene({ slack: { clock } }, onTestFinished);
  const channel = own.slack.createChannel({ name: 'long-talk', bot: false });
  const root = own.slack.say({ person: own.grace, channel, text: 'talk 1' });
  for (let count = 2; count <= 2_100; count += 1) {
    if (count === 2_051) daysAgo = 0;
    own.reply(channel, root, `talk ${count}`);
  }
  own.slack.invite(channel, undefined, own.ada);
  await own.finished(channel, own.reply(channel, root, `${own.mention} what was said last?`));
  const [question = ''] = own.sentToAgent('what was said last?').texts;
  const quoted = [...question.matchAll(/talk (\d+)/g)].map(([, count]) => Number(count));
  expect(quoted).toEqual([1, ...Array.from({ length: 19 }, (_, index) => 2_082 + index)]);
  expect(question).toContain('quoted: the first message and the newest 19, those between left out;');
  const readings = own.slack.calls.filter(({ method }) => method === 'conversations.replies');
  expect(readings.length).toBeLessThan(6);
});

test('a person can have every reply of a thread read, and the thread says who and how to undo it', async () => {
  const channel = scene.channel();
  const root = slack.say({ person: grace, channel, text: 'lunch?' });
  await scene.finished(channel, scene.reply(channel, root, `${scene.mention} how many groups?`));
  const first = scene.reply(channel, root, 'and by sex?', { person: grace });
  const second = scene.reply(channel, root, 'and by lane?', { person: barbara });
  for (const [person, unsent] of [
    [grace, first],
    [barbara, second],
  ] as const) {
    const note = await scene.until('its writer was told', () =>
      told(channel).find(({ user }) => user === person.id),
    );
    await slack.click({ person, channel, ts: note.ts, actionId: 'keep_listening' });
    await scene.until('the note says so', () => note.text === strings.sendingReply);
    await scene.finished(channel, unsent);
  }
  await scene.finished(channel, scene.reply(channel, root, 'and by age?', { person: alan }));
  const notice = await scene.messageWithButton(channel, root, 'stop_listening');
  expect(slack.visibleText(notice)).toContain(strings.listening('grace'));
  await slack.click({ person: alan, channel, ts: notice.ts, actionId: 'stop_listening' });
  await scene.until('the thread says so', () =>
    scene.shown(channel, root).includes(strings.listeningEnded('alan')),
  );
  scene.reply(channel, root, 'see you at noon', { person: edsger });
  await scene.until('he was told', () => told(channel).some(({ user }) => user === edsger.id));
  expect((await received(channel, root)).texts).toHaveLength(4);
});

test('a reply that its writer sends after all waits behind a stop, too, and both notes say so', async () => {
  const channel = scene.channel();
  const root = slack.say({ person: grace, channel, text: 'lunch?' });
  const asked = scene.reply(channel, root, `${scene.mention} /slow 9000 plates`);
  await scene.until('the reply grows', () => scene.shown(channel, root).includes('Second'));
  scene.reply(channel, root, `${scene.mention} and the tubes`);
  scene.reply(channel, root, 'at noon', { person: barbara });
  const note = await scene.until('she was told', () => told(channel).find(({ user }) => user === barbara.id));
  await slack.settled();
  scene.reply(channel, root, `${scene.mention} stop`);
  await scene.finished(channel, asked);
  const notice = await scene.messageWithButton(channel, root, 'send_paused');
  expect(notice.text).toContain('1 message is waiting.');
  await slack.click({ person: barbara, channel, ts: note.ts, actionId: 'send_reply' });
  await scene.until('the number is brought up to date', () => notice.text.startsWith('2 messages'));
  await scene.until('the note says so', () => note.text === strings.waitsBehindStop('ada'));
});

test('who has no access is offered no button, and Send refuses who has lost access', async () => {
  const { messages, settings } = scene.sandbox.bot.store;
  const channel = scene.channel();
  const [early, late] = [
    slack.createPerson({ name: 'early guest', kind: 'guest' }),
    slack.createPerson({ name: 'late guest', kind: 'guest' }),
  ];
  for (const guest of [early, late]) slack.invite(channel, guest);
  const root = slack.say({ person: grace, channel, text: 'lunch?' });
  await scene.finished(channel, scene.reply(channel, root, `${scene.mention} how many groups?`));
  scene.reply(channel, root, 'at noon', { person: early });
  const [refusal] = await scene.until('the guest is told', () => {
    const heard = slack.ephemerals(early, channel);
    return heard.length > 0 && heard;
  });
  expect(slack.visibleText(refusal ?? root)).toContain(strings.notAllowed.channel);
  expect(JSON.stringify(refusal?.blocks ?? [])).not.toContain('send_reply');

  await settings.set(slack.team.id, channel.id, ada.id, { allowed_users: 'guests' });
  const unsent = scene.reply(channel, root, 'by bike', { person: late });
  const note = await scene.until('the other is told', () =>
    told(channel).find(({ user }) => user === late.id),
  );
  await settings.set(slack.team.id, channel.id, ada.id, { allowed_users: 'members' });
  await slack.click({ person: late, channel, ts: note.ts, actionId: 'send_reply' });
  await scene.until('the note says so', () => note.text === strings.notAllowed.channel);
  const key = { workspace: slack.team.id, channel: channel.id, ts: unsent.ts };
  expect(await messages.get(key)).toMatchObject({ state: 'unsent' });
});

test("Slack's own notices begin no turn, wherever they stand", async () => {
  const channel = scene.channel();
  const dm = slack.openDm(ada);
  const root = scene.ask(channel, 'among notices');
  await scene.finished(channel, root);
  slack.slackSays(dm, 'Reminder: look at the plates');
  slack.slackSays(channel, `Reminder: ${scene.mention} count the plates`, undefined, 'USLACK');
  slack.slackSays(channel, 'archived the channel', root.ts, 'USLACK');
  slack.slackSays(channel, 'The door code is on the board.', root.ts);
  slack.archive(channel);
  slack.unarchive(channel);
  await slack.settled();
  await scene.finished(channel, scene.reply(channel, root, 'the next question'));
  expect((await received(channel, root)).texts).toEqual(['among notices', 'the next question']);
  const { db } = scene.sandbox.bot.store;
  const places = [channel.id, dm.id];
  const messages = await db.selectFrom('messages').select('user_id').where('channel', 'in', places).execute();
  expect(messages).toEqual([{ user_id: ada.id }, { user_id: ada.id }]);
});

/** A reply that came before the mention which made its thread ours; `adopt` is that mention. */
async function overtakingReply(channel: Channel) {
  const { store } = scene.sandbox.bot;
  const root = slack.say({ person: grace, channel, text: 'lunch?' });
  const reply = scene.reply(channel, root, 'and by age?');
  const thread = { workspace: slack.team.id, channel: channel.id, thread_ts: root.ts };
  const overtaking = () => store.orphanReplies.after(thread, root.ts);
  await scene.until('it is known', async () => (await overtaking()).length > 0);
  const adopt = () =>
    store.threads.adopt(thread, { account_id: SETTINGS_ACCOUNT, user_id: ada.id, ts: root.ts });
  return { root, reply, overtaking, adopt };
}

test.concurrent('a reply that overtook the mention of its thread is read, and goes before what follows', async () => {
  const channel = scene.channel();
  const { root, overtaking, adopt } = await overtakingReply(channel);
  await adopt();
  const next = scene.reply(channel, root, 'the next one');
  await scene.finished(channel, next);
  const { texts } = await received(channel, root);
  expect(texts.join('\n')).toMatch(/and by age\?[\s\S]*the next one/);
  expect(await overtaking()).toEqual([]);
});

test.concurrent('a reply that was edited before the mention of its thread arrived is sent as it was edited', async () => {
  const channel = scene.channel();
  const { root, reply, overtaking, adopt } = await overtakingReply(channel);
  slack.edit(channel.id, reply.ts, 'and by weight?');
  await slack.settled();
  await adopt();
  const next = scene.reply(channel, root, 'the next one');
  await scene.finished(channel, next);
  const { texts } = await received(channel, root);
  expect(texts.join('\n')).toMatch(/and by weight\?[\s\S]*the next one/);
  expect(await overtaking()).toEqual([]);
});

test('a reply that overtook the mention of its thread goes before what follows, also where reading waits', async () => {
  const channel = scene.channel();
  const { root, adopt } = await overtakingReply(channel);
  await new SharedRateLimits(scene.sandbox.bot.store.db).pause(
    slack.team.id,
    'conversations.replies',
    READING_WAITS_MS,
  );
  await adopt();
  const next = scene.reply(channel, root, 'the next one');
  await scene.finished(channel, next);
  const { texts } = await received(channel, root);
  expect(texts.join('\n')).toMatch(/and by age\?[\s\S]*the next one/);
});
