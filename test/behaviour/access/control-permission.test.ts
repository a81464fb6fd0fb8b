import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Channel, Message, Person } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { type AppScene, openAppScene } from '../../support/app-scene.ts';

const scene = await openAppScene();
const starters = await openAppScene({ settings: { TASK_CONTROL: 'starter', LISTEN_MODE: 'mentions' } });

async function growing(on: AppScene, channel: Channel, root: Message): Promise<Message> {
  return on.until('the reply grows', () =>
    on.replies(channel, root).find((message) => on.slack.visibleText(message).includes('Second')),
  );
}

type Buttons = typeof strings.buttons;

/** The buttons of which a press opens or posts something about a turn. */
type TurnButton = { [Id in keyof Buttons]: Buttons[Id]['about'] extends 'turn' ? Id : never }[keyof Buttons];

/** A message of ours with a button of ours, where it does not belong. */
async function forged(on: AppScene, channel: Channel, actionId: string, value: string): Promise<string> {
  const button = { type: 'button', action_id: actionId, value, text: { type: 'plain_text', text: 'Press' } };
  const blocks = [{ type: 'actions', elements: [button] }];
  const answer = await fetch(`${on.slack.apiUrl}chat.postMessage`, {
    method: 'POST',
    headers: { authorization: `Bearer ${on.slack.botToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ channel: channel.id, text: 'Press', blocks }),
  });
  return z.looseObject({ ts: z.string() }).parse(await answer.json()).ts;
}

async function turnOf(on: AppScene, root: Message): Promise<string> {
  const key = { workspace: on.slack.team.id, channel: root.channel, ts: root.ts };
  return on.until('its turn has begun', async () => (await on.sandbox.bot.store.turns.ofMessage(key))?.id);
}

const told = (on: AppScene, person: Person, channel: Channel) =>
  on.slack.ephemerals(person, channel).map(({ text }) => text);

async function refusals(on: AppScene, channel: Channel): Promise<unknown[]> {
  const rows: unknown[] = [];
  const workspace = on.slack.team.id;
  for await (const row of on.sandbox.bot.store.audit.read({ since: new Date(0), workspace }))
    if (row.kind === 'refusal' && row.channel === channel.id)
      rows.push([row.user_id, row.details.control, row.details.why]);
  return rows;
}

describe.concurrent('a control', () => {
  test('refuses strangers and guests, whether they press, type or react, and obeys a member', async () => {
    const stranger = scene.slack.createPerson({ name: 'sten', kind: 'stranger' });
    const guest = scene.slack.createPerson({ name: 'gus', kind: 'guest' });
    const channel = scene.slack.createChannel({ name: 'shared', shared: true });
    const root = scene.ask(channel, '/slow 9000');
    const reply = await growing(scene, channel, root);
    await scene.slack.click({ person: stranger, channel, ts: reply.ts, actionId: 'stop' });
    scene.reply(channel, root, 'stop', { person: guest });
    scene.slack.react(stranger, channel, reply.ts, 'octagonal_sign');
    await scene.until('all are told', () => told(scene, stranger, channel).length === 2);
    await scene.until('all are told', () => told(scene, guest, channel).length === 1);
    expect([...told(scene, stranger, channel), ...told(scene, guest, channel)]).toEqual(
      Array.from({ length: 3 }, () => strings.controlRefused.stranger),
    );
    const task = scene.agent.tasks.findLast(({ title }) => title === '/slow 9000');
    await scene.expectStays(() => task?.status, 'running');
    expect(scene.sentToAgent('/slow 9000').texts).toHaveLength(1);
    scene.reply(channel, root, 'what waits', { person: scene.grace });
    await scene.slack.settled();
    await scene.slack.click({ person: scene.grace, channel, ts: reply.ts, actionId: 'stop' });
    await scene.finished(channel, root);
    const paused = await scene.until('the thread names the paused messages', () =>
      scene.replies(channel, root).find(({ text }) => text.startsWith('1 message is waiting')),
    );
    const why = 'stranger';
    expect(new Set((await refusals(scene, channel)).map((row) => JSON.stringify(row)))).toEqual(
      new Set([
        JSON.stringify([stranger.id, 'stop', why]),
        JSON.stringify([guest.id, 'stop_word', why]),
        JSON.stringify([stranger.id, 'stop_reaction', why]),
      ]),
    );
    const stopped = await scene.messageWithButton(channel, root, 'retry');
    expect(scene.slack.visibleText(stopped)).toContain('Stopped by grace.');
    await scene.slack.click({ person: stranger, channel, ts: stopped.ts, actionId: 'retry' });
    for (const actionId of ['send_paused', 'discard_paused'])
      await scene.slack.click({ person: stranger, channel, ts: paused.ts, actionId });
    await scene.until('it is told', () => told(scene, stranger, channel).length === 5);
    expect(paused.text).toMatch(/^1 message is waiting/);
    const take = { channel, ts: paused.ts, actionId: 'discard_paused' };
    const two = [scene.grace, scene.ada];
    await Promise.all(two.map((person) => scene.slack.click({ ...take, person })));
    await scene.until('it is over for one of them', () =>
      two.some((person) => told(scene, person, channel).includes(strings.nothingPaused)),
    );
    expect(scene.sentToAgent('/slow 9000').texts).toHaveLength(1);
  });

  test('that only the starter may use also obeys admins and the asker of the turn, across a restart', async () => {
    const admin = starters.slack.createPerson({ name: 'root', admin: true });
    const channel = starters.channel();
    const root = starters.ask(channel, '/slow 9000 mine');
    const reply = await growing(starters, channel, root);
    await starters.sandbox.restartBot();
    const press = { channel, ts: reply.ts, actionId: 'stop' };
    await starters.slack.click({ ...press, person: starters.grace });
    await starters.until('it is told', () =>
      told(starters, starters.grace, channel).includes(strings.controlRefused.starter),
    );
    await starters.slack.click({ ...press, person: admin });
    await starters.finished(channel, root);
    expect(starters.shown(channel, root)).toContain('Stopped by root.');
    const hers = starters.reply(channel, root, 'hers\n/slow 9000', { person: starters.grace });
    const second = await starters.until('the reply grows', () =>
      starters
        .replies(channel, hers)
        .find(
          (one) =>
            JSON.stringify(one.blocks).includes('"stop"') &&
            starters.slack.visibleText(one).includes('Second'),
        ),
    );
    await starters.slack.click({ ...press, ts: second.ts, person: starters.grace });
    await starters.finished(channel, hers);
    expect(starters.shown(channel, hers)).toContain('Stopped by grace.');
  });

  test('tells directly whoever it refuses outside the channel, or once the bot has left it', async () => {
    const outsider = scene.slack.createPerson({ name: 'out' });
    const channel = scene.slack.createChannel({ name: 'left', members: [scene.ada, scene.grace] });
    const { settings } = scene.sandbox.bot.store;
    await settings.set(scene.slack.team.id, channel.id, scene.ada.id, { task_control: 'starter' });
    const root = scene.ask(channel, '/slow 9000 left alone');
    const reply = await growing(scene, channel, root);
    const press = { channel, ts: reply.ts, actionId: 'stop' };
    const isToldDirectly = (person: Person) => () =>
      scene.slack
        .messages(scene.slack.openDm(person))
        .some(({ text }) => text === strings.controlRefused.starter);
    await scene.slack.click({ ...press, person: outsider });
    await scene.until('the one outside is told', isToldDirectly(outsider));
    scene.slack.kick(channel);
    await scene.slack.click({ ...press, person: scene.grace });
    await scene.until('the one inside is told', isToldDirectly(scene.grace));
    expect([outsider, scene.grace].flatMap((person) => told(scene, person, channel))).toEqual([]);
    await scene.slack.click({ ...press, person: scene.ada });
  });

  test('does nothing and reveals nothing when its button is in another channel than its turn', async () => {
    const mallory = scene.slack.createPerson({ name: 'mallory' });
    const secret = scene.slack.createChannel({ name: 'secret', private: true, members: [scene.ada] });
    const elsewhere = scene.channel();
    const root = scene.ask(secret, '/slow 9000 in secret');
    await growing(scene, secret, root);
    const value = await turnOf(scene, root);
    const press = async (person: Person, actionId: string, pressed = value) => {
      const ts = await forged(scene, elsewhere, actionId, pressed);
      await scene.slack.click({ person, channel: elsewhere, ts, actionId });
    };
    const controls = Object.entries(strings.buttons).filter(([, { about }]) => about === 'control');
    await Promise.all(
      controls.map(([id]) => press(mallory, id, id === 'feedback' ? `good/${value}` : value)),
    );
    await scene.until('all are answered', () => told(scene, mallory, elsewhere).length === controls.length);
    expect(new Set(told(scene, mallory, elsewhere))).toEqual(new Set([strings.controlFailed.unknown]));
    const sentences: Record<TurnButton, string> = {
      steps: strings.stepsNotFound,
      fresh_links: strings.filesNotFound,
      download_all: strings.tasks.notFound,
      save_record: strings.tasks.notFound,
      feedback_comment: strings.controlFailed.unknown,
      choose_again: strings.startForm.gone,
      new_thread: strings.startForm.gone,
      ask_again: strings.startForm.gone,
    };
    const opens = async ([actionId, sentence]: [string, string]) => {
      const person = scene.slack.createPerson({ name: `mallory of ${actionId}` });
      scene.slack.invite(elsewhere, person);
      const shown = () => JSON.stringify(scene.slack.modal(person)?.blocks ?? '');
      const says = () => shown().includes(sentence);
      // Where a window would open too late for Slack, people are told to press again.
      for (let tries = 1; !says(); tries += 1) {
        await press(person, actionId);
        const isTold = () => told(scene, person, elsewhere).length >= tries;
        await scene.until(`${actionId} says so`, () => says() || isTold());
      }
      expect(shown()).not.toContain('in secret');
    };
    await Promise.all(Object.entries(sentences).map(opens));
    expect(scene.sentToAgent('/slow 9000 in secret').texts).toHaveLength(1);
    expect(
      (await scene.sandbox.bot.store.turns.get(scene.slack.team.id, value))?.stop_requested_at,
    ).toBeNull();
  });

  test('says what came of a press also where the bot has left the channel', async () => {
    const person = scene.slack.createPerson({ name: 'left alone' });
    const channel = scene.channel();
    const ts = await forged(scene, channel, 'stop', crypto.randomUUID());
    const press = () => scene.slack.click({ person, channel, ts, actionId: 'stop' });
    await press();
    await scene.until('it is told', () => told(scene, person, channel).length === 1);
    // Slack does not show what stands in a thread without replies.
    expect(scene.slack.ephemerals(person, channel).map(({ threadTs }) => threadTs)).toEqual([undefined]);
    scene.slack.kick(channel);
    await press();
    await scene.until('it is told again', () => told(scene, person, channel).length === 2);
    expect(new Set(told(scene, person, channel))).toEqual(new Set([strings.controlFailed.unknown]));
  });

  test('in direct messages obeys only the person they belong to', async () => {
    const [lise, otto] = ['lise', 'otto'].map((name) =>
      scene.slack.createPerson({ name, admin: name === 'otto' }),
    );
    if (lise === undefined || otto === undefined) throw new Error('There are two.');
    const dm = scene.slack.openDm(lise);
    const root = scene.slack.say({ person: lise, channel: dm, text: '/slow 9000 between us' });
    const reply = await growing(scene, dm, root);
    const press = { channel: dm, ts: reply.ts, actionId: 'stop' };
    await scene.slack.click({ ...press, person: otto });
    expect(await refusals(scene, dm)).toEqual([[otto.id, 'stop', 'direct']]);
    const ts = await forged(scene, dm, 'steps', await turnOf(scene, root));
    await scene.slack.click({ channel: dm, ts, actionId: 'steps', person: otto });
    const shown = () => JSON.stringify(scene.slack.modal(otto)?.blocks ?? '');
    await scene.until('it says no', () => shown().includes(strings.controlRefused.direct));
    await scene.slack.click({ ...press, person: lise });
    await scene.finished(dm, root);
    expect(scene.shown(dm, root)).toContain('Stopped by lise.');
  });

  test('that starts the work again needs the same permission as the others', async () => {
    const channel = scene.channel();
    const { settings: channels } = scene.sandbox.bot.store;
    await channels.set(scene.slack.team.id, channel.id, scene.ada.id, { task_control: 'starter' });
    const root = scene.ask(channel, 'what is mine alone?');
    await scene.finished(channel, root);
    const value = await turnOf(scene, root);
    for (const actionId of ['new_thread', 'choose_again']) {
      const ts = await forged(scene, channel, actionId, value);
      await scene.slack.click({ person: scene.grace, channel, ts, actionId });
      const shown = () => JSON.stringify(scene.slack.modal(scene.grace)?.blocks ?? '');
      await scene.until('it says no', () => shown().includes(strings.controlRefused.starter));
      expect(shown()).not.toContain('mine alone');
      await scene.slack.closeView(scene.grace);
    }
    expect(await refusals(scene, channel)).toEqual([
      [scene.grace.id, 'new_thread', 'starter'],
      [scene.grace.id, 'choose_again', 'starter'],
    ]);
    const ts = await forged(scene, channel, 'new_thread', value);
    await scene.slack.click({ person: scene.ada, channel, ts, actionId: 'new_thread' });
    await scene.until('the form is there', () =>
      JSON.stringify(scene.slack.modal(scene.ada)?.blocks ?? '').includes('mine alone'),
    );
  });
});

test('the buttons on a reply that was not sent work after a restart, for those who may use them', async () => {
  const { slack, ada, grace } = starters;
  const alan = slack.createPerson({ name: 'alan' });
  const channel = starters.channel();
  const root = slack.say({ person: grace, channel, text: 'lunch?' });
  await starters.finished(channel, starters.reply(channel, root, `${starters.mention} how many groups?`));
  // Only mentions are read here: even what she says right after the answer is not sent.
  const hers = starters.reply(channel, root, 'and by age?');
  const his = starters.reply(channel, root, 'and by sex?', { person: alan });
  const noteOf = (person: Person) =>
    starters.until('it was told', () => {
      return slack.ephemerals(person, channel).find(({ text }) => text === strings.replyNotSent)?.ts;
    });
  const [herNote, hisNote] = [await noteOf(ada), await noteOf(alan)];
  await starters.sandbox.restartBot();
  await slack.click({ person: alan, channel, ts: hisNote, actionId: 'keep_listening' });
  await starters.until('he is refused', () =>
    told(starters, alan, channel).includes(strings.controlRefused.starter),
  );
  expect(await refusals(starters, channel)).toEqual([[alan.id, 'keep_listening', 'starter']]);
  expect(starters.sentToAgent('how many groups?').texts).toHaveLength(1);
  await slack.click({ person: alan, channel, ts: hisNote, actionId: 'send_reply' });
  await starters.finished(channel, his);
  await slack.click({ person: ada, channel, ts: herNote, actionId: 'keep_listening' });
  await starters.finished(channel, hers);
  await starters.finished(channel, starters.reply(channel, root, 'and by dose?', { person: alan }));
  const { texts } = starters.sentToAgent('how many groups?');
  expect(texts.slice(1).map((text) => /and by (\w+)\?$/.exec(text)?.[1])).toEqual(['sex', 'age', 'dose']);
});
