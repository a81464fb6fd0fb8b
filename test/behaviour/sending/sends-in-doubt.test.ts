import { afterEach, describe, expect, test } from 'vitest';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { type AppScene, openAppScene } from '../../support/app-scene.ts';

const SEND = 'POST /experimental/tasks/{task_id}/messages';
const LIST = 'GET /experimental/tasks/{task_id}/messages';

const scene = await openAppScene({ settings: { DRAIN_SECONDS: '0' }, limits: { resendMs: 2_000 } });
afterEach(() => scene.reset());

/** The turn of a message. */
const turnOf = (on: AppScene, channel: Channel, root: Message) =>
  on.sandbox.bot.store.turns.ofMessage({ workspace: on.slack.team.id, channel: channel.id, ts: root.ts });

/** A message whose send began and has no known outcome: it has reached the service (`lost`), or has not (`status`). */
async function inDoubt(on: AppScene, text: string, isThere: boolean) {
  const channel = on.channel();
  const fault = isThere ? ({ kind: 'lost' } as const) : ({ kind: 'status', status: 502 } as const);
  on.agent.faults.add({ call: SEND, fault, times: 1 });
  let isSent = false;
  // What may have been sent cannot be looked for yet.
  const mend = on.agent.faults.add({ call: LIST, fault: { kind: 'status', status: 503 } });
  const root = on.ask(channel, text);
  await on.until('the outcome of the send is unknown', async () => {
    isSent ||= (await turnOf(on, channel, root))?.send_intended_at != null;
    return isSent && on.shown(channel, root).includes("can't reach");
  });
  const [reply] = on.replies(channel, root);
  if (reply === undefined) throw new Error('There is no reply.');
  return { channel, root, reply, mend };
}

const taskOf = (on: AppScene, title: string) => on.taskOf(title);
const textsOf = (on: AppScene, title: string) => on.sentToAgent(title).texts;

describe('a message whose send has an unknown outcome', () => {
  test('is cancelled at the service where a stop and a restart came before it arrived', async () => {
    const channel = scene.channel();
    const arrives = Promise.withResolvers<void>();
    scene.agent.faults.add({ call: SEND, fault: { kind: 'hold', until: arrives.promise }, times: 1 });
    const root = scene.ask(channel, '/slow 9000 held');
    await scene.until(
      'it is being sent',
      async () => (await turnOf(scene, channel, root))?.send_intended_at != null,
    );
    const reply = await scene.until('there is a reply', () => scene.replies(channel, root)[0]);
    await scene.slack.click({ person: scene.ada, channel, ts: reply.ts, actionId: 'stop' });
    await scene.sandbox.restartBot();
    arrives.resolve();
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('Stopped by ada.');
    expect(taskOf(scene, '/slow 9000 held')?.status).toBe('cancelled');
    expect(textsOf(scene, '/slow 9000 held')).toHaveLength(1);
  });

  test('is cancelled at the service where its turn is abandoned', async () => {
    const { channel, root, mend } = await inDoubt(scene, '/slow 9000 abandoned', true);
    const longAgo = new Date(Date.now() - 3_600_000);
    await scene.sandbox.bot.store.db
      .updateTable('turns')
      .set({ attempts: 7, attempts_since: longAgo })
      .where('message_ts', '=', root.ts)
      .execute();
    const restarted = scene.sandbox.restartBot();
    mend();
    await restarted;
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain(strings.retriesExhausted);
    expect(taskOf(scene, '/slow 9000 abandoned')?.status).toBe('cancelled');
  });

  test('is followed once it is found, although its writer was erased meanwhile', async () => {
    const { channel, root, mend } = await inDoubt(scene, 'words to erase', true);
    await scene.sandbox.bot.store.personErasure.eraseUser(scene.slack.team.id, scene.ada.id);
    const restarted = scene.sandbox.restartBot();
    mend();
    await restarted;
    await scene.finished(channel, root);
    expect(textsOf(scene, 'words to erase')).toHaveLength(1);
    expect((await turnOf(scene, channel, root))?.outcome).toBe('completed');
  });

  test('is withdrawn if it was deleted and did not arrive', async () => {
    const { channel, root, mend } = await inDoubt(scene, 'deleted in doubt', false);
    scene.slack.remove(channel.id, root.ts);
    await scene.slack.settled();
    mend();
    await scene.until('no turn is left', async () => (await turnOf(scene, channel, root)) === undefined);
    expect(textsOf(scene, 'deleted in doubt')).toEqual([]);
    expect(scene.replies(channel, root)).toEqual([]);
  });

  test('goes with its new words if it was edited and did not arrive', async () => {
    const { channel, root, mend } = await inDoubt(scene, 'before the edit', false);
    scene.slack.edit(channel.id, root.ts, `${scene.mention} after the edit`);
    await scene.slack.settled();
    mend();
    await scene.until(
      'it is answered',
      async () => (await turnOf(scene, channel, root))?.finished_at != null,
    );
    expect(textsOf(scene, 'before the edit')).toEqual(['after the edit']);
  });

  test('is not sent again where the bot was turned off meanwhile', async () => {
    const { channel, root, mend } = await inDoubt(scene, 'closed in doubt', false);
    const { settings } = scene.sandbox.bot.store;
    await settings.set(scene.slack.team.id, channel.id, scene.ada.id, { answers_here: 'off' });
    mend();
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain(strings.closedPlaces.closed_by_channel);
    expect(textsOf(scene, 'closed in doubt')).toEqual([]);
  });
});

test('a channel gets its project where the turn that was creating it was stopped, and its process ended', async () => {
  const channel = scene.channel();
  const until = Promise.withResolvers<void>();
  scene.agent.faults.add({ call: 'POST /projects', fault: { kind: 'hold', until: until.promise }, times: 1 });
  const root = scene.ask(channel, 'the first of its channel');
  const { db } = scene.sandbox.bot.store;
  const intended = db.selectFrom('projects').select('claimed_by').where('channel', '=', channel.id);
  await scene.until('its project is being created', async () => (await intended.execute()).length > 0);
  const { ts } = await scene.until('there is a reply', () => scene.replies(channel, root)[0]);
  await scene.slack.click({ person: scene.ada, channel, ts, actionId: 'stop' });
  await scene.sandbox.restartBot();
  await scene.finished(channel, root);
  const next = scene.ask(channel, 'the second of its channel');
  await scene.finished(channel, next);
  expect(textsOf(scene, 'the second of its channel')).toHaveLength(1);
  until.resolve();
});

describe('Try again', () => {
  test.each([
    ['follows', 'the message of a turn that was given up, if it has arrived', true],
    ['sends', 'the message of a turn that was given up, if it has not arrived', false],
  ])('%s %s', async (what, _, isThere) => {
    const { channel, root, mend } = await inDoubt(scene, `given up, ${what}`, isThere);
    mend();
    const gone = scene.agent.faults.add({ call: LIST, fault: { kind: 'status', status: 404 } });
    await scene.finished(channel, root);
    const { ts } = await scene.messageWithButton(channel, root, 'retry');
    gone();
    await scene.slack.click({ person: scene.ada, channel, ts, actionId: 'retry' });
    await scene.until('it is answered', () => scene.shown(channel, root).includes(`given up, ${what}`));
    await scene.until('no turn goes on', async () => {
      const open = scene.sandbox.bot.store.db
        .selectFrom('turns')
        .select('id')
        .where('finished_at', 'is', null);
      return (await open.execute()).length === 0;
    });
    expect(textsOf(scene, 'given up')).toHaveLength(1);
  });
});
