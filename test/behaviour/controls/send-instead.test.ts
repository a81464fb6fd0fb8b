import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import type { Channel, Message, Person } from '../../../sandbox/slack/slack-workspace.ts';
import { WAITING_EMOJI } from '../../../src/relay/runtime/incoming-message.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';
import { StartFormScene } from '../../support/start-form-scene.ts';

// Nothing is passed on by itself: the silences are longer than the tests.
const limits = { silenceMs: 3_600_000, waitingMs: 3_600_000, passOnMs: 3_600_000 };
const scene = await openAppScene({ settings: { TASK_CONTROL: 'starter' }, limits });
const { ada, grace, slack, agent } = scene;
const TAKEN = strings.sendNowTooLate('sent');

async function growing(channel: Channel, text: string, person: Person = ada): Promise<Message> {
  const root = scene.ask(channel, text, { person });
  await scene.until('the reply grows', () => scene.shown(channel, root).includes('Second'));
  return root;
}

/** The private note with the button, of a person. */
function note(channel: Channel, person: Person = ada) {
  return scene.until('there is a note', () =>
    slack.ephemerals(person, channel).find(({ blocks }) => JSON.stringify(blocks).includes('send_instead')),
  );
}

const texts = (channel: Channel, person: Person = ada) =>
  slack.ephemerals(person, channel).map(({ text }) => text);
const buttons = (channel: Channel) =>
  JSON.stringify(slack.ephemerals(ada, channel).map(({ blocks }) => blocks)).match(/"button"/g) ?? [];

test.concurrent('one press stops the run, and sends the message that waits next, in the same task', async () => {
  const channel = scene.channel();
  const root = await growing(channel, '/slow 9000 the wrong gene');
  const instead = scene.reply(channel, root, 'the right gene');
  const { ts } = await note(channel);
  await slack.click({ person: ada, channel, ts, actionId: 'send_instead' });
  await scene.finished(channel, instead);
  expect(scene.sentToAgent('/slow 9000 the wrong').texts).toEqual([
    '/slow 9000 the wrong gene',
    'the right gene',
  ]);
  expect(scene.shown(channel, root)).toContain('Stopped by ada.');
  expect(scene.shown(channel, root)).not.toContain('waiting');
  await scene.until('the note says what happened', () => texts(channel).includes(TAKEN));
  expect(texts(channel)).toEqual([TAKEN]);
  expect(buttons(channel)).toEqual([]);
});

test.concurrent('all that its writer has waiting goes first and as one, pressed twice or not, and then what others wrote', async () => {
  const channel = scene.channel();
  const root = await growing(channel, '/slow 9000 with many who wait');
  const graces = scene.reply(channel, root, 'a question of grace', { person: grace });
  scene.reply(channel, root, 'no, the other one');
  const { ts } = await note(channel);
  const last = scene.reply(channel, root, 'with all plates');
  await slack.settled();
  const press = { person: ada, channel, ts, actionId: 'send_instead' };
  await Promise.all([slack.click(press), slack.click(press)]);
  await Promise.all([graces, last].map((message) => scene.finished(channel, message)));
  expect(scene.sentToAgent('/slow 9000 with many').texts).toEqual([
    '/slow 9000 with many who wait',
    'no, the other one\n\nwith all plates',
    `${strings.unnamedWriter('ada')}\n\ngrace: a question of grace`,
  ]);
});

test.concurrent('where the run has ended meanwhile, the message goes once, and its note says so', async () => {
  const channel = scene.channel();
  const root = await growing(channel, '/slow 9000 nearly over');
  const next = scene.reply(channel, root, 'and then this');
  const { ts } = await note(channel);
  await scene.hurry('/slow 9000 nearly over');
  await scene.finished(channel, next);
  await slack.click({ person: ada, channel, ts, actionId: 'send_instead' });
  await scene.until('the note says so', () => texts(channel).includes(TAKEN));
  expect(texts(channel)).toEqual([TAKEN]);
  expect(scene.sentToAgent('/slow 9000 nearly').texts).toEqual(['/slow 9000 nearly over', 'and then this']);
  expect(scene.shown(channel, root)).not.toContain('Stopped');
});

