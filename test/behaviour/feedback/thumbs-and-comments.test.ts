import { describe, expect, test } from 'vitest';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import { parseTimeRange } from '../../../src/operate/command-runner.ts';
import { feedbackCommand, feedbackRows } from '../../../src/operate/feedback.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { type AppScene, openAppScene } from '../../support/app-scene.ts';

const scene = await openAppScene();
const { slack } = scene;
await scene.makeKnown(scene.grace);

async function answered(
  on: AppScene,
  channel: Channel,
  text: string,
): Promise<{ reply: Message; turn: string }> {
  const root = on.ask(channel, text);
  await on.finished(channel, root);
  const key = { workspace: on.slack.team.id, channel: channel.id, ts: root.ts };
  const turn = (await on.sandbox.bot.store.turns.ofMessage(key))?.id ?? '';
  const reply = on.replies(channel, root).find(({ blocks }) => JSON.stringify(blocks).includes('feedback'));
  if (reply === undefined) throw new Error('The answer has no thumbs.');
  return { reply, turn };
}

const kept = (on: AppScene, turn: string, person: string) =>
  on.sandbox.bot.store.feedback.get({ workspace: on.slack.team.id, turn_id: turn, user_id: person });

describe.concurrent('feedback on an answer', () => {
  test('is stored with the turn, one thumb for each person, and can be changed', async () => {
    const channel = scene.channel();
    const { reply, turn } = await answered(scene, channel, 'something to judge');
    expect(JSON.stringify(reply.blocks)).toContain('"type":"context_actions"');
    const press = { channel, ts: reply.ts, actionId: 'feedback' };
    const [good, bad] = [`good/${turn}`, `bad/${turn}`];
    await Promise.all([
      slack.click({ ...press, person: scene.ada, value: good }),
      slack.click({ ...press, person: scene.grace, value: bad }),
      slack.click({ ...press, person: scene.grace, value: bad }),
    ]);
    expect(await kept(scene, turn, scene.ada.id)).toMatchObject({ is_positive: true, comment: null });
    await slack.click({ ...press, person: scene.ada, value: bad });
    expect(await kept(scene, turn, scene.ada.id)).toMatchObject({ is_positive: false, comment: null });
    expect(await kept(scene, turn, scene.grace.id)).toMatchObject({ is_positive: false, comment: null });
  });

  test('can include a comment, which admins read in three places and which is erased with its person', async ({
    onTestFinished,
  }) => {
    const own = await openAppScene({}, onTestFinished);
    const channel = own.channel();
    const inbox = own.channel('feedback');
    // The channel exists only now.
    own.sandbox.config.FEEDBACK_CHANNEL = inbox.id;
    await own.sandbox.restartBot();
    const { reply, turn } = await answered(own, channel, 'something to comment on');
    const press = { person: own.ada, channel, ts: reply.ts, actionId: 'feedback', value: `bad/${turn}` };
    await own.slack.click(press);
    const thanks = await own.until('thanks are there', () => own.slack.ephemerals(own.ada, channel)[0]);
    const comment = { person: own.ada, channel, ts: thanks.ts, actionId: 'feedback_comment' };
    const body = { ok: false, error: 'expired_trigger_id' };
    own.slack.faults.add({ call: 'views.open', fault: { kind: 'status', status: 200, body }, times: 1 });
    await own.slack.click(comment);
    await own.until('it is told', () =>
      own.slack.ephemerals(own.ada, channel).some(({ text }) => text === strings.controlFailed.late),
    );
    await own.slack.click(comment);
    const modal = await own.until('the modal is filled', () => {
      const view = own.slack.modal(own.ada);
      return view?.callbackId === 'feedback_comment' && view;
    });
    expect(JSON.stringify(modal)).toContain(strings.feedback.title);
    expect((await own.slack.submitView(own.ada, { comment: 'Column b was left out.' })).acked).toBe(true);
    expect(await kept(own, turn, own.ada.id)).toMatchObject({
      is_positive: false,
      comment: 'Column b was left out.',
    });
    const told = () => own.slack.ephemerals(own.ada, channel).map(({ text }) => text);
    await own.until('it is confirmed', () => told().includes(strings.feedback.saved));
    const posted = await own.until('it is in the channel', () => own.slack.messages(inbox.id)[0]);
    for (const said of [own.slack.visibleText(posted), posted.text])
      expect(said).toMatch(/👎 ada commented[\s\S]*Column b was left out\./);
    const owner = own.slack.createPerson({ name: 'olga', realName: 'Olga', admin: true });
    await own.makeKnown(owner);
    own.slack.openHome(owner);
    await own.until('it is in the Home tab', () =>
      JSON.stringify(own.slack.home(owner)?.blocks ?? []).includes('Column b was left out.'),
    );
    const range = parseTimeRange(feedbackCommand, [
      '--since',
      '2020-01-01',
      '--workspace',
      own.slack.team.id,
    ]);
    const rows: unknown[] = [];
    for await (const row of feedbackRows(own.sandbox.bot.store, range)) rows.push(row);
    expect(rows).toMatchObject([
      { thumb: 'bad', comment: 'Column b was left out.', channel: channel.id, user_id: own.ada.id },
    ]);
    const page = await fetch(`http://127.0.0.1:${own.sandbox.bot.port}/metrics`);
    expect(await page.text()).toContain('taskthread_feedback{thumb="bad"} 1');
    await own.sandbox.bot.store.personErasure.eraseUser(own.slack.team.id, own.ada.id);
    expect(await kept(own, turn, own.ada.id)).toBeUndefined();
  });

  test('is not requested where Slack refuses the thumbs', async ({ onTestFinished }) => {
    const own = await openAppScene({ slack: { refusedBlocks: ['context_actions'] } }, onTestFinished);
    const channel = own.channel();
    const first = own.ask(channel, 'in a workspace without thumbs');
    await own.finished(channel, first);
    const blocks = JSON.stringify(own.replies(channel, first).at(-1)?.blocks);
    expect(blocks).toContain('"type":"markdown"');
    expect(blocks).not.toContain('feedback');
    const refused = () => own.slack.calls.filter(({ error }) => error === 'invalid_blocks').length;
    const before = refused();
    await own.finished(channel, own.ask(channel, 'another one there'));
    expect([before, refused()]).toEqual([1, 1]);
  });

  test('is not requested where there is no answer', async () => {
    const channel = scene.channel();
    const failed = scene.ask(channel, '/fail without an answer');
    const helped = scene.ask(channel, '');
    await Promise.all([scene.finished(channel, failed), scene.finished(channel, helped)]);
    const blocks = [...scene.replies(channel, failed), ...scene.replies(channel, helped)].map(
      (one) => one.blocks,
    );
    expect(JSON.stringify(blocks)).not.toContain('feedback');
    expect(scene.shown(channel, helped)).not.toContain('Took');
  });
});

test.concurrent('the first answer in a channel says, once, that it is automated and can be wrong', async ({
  onTestFinished,
}) => {
  const own = await openAppScene({}, onTestFinished);
  const channel = own.channel();
  const failed = own.ask(channel, '/fail first');
  await own.finished(channel, failed);
  const two = [own.ask(channel, 'one of two at once'), own.ask(channel, 'the other one')];
  await Promise.all(two.map((root) => own.finished(channel, root)));
  await own.sandbox.restartBot();
  const later = own.ask(channel, 'after a restart');
  await own.finished(channel, later);
  const other = own.ask(own.channel(), 'in another channel');
  const shown = [failed, ...two, later].map((root) => own.shown(channel, root)).join('\n');
  expect(shown.split(strings.automatedNotice)).toHaveLength(2);
  expect(own.shown(channel, failed)).not.toContain(strings.automatedNotice);
  await own.finished(own.slack.channel(other.channel), other);
  expect(own.shown(own.slack.channel(other.channel), other)).toContain(strings.automatedNotice);
});
