import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import * as strings from '../../../src/render/strings/index.ts';
import { openStartFormScene } from '../../support/start-form-scene.ts';

// One after the other: faults hit whoever calls.
let aheadMs = 0;
const starting = await openStartFormScene({ slack: { clock: { now: () => Date.now() + aheadMs } } });
const { scene } = starting;
const { slack } = scene;

test('a form closes before Slack has taken its question', async () => {
  const { person, channel } = starting.personInChannel();
  await starting.command(person, channel, 'new');
  await starting.form(person);
  const slow = Promise.withResolvers<void>();
  slack.faults.add({ call: 'chat.postMessage', times: 2, fault: { kind: 'hold', until: slow.promise } });
  await starting.command(person, channel, 'asked by a command');
  const { acked } = await starting.send(person, { question: 'a slow one' });
  expect(acked).toBe(true);
  expect(slack.modal(person)).toBeUndefined();
  slow.resolve();
  for (const question of ['a slow one', 'asked by a command'])
    await scene.finished(channel, await starting.post(channel, question));
});

test.each([
  ['is_archived', 'unreachable'],
  ['restricted_action', 'unreachable'],
  ['not_in_channel', 'invite'],
  ['invalid_blocks', 'refused'],
] as const)(
  'a question that Slack refuses with %s goes back to its writer, with the reason',
  async (error, why) => {
    const { person, channel } = starting.personInChannel();
    await starting.command(person, channel, 'new');
    await starting.form(person);
    const fault = { kind: 'status', status: 200, body: { ok: false, error } } as const;
    slack.faults.add({ call: 'chat.postMessage', about: `"channel":"${channel.id}"`, fault });
    await starting.send(person, { question: `what about ${error}?` });
    const direct = slack.openDm(person);
    const returned = strings.questionNotPosted(
      channel.id,
      strings.questionRefusals[why],
      `what about ${error}?`,
    );
    await scene.until('it is given back', () => slack.messages(direct).some(({ text }) => text === returned));
    expect(starting.posts(channel, 'what about')).toEqual([]);
  },
);

test('a question goes back to its writer where Slack did not say in time that the bot is not there', async () => {
  const { person, channel } = starting.personInChannel({ bot: false });
  await starting.command(person, channel, 'new');
  await starting.form(person);
  const away = { kind: 'status', status: 503 } as const;
  const mend = slack.faults.add({ call: 'conversations.info', about: channel.id, fault: away });
  await starting.send(person, { question: 'without a place' });
  mend();
  const direct = slack.openDm(person);
  await scene.until('it is given back', () =>
    slack.messages(direct).some(({ text }) => text.includes(strings.questionRefusals.invite)),
  );
  expect(starting.posts(channel, 'without a place')).toEqual([]);
});

test('a form whose question cannot be kept stays open with what was typed', async () => {
  const { person, channel } = starting.personInChannel();
  await starting.command(person, channel, 'new');
  await starting.form(person);
  const { db } = scene.sandbox.bot.store;
  await sql`alter table task_starts rename to task_starts_away`.execute(db);
  const refused = await starting.send(person, { question: 'typed with care' });
  await sql`alter table task_starts_away rename to task_starts`.execute(db);
  expect(JSON.stringify(refused.body)).toContain(strings.command.unavailable);
  expect(slack.modal(person)).toBeDefined();
  await starting.send(person, { question: 'typed with care' });
  await scene.finished(channel, await starting.post(channel, 'typed with care'));
});