test.concurrent('whoever may not stop the run is told so, and everything stays as it is', async () => {
  const channel = scene.channel();
  const root = await growing(channel, '/slow 9000 of grace', grace);
  const next = scene.reply(channel, root, 'of ada');
  await scene.makeKnown(ada);
  const { ts } = await note(channel);
  await slack.click({ person: ada, channel, ts, actionId: 'send_instead' });
  await scene.until('ada is told', () => texts(channel).includes(strings.controlRefused.starter));
  expect((await note(channel)).ts).toBe(ts);
  const { turns, messages } = scene.sandbox.bot.store;
  const key = (message: Message) => ({ workspace: slack.team.id, channel: channel.id, ts: message.ts });
  expect(await turns.ofMessage(key(root))).toMatchObject({ stop_requested_at: null });
  expect(await messages.get(key(next))).toMatchObject({ state: 'waiting', is_urgent: false });
  scene.reply(channel, root, 'stop', { person: grace });
});

test.concurrent('a stop that the service refuses lets the run end, and the message follows', async () => {
  const channel = scene.channel();
  const root = await growing(channel, '/slow 9000 that nobody can stop');
  const task = agent.tasks.findLast(({ title }) => title === '/slow 9000 that nobody can stop');
  const call = /cancel$/;
  agent.faults.add({ call, about: task?.id ?? '?', fault: { kind: 'status', status: 400 } });
  const next = scene.reply(channel, root, 'the next in line');
  const { ts } = await note(channel);
  await slack.click({ person: ada, channel, ts, actionId: 'send_instead' });
  const isRefused = () =>
    agent.calls.some(({ name, path }) => call.test(name) && path.includes(task?.id ?? '?'));
  await scene.until('the stop is refused', isRefused);
  await scene.hurry('/slow 9000 that nobody can stop');
  await scene.finished(channel, next);
  expect(scene.shown(channel, root)).toContain('Second 9000 of 9000');
  expect(scene.sentToAgent('/slow 9000 that').texts.slice(1)).toEqual(['the next in line']);
});

test.concurrent('after a stop, it sends what that has paused', async () => {
  const channel = scene.channel();
  const root = await growing(channel, '/slow 9000 stopped before');
  const next = scene.reply(channel, root, 'this after all');
  const { ts } = await note(channel);
  scene.reply(channel, root, 'stop');
  await scene.messageWithButton(channel, root, 'send_paused');
  await slack.click({ person: ada, channel, ts, actionId: 'send_instead' });
  await scene.finished(channel, next);
  expect(scene.sentToAgent('/slow 9000 stopped').texts.slice(1)).toEqual(['this after all']);
  await scene.until('the notice is over', () => scene.shown(channel, root).includes('sent 1 message'));
  expect(next.versions).toHaveLength(1);
});

test.concurrent('one press stops the answer to a question that was edited, and sends its new words', async () => {
  const channel = scene.channel();
  const root = await growing(channel, '/slow 9000 the mean of colum a');
  slack.edit(channel.id, root.ts, `${scene.mention} the mean of column a`);
  const { ts, text } = await note(channel);
  expect(text).toBe(strings.editedAfterSending);
  const other = scene.reply(channel, root, 'grace asks, too', { person: grace });
  await slack.settled();
  const press = { person: ada, channel, ts, actionId: 'send_instead' };
  await Promise.all([slack.click(press), slack.click(press)]);
  await scene.finished(channel, other);
  expect(scene.sentToAgent('/slow 9000 the mean').texts).toEqual([
    '/slow 9000 the mean of colum a',
    'A correction to my message: the mean of column a',
    expect.stringContaining('grace asks, too'),
  ]);
  expect(scene.shown(channel, root)).toContain('Stopped by ada.');
  expect(buttons(channel)).toEqual([]);
});

