import { afterEach, describe, expect, test } from 'vitest';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { type AppScene, openAppScene } from '../../support/app-scene.ts';

const files = [{ name: 'late.csv', mime: 'text/csv', bytes: 'a,b\n1,2\n' }];
const uploads = 'POST /experimental/files';

/** What the store knows of a message, by its ts. */
function known(scene: AppScene, channel: Channel, ts: string) {
  const { turns, messages } = scene.sandbox.bot.store;
  const key = { workspace: scene.slack.team.id, channel: channel.id, ts };
  return {
    key,
    turn: async () => turns.ofMessage(key),
    state: async () => (await messages.get(key))?.state,
  };
}

/** A thread whose second message uploads until `goOn`, while Slack holds a copy of an earlier one up. */
async function overtaken(scene: AppScene, title: string) {
  const channel = scene.channel();
  const root = scene.ask(channel, title);
  await scene.finished(channel, root);
  return { channel, root, ...(await later(scene, channel, root)) };
}

async function later(scene: AppScene, channel: Channel, root: Message) {
  const { promise, resolve: goOn } = Promise.withResolvers<void>();
  scene.agent.faults.add({ call: uploads, fault: { kind: 'hold', until: promise }, times: 1 });
  const message = scene.reply(channel, root, 'the later one', { files });
  const turn = await scene.until('its turn has begun', known(scene, channel, message.ts).turn);
  return { message, turn, goOn };
}

/** The copy of an earlier message is written down only now; its ts. */
async function arrives(scene: AppScene, channel: Channel, root: Message, after: Message, more = {}) {
  const [whole = '', fraction = ''] = after.ts.split('.');
  const ts = `${Number(whole) - 1}.${fraction}`;
  const words = { text: 'the earlier one', ...more };
  const row = {
    thread_ts: root.ts,
    user_id: scene.grace.id,
    state: 'waiting',
    content: words,
    edited_ts: null,
  } as const;
  await scene.sandbox.bot.store.messages.add(known(scene, channel, ts).key, row);
  return ts;
}

describe('a message that arrives late, while a newer one is being sent,', async () => {
  const scene = await openAppScene();
  afterEach(() => scene.reset());

  test('is sent first, in its place in the thread', async () => {
    const before = scene.agent.calls.length;
    const { channel, root, message, turn, goOn } = await overtaken(scene, 'the first of four');
    const earlier = await arrives(scene, channel, root, message);
    goOn();
    scene.reply(channel, root, 'the last one');
    await scene.until('three are sent', () => scene.sentToAgent('the first of four').texts.length >= 3);
    const { texts, fileIds } = scene.sentToAgent('the first of four');
    expect(texts.slice(0, 3)).toEqual([
      'the first of four',
      `${strings.unnamedWriter('ada')}\n\ngrace: the earlier one`,
      expect.stringMatching(/^ada:\s+the later one/),
    ]);
    expect((await known(scene, channel, earlier).turn())?.id).toBe(turn.id);
    await scene.finished(channel, message);
    expect(fileIds.slice(0, 3).map((ids) => ids.length)).toEqual([0, 0, 1]);
    expect(scene.agent.calls.slice(before).filter(({ name }) => name === uploads)).toHaveLength(1);
  });

  test('is what a stop ends, and the newer one is paused', async () => {
    const { channel, root, message, turn, goOn } = await overtaken(scene, 'stopped');
    const elsewhere = scene.slack.say({
      person: scene.grace,
      channel: scene.channel(),
      text: 'a file',
      files,
    });
    const { promise, resolve: uploadEarlier } = Promise.withResolvers<void>();
    scene.agent.faults.add({ call: uploads, fault: { kind: 'hold', until: promise }, times: 1 });
    const shared = elsewhere.fileIds.map((id) => ({
      id,
      mode: 'file_access',
      file_access: 'check_file_info',
    }));
    const earlier = await arrives(scene, channel, root, message, { files: shared });
    goOn();
    await scene.until("the turn is the earlier one's", known(scene, channel, earlier).turn);
    const reply = await scene.until('its reply is there', () => scene.replies(channel, root).at(1));
    await scene.slack.click({ person: scene.ada, channel, ts: reply.ts, actionId: 'stop' });
    uploadEarlier();
    const { turns } = scene.sandbox.bot.store;
    const isOver = async () => (await turns.get(turn.workspace, turn.id))?.finished_at != null;
    await scene.until('the turn is over', isOver);
    expect(await known(scene, channel, earlier).state()).toBe('closed');
    expect(await known(scene, channel, message.ts).state()).toBe('waiting');
    const paused = await scene.until('the thread names the paused messages', () =>
      scene.replies(channel, root).find(({ text }) => text.startsWith('1 message is waiting')),
    );
    await scene.slack.click({ person: scene.ada, channel, ts: paused.ts, actionId: 'send_paused' });
    await scene.finished(channel, message);
    expect(scene.sentToAgent('stopped').texts).toEqual(['stopped', 'the later one']);
  });

  test('may be refused by the service, and the newer one is still sent', async () => {
    const { channel, root, message, goOn } = await overtaken(scene, 'refused');
    const refused = { kind: 'status', status: 422, body: { detail: 'no' } } as const;
    const sends = 'POST /experimental/tasks/{task_id}/messages';
    scene.agent.faults.add({ call: sends, fault: refused, times: 1 });
    const earlier = await arrives(scene, channel, root, message);
    goOn();
    await scene.finished(channel, message);
    expect(scene.sentToAgent('refused').texts).toEqual(['refused', 'ada: the later one']);
    expect(await known(scene, channel, earlier).state()).toBe('closed');
    expect(await known(scene, channel, message.ts).state()).toBe('sent');
  });

  test('waits together with the newer one where a silent run accepts neither', async ({ onTestFinished }) => {
    const silent = await openAppScene(
      { agent: { behaviour: { messageToRunning: 409 } }, limits: { silenceMs: 1_000 } },
      onTestFinished,
    );
    const channel = silent.channel();
    const root = silent.ask(channel, '/silent 9000');
    await silent.until('the reply says that the agent is silent', () =>
      silent.shown(channel, root).includes('No news'),
    );
    const { message, goOn } = await later(silent, channel, root);
    const earlier = await arrives(silent, channel, root, message);
    goOn();
    await silent.until('one is refused', () => silent.agent.calls.some(({ status }) => status === 409));
    await silent.hurry('/silent');
    await silent.finished(channel, message);
    expect(silent.sentToAgent('/silent').texts).toEqual([
      '/silent 9000',
      `${strings.unnamedWriter('ada')}\n\ngrace: the earlier one`,
      expect.stringMatching(/^ada:\s+the later one/),
    ]);
    expect(await known(silent, channel, earlier).state()).toBe('sent');
  });
});