test('an expired trigger opens nothing, and the person is told', async () => {
  const { channel, person } = starting.personInChannel();
  const dm = slack.openDm(person);
  const said = slack.say({ person, channel, text: 'about what?' });
  const opened = [
    starting.command(person, channel, 'new'),
    slack.shortcut({ person, callbackId: 'ask_about', channel, ts: said.ts }),
    slack.shortcut({ person, callbackId: 'new_task' }),
  ];
  aheadMs += 60_000;
  await Promise.all(opened);
  await scene.until('it is told', () => {
    const told = starting.ephemeralTexts(person, channel);
    return told.length === 2 && told.every((one) => one.includes('took too long'));
  });
  await scene.until('it is told directly', () =>
    slack.messages(dm).some((one) => slack.visibleText(one).includes('took too long')),
  );
  expect(slack.modal(person)).toBeUndefined();
  // Slack does not show what stands in a thread without replies.
  expect(slack.ephemerals(person, channel).map(({ threadTs }) => threadTs)).toEqual([undefined, undefined]);
});

test('a shortcut that fails says so, also where the bot is not in the channel', async () => {
  const { channel, person } = starting.personInChannel({ bot: false });
  const said = slack.say({ person, channel, text: 'about what?' });
  slack.faults.add({ call: 'views.open', times: 2, fault: { kind: 'status', status: 503 } });
  await slack.shortcut({ person, callbackId: 'ask_about', channel, ts: said.ts });
  await slack.shortcut({ person, callbackId: 'new_task' });
  const { unavailable } = strings.command;
  const dm = slack.openDm(person);
  await scene.until('both are told', () => {
    const direct = slack.messages(dm).map((one) => slack.visibleText(one));
    return starting.ephemeralTexts(person, channel).includes(unavailable) && direct.includes(unavailable);
  });
  expect(slack.modal(person)).toBeUndefined();
});