test.concurrent('messages that one person writes while the agent works go as one, in order, and none looks as if it waited', async () => {
  const channel = scene.channel();
  const root = await growing(channel, '/slow 9000 and then these');
  const table = { name: 'plates.csv', mime: 'text/csv', bytes: 'a,b\n1,2\n' };
  const one = scene.reply(channel, root, 'first this');
  const two = scene.reply(channel, root, `${scene.mention} then that`, { files: [table] });
  const gone = scene.reply(channel, root, 'not this');
  const three = scene.reply(channel, root, 'at lasst this');
  const graces = scene.reply(channel, root, 'of grace', { person: grace });
  const four = scene.reply(channel, root, 'after grace');
  await slack.settled();
  slack.remove(channel, gone.ts);
  slack.edit(channel.id, three.ts, 'at last this');
  await slack.settled();
  await scene.hurry('/slow 9000 and then these');
  await Promise.all([three, four].map((message) => scene.finished(channel, message)));
  expect(scene.sentToAgent('/slow 9000 and then').texts).toEqual([
    '/slow 9000 and then these',
    'first this\n\nthen that\n\nat last this',
    `${strings.unnamedWriter('ada')}\n\ngrace: of grace`,
    'ada: after grace',
  ]);
  expect(scene.sentToAgent('/slow 9000 and then').fileIds[1]).toHaveLength(1);
  const { store } = scene.sandbox.bot;
  const key = (message: Message) => ({ workspace: slack.team.id, channel: channel.id, ts: message.ts });
  const turns = await Promise.all([one, two, three].map((message) => store.turns.ofMessage(key(message))));
  expect(new Set(turns.map((turn) => turn?.id)).size).toBe(1);
  const isRow = async () => {
    for await (const row of store.audit.read({ since: new Date(0) }))
      if (row.turn_id === turns[0]?.id) return row.details;
    return undefined;
  };
  const details = { sent: true, message: one.ts, sentWith: [two.ts, three.ts] };
  expect(await scene.until('the turn is in the audit trail', isRow)).toMatchObject(details);
  const waiting = () =>
    [one, two, three, graces, four].filter(({ reactions }) => reactions.get(WAITING_EMOJI)?.length);
  await scene.until('none looks as if it waited', () => waiting().length === 0);
});

test.concurrent('what was sent with others is sent again whole, and can be corrected by itself', async () => {
  const channel = scene.channel();
  const root = await growing(channel, '/slow 9000 and more');
  scene.reply(channel, root, '/fail of the first');
  const second = scene.reply(channel, root, 'and of colum b');
  await slack.settled();
  await scene.hurry('/slow 9000 and more');
  await scene.finished(channel, second);
  const sent = () => scene.sentToAgent('/slow 9000 and more').texts.slice(1);
  expect(sent()).toEqual(['/fail of the first\n\nand of colum b']);
  const failed = await scene.messageWithButton(channel, root, 'retry');
  await slack.click({ person: ada, channel, ts: failed.ts, actionId: 'retry' });
  await scene.until('it is sent again', () => sent().length === 2);
  expect(sent()[1]).toBe(sent()[0]);
  slack.edit(channel.id, second.ts, 'and of column b');
  const { ts } = await scene.until('a correction is offered', () =>
    channel.ephemerals.find(({ blocks }) => JSON.stringify(blocks).includes('"correct"')),
  );
  await slack.click({ person: ada, channel, ts, actionId: 'correct' });
  await scene.until('it is corrected', () => sent().length === 3);
  expect(sent()[2]).toBe('A correction to my message: and of column b');
});

/** A question whose first half `root` kept waiting, and whose second half, sent with it, is being answered. */
async function growingAsOne(what: string): Promise<{ channel: Channel; root: Message; second: Message }> {
  const channel = scene.channel();
  const question = `/slow 8000 ${what}`;
  const root = await growing(channel, question);
  scene.reply(channel, root, 'of colum a');
  const second = scene.reply(channel, root, '/slow 9000 of colum b');
  await slack.settled();
  await scene.hurry(question);
  await scene.until('the answer to both grows', () => scene.shown(channel, root).includes('of 9000'));
  return { channel, root, second };
}

