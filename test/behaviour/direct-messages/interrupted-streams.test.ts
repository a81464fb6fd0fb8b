import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { StoreError } from '../../../src/store/errors.ts';
import { openStreamScene } from '../../support/stream-scene.ts';

const scene = await openStreamScene();
const { slack } = scene;

/** Lets Slack refuse a method with this error, in all of the workspace. */
function refuse(call: string, error: string): () => void {
  return slack.faults.add({ call, fault: { kind: 'status', status: 200, body: { ok: false, error } } });
}

test('a stream that another process takes over is stopped, and edited from then on', async () => {
  const { channel, root } = scene.askInDm('one that is taken over');
  const { ts } = await scene.showing(channel, root, 'First');
  await scene.sandbox.restartBot();
  await scene.goOn('one that is taken over');
  const edited = await scene.showing(channel, root, 'Second');
  expect([edited.ts, edited.stream]).toEqual([ts, undefined]);
  expect(scene.calls('chat.stopStream', channel)).toMatchObject([{ ok: true }]);
  await scene.goOn('one that is taken over');
  await scene.finished(channel, root);
  expect(scene.replies(channel, root)).toMatchObject([{ ts, metadata: { event_type: 'taskthread_post' } }]);
});

test('a stream whose beginning has an unknown outcome is found, not begun again', async () => {
  const text = 'one that begins twice';
  const { channel, root } = scene.askInDm(text);
  slack.faults.add({ call: 'chat.startStream', fault: { kind: 'lost' }, times: 1 });
  const begun = await scene.showing(channel, root, 'First');
  await scene.sandbox.restartBot();
  await scene.goOn(text);
  const found = await scene.showing(channel, root, 'Second');
  expect([found.ts, found.stream]).toEqual([begun.ts, undefined]);
  await scene.goOn(text);
  await scene.finished(channel, root);
  expect(scene.replies(channel, root)).toMatchObject([{ ts: begun.ts }]);
  expect(scene.calls('chat.startStream', channel)).toHaveLength(1);
});

test('an earlier answer that no edit reached is not taken for a stream that begins', async () => {
  const [first, next] = ['one that no edit reaches', 'one that begins unanswered'];
  const { person, channel, root } = scene.askInDm(first);
  await scene.showing(channel, root, 'First');
  const accept = refuse('chat.update', 'edit_window_closed');
  for (let step = 0; step < 2; step += 1) await scene.goOn(first);
  await scene.finished(channel, root);
  accept();
  const shown = () => scene.replies(channel, root).map((message) => slack.visibleText(message));
  const before = shown();
  slack.faults.add({ call: 'chat.startStream', about: channel.id, fault: { kind: 'lost' }, times: 1 });
  const answered = slack.say({ person, channel, thread: root.ts, text: next });
  await scene.goOn(next);
  await scene.goOn(next);
  await scene.finished(channel, answered);
  expect(shown().slice(0, before.length)).toEqual(before);
});

test('a reply whose text cannot be set apart at once is posted once', async () => {
  const text = 'one beside a failing database';
  const failure = new StoreError('unavailable', 'The connection broke off.');
  const { posts } = scene.sandbox.bot.store;
  const renaming = vi.spyOn(posts, 'renamePart').mockRejectedValueOnce(failure);
  const { channel, root } = scene.askInDm(text);
  await scene.showing(channel, root, 'First');
  expect(scene.calls('chat.postMessage', channel)).toHaveLength(1);
  expect(renaming).toHaveBeenCalledTimes(2);
  for (let step = 0; step < 2; step += 1) await scene.goOn(text);
  await scene.finished(channel, root);
  expect(scene.replies(channel, root)).toHaveLength(1);
});

test('after any refusal, a reply goes on by edits in the same message', async () => {
  const { channel, root } = scene.askInDm('a refused one');
  const { ts } = await scene.showing(channel, root, 'First');
  const accept = [
    refuse('chat.appendStream', 'stopped_by_user'),
    refuse('chat.stopStream', 'message_not_in_streaming_state'),
  ];
  // What Slack does in the end, too: it ends the stream itself.
  delete scene.slack.message(channel, ts).stream;
  await scene.goOn('a refused one');
  expect((await scene.showing(channel, root, 'Second')).ts).toBe(ts);
  for (const end of accept) end();
  await scene.goOn('a refused one');
  await scene.finished(channel, root);

  const stop = refuse('chat.startStream', 'channel_type_not_supported');
  const second = scene.askInDm('another');
  await scene.showing(second.channel, second.root, 'First');
  await scene.goOn('another');
  await scene.showing(second.channel, second.root, 'Second');
  await scene.goOn('another');
  await scene.finished(second.channel, second.root);
  expect(scene.replies(second.channel, second.root)).toHaveLength(1);
  stop();
});

describe("Slack's own status of an agent", () => {
  test.each([
    ['a rewritten answer', 'different'],
    ['one of a restarted process', 'Second'],
  ])(
    'stays while the agent works on %s, whose stream has ended, and goes with the work',
    async (text, next) => {
      const more = { slack: { agent: true }, settings: { AGENT_SESSIONS: 'true' } };
      const agent = await openStreamScene(more, onTestFinished);
      const { channel, root } = agent.askInDm(text);
      const status = () => agent.slack.status(channel.id, root.ts)?.status;
      await agent.showing(channel, root, 'First');
      if (text.includes('restarted')) await agent.sandbox.restartBot();
      await agent.goOn(text);
      expect((await agent.showing(channel, root, next)).stream).toBeUndefined();
      await agent.expectStays(status, 'processing');
      await agent.goOn(text);
      await agent.finished(channel, root);
      await agent.until('the status is gone', () => status() === 'active');
    },
  );

  test('goes with the last stream where Slack refuses to be told of the end', async () => {
    const more = { slack: { agent: true }, settings: { AGENT_SESSIONS: 'true' } };
    const agent = await openStreamScene(more, onTestFinished);
    const body = { ok: false, error: 'user_not_found' };
    const fault = { kind: 'status', status: 200, body } as const;
    agent.slack.faults.add({ call: 'agents.sessions.setStatus', about: 'active', fault });
    const { channel, root } = agent.askInDm('plain');
    await agent.goOn('plain');
    await agent.goOn('plain');
    await agent.finished(channel, root);
    expect(agent.calls('chat.stopStream', channel)).toHaveLength(1);
    expect(agent.slack.status(channel.id, root.ts)?.status).toBe('active');
  });
});