test('a question about a message is kept where the bot is not in the channel, with how to invite it', async () => {
  const { channel, person } = starting.personInChannel({ bot: false });
  const said = slack.say({ person, channel, text: 'Nobody reads this' });
  await slack.shortcut({ person, callbackId: 'ask_about', channel, ts: said.ts });
  await starting.form(person);
  expect(starting.modalText(person)).toContain(strings.startForm.inThread);
  const refused = await starting.send(person, { question: 'does the agent?' });
  expect(JSON.stringify(refused.body)).toMatch(/"question":".*\/invite @/);
  slack.invite(channel);
  await starting.send(person, starting.filled(person));
  await scene.until('it is answered', () => scene.shown(channel, said).includes('All is said.'));
  expect(scene.sentToAgent('does the agent?').texts[0]).toContain('Nobody reads this');
});

test('forms and buttons from before a restart still work', async () => {
  const { channel, person } = starting.personInChannel();
  const other = starting.newPerson();
  slack.invite(channel, other);
  const root = starting.ask(person, channel, '--model ultra what is a restart?');
  await scene.finished(channel, root);
  const said = slack.say({ person, channel, text: 'A message from before' });
  await slack.shortcut({ person: other, callbackId: 'ask_about', channel, ts: said.ts });
  await starting.form(other);
  await scene.sandbox.restartBot();
  await starting.press(person, channel, root, 'choose_again');
  await starting.form(person);
  await starting.send(person, { ...starting.filled(person), model: 'fast' });
  await scene.until('it goes on', () => scene.shown(channel, root).includes('All is said.'));
  await starting.send(other, { question: 'is it still known?' });
  await scene.until('it is answered', () => scene.shown(channel, said).includes('All is said.'));
  expect(starting.startedTasks('what is a restart?').at(-1)).toMatchObject({ model: 'fast' });
  expect(scene.sentToAgent('is it still known?').texts[0]).toContain('A message from before');
});

test('a question is posted once or returned to its writer when the process ended before posting it', async () => {
  const lucky = starting.personInChannel();
  await starting.command(lucky.person, lucky.channel, 'new');
  await starting.form(lucky.person);
  // Slack took the post, but nobody heard of it.
  slack.faults.add({ call: 'chat.postMessage', times: 1, fault: { kind: 'lost' } });
  await starting.send(lucky.person, { question: 'left behind' });
  await starting.post(lucky.channel, 'left behind');

  const unlucky = starting.personInChannel();
  await starting.command(unlucky.person, unlucky.channel, 'new');
  await starting.form(unlucky.person);
  slack.faults.add({ call: 'chat.postMessage', times: 1, fault: { kind: 'status', status: 503 } });
  await starting.send(unlucky.person, { question: 'to be given back' });
  await scene.until('the post has failed', () =>
    slack.calls.some(
      ({ method, args }) => method === 'chat.postMessage' && args.channel === unlucky.channel.id,
    ),
  );
  slack.archive(unlucky.channel);

  await scene.sandbox.restartBot();
  await scene.finished(lucky.channel, await starting.post(lucky.channel, 'left behind'));
  expect(starting.posts(lucky.channel, 'left behind')).toHaveLength(1);
  expect(scene.sentToAgent('left behind').texts).toEqual(['left behind']);
  const dm = slack.openDm(unlucky.person);
  await scene.until('it is given back', () =>
    slack.messages(dm).some((one) => slack.visibleText(one).includes('to be given back')),
  );
});

test('forms, commands and shortcuts work over HTTP too', async () => {
  const http = await openStartFormScene({ transport: 'http' }, onTestFinished);
  const { channel, person } = http.personInChannel({ bot: false });
  await http.command(person, channel, 'help');
  await http.scene.until('it is answered', () =>
    http.ephemeralTexts(person, channel)[0]?.includes('/agent new'),
  );
  await http.command(person, channel, 'status');
  await http.scene.until('it is answered', () =>
    http.ephemeralTexts(person, channel)[1]?.includes('/invite @'),
  );
  await http.command(person, channel, 'new');
  await http.form(person);
  const refused = JSON.stringify((await http.send(person, { question: 'over HTTP' })).body);
  // On a busy machine Slack does not say in time that the bot is not there, and the form closes.
  const isLate = !refused.includes('/invite @');
  http.scene.slack.invite(channel);
  if (isLate) {
    await http.command(person, channel, 'new');
    await http.form(person);
  }
  await http.send(person, isLate ? { question: 'over HTTP' } : http.filled(person));
  expect(http.scene.slack.modal(person)).toBeUndefined();
  const root = await http.post(channel, 'over HTTP');
  await http.scene.slack.shortcut({ person, callbackId: 'ask_about', channel, ts: root.ts });
  await http.form(person);
  expect(http.modalText(person)).toContain('over HTTP');
});

test('the message behind an open form is erased with its person, and with time', async () => {
  const { channel, person } = starting.personInChannel();
  const said = slack.say({ person: scene.grace, channel, text: 'to be forgotten' });
  const { store } = scene.sandbox.bot;
  const kept = async () => {
    const rows = await store.db
      .selectFrom('task_starts')
      .select('source_content')
      .where('state', '=', 'draft')
      .execute();
    return rows.filter(({ source_content }) => JSON.stringify(source_content).includes('to be forgotten'))
      .length;
  };
  for (const forget of [
    () => store.personErasure.eraseUser(slack.team.id, scene.grace.id),
    () => store.personErasure.eraseUser(slack.team.id, person.id),
    async () => {
      await sql`update task_starts set created_at = now() - interval '3 hours'`.execute(store.db);
      await store.retention.deleteExpired({ words: 7, rows: 30, audit: 365, uninstalled: 30 });
    },
  ]) {
    await slack.shortcut({ person, callbackId: 'ask_about', channel, ts: said.ts });
    await scene.until('it is kept', async () => (await kept()) === 1);
    await forget();
    expect(await kept()).toBe(0);
  }
  await scene.until('the form is filled', () => slack.modal(person)?.callbackId === 'start');
  const refused = await starting.send(person, { question: 'too late' });
  expect(JSON.stringify(refused.body)).toMatch(/"question":"This form was open too long/);
  expect(starting.filled(person)).toMatchObject({ question: 'too late' });
});