test.concurrent('one press stops the answer to what went as one, and sends the part that was edited', async () => {
  const { channel, root, second } = await growingAsOne('before an edit');
  slack.edit(channel.id, second.ts, 'of column b');
  const edited = () => slack.ephemerals(ada, channel).find(({ text }) => text === strings.editedAfterSending);
  const { ts } = await scene.until('the correction is offered', edited);
  await slack.click({ person: ada, channel, ts, actionId: 'send_instead' });
  const sent = () => scene.sentToAgent('/slow 8000 before an edit').texts.slice(1);
  await scene.until('it is sent', () => sent().length === 2);
  expect(sent()).toEqual(['of colum a\n\n/slow 9000 of colum b', 'A correction to my message: of column b']);
  expect(scene.shown(channel, root)).toContain('Stopped by ada.');
});

test.concurrent('a correction that is sent while the agent works waits, and its writer is told so', async () => {
  const channel = scene.channel();
  const root = await growing(channel, '/slow 5000 of colum a');
  slack.edit(channel.id, root.ts, `${scene.mention} of column a`);
  const { ts } = await note(channel);
  await slack.click({ person: ada, channel, ts, actionId: 'correct' });
  await scene.until('nothing is said but that it waits', () =>
    isDeepStrictEqual(texts(channel), [strings.messageQueued]),
  );
  expect(texts(channel)).toEqual([strings.messageQueued]);
});

test.concurrent('who deletes a part of what went as one may stop its answer', async () => {
  const { channel, root, second } = await growingAsOne('before a deletion');
  slack.remove(channel, second.ts);
  const deleted = () =>
    slack.ephemerals(ada, channel).find(({ text }) => text === strings.deletedAfterSending);
  const { ts } = await scene.until('Stop is offered', deleted);
  await slack.click({ person: ada, channel, ts, actionId: 'stop' });
  await scene.until('it is stopped', () => scene.shown(channel, root).includes('Stopped by ada.'));
  expect(scene.shown(channel, root)).not.toContain('Second 9000');
});

test.concurrent('what was not sent with a part that is deleted since is not sent again', async () => {
  const channel = scene.channel();
  const root = await growing(channel, '/slow 9000 before a refusal');
  const task = agent.tasks.findLast(({ title }) => title === '/slow 9000 before a refusal');
  const call = /^POST .*\/messages$/;
  agent.faults.add({ call, about: task?.id ?? '?', fault: { kind: 'status', status: 422 }, times: 1 });
  scene.reply(channel, root, 'the first half');
  const second = scene.reply(channel, root, 'the second half');
  await slack.settled();
  await scene.hurry('/slow 9000 before a refusal');
  const { ts } = await scene.messageWithButton(channel, root, 'retry');
  slack.remove(channel, second.ts);
  await slack.settled();
  await slack.click({ person: ada, channel, ts, actionId: 'retry' });
  const told = strings.pressedTooLate(strings.questionDeleted);
  await scene.until('ada is told', () => texts(channel).includes(told));
  expect(scene.sentToAgent('/slow 9000 before a refusal').texts).toHaveLength(1);
});

test.concurrent('what went as one is asked again as one', async () => {
  const starting = new StartFormScene(scene);
  const { channel, person } = starting.personInChannel();
  const root = await growing(channel, '/slow 9000 and on', person);
  scene.reply(channel, root, 'the first half', { person });
  const last = scene.reply(channel, root, 'the second half', { person });
  await slack.settled();
  await scene.hurry('/slow 9000 and on');
  await scene.finished(channel, last);
  await starting.choose(person, channel, root, 'ask_again');
  await starting.form(person);
  expect(starting.filled(person)).toMatchObject({ question: 'the first half\n\nthe second half' });
});
