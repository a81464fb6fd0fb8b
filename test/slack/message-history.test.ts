import { afterEach, expect, test } from 'vitest';
import { MessageHistory } from '../../src/slack/message-history.ts';
import { type SlackClientScene, startSlackClientScene } from '../support/slack-client-scene.ts';

let scene: SlackClientScene;
afterEach(() => scene.slack.stop());

const metadata = (key: string) => ({ event_type: 'taskthread_post', event_payload: { key } });
const root = { ts: '1.000000', user: 'U1', text: 'hi' };
const request = {
  channel: 'C1',
  threadTs: '1.000000',
  key: 'turn/1',
  intendedAt: new Date(1_700_000_100_000),
};

/** Answers with one page after the other. */
function pages(...all: unknown[][]): void {
  scene.slack.on('conversations.replies', (call) => {
    const index = Number(call.args.cursor ?? 0);
    const next = index + 1 < all.length ? String(index + 1) : '';
    return { body: { ok: true, messages: all[index], response_metadata: { next_cursor: next } } };
  });
}

test('history finds the bot’s message by its key, on a later page too', async () => {
  scene = await startSlackClientScene();
  pages(
    [root, { ts: '2.000000', bot_id: 'BBOT', metadata: metadata('turn/0') }],
    [{ ts: '3.000000', bot_id: 'BBOT', metadata: metadata('turn/1') }],
  );
  expect(await new MessageHistory(scene.client).findOwnPost(request)).toEqual({ ts: '3.000000' });
  expect(scene.slack.calls[0]?.args).toMatchObject({
    channel: 'C1',
    ts: '1.000000',
    oldest: '1700000040.000000',
    include_all_metadata: 'true',
    limit: '200',
  });
});

test('history ignores another app’s message with the same key', async () => {
  scene = await startSlackClientScene();
  pages([root, { ts: '2.000000', bot_id: 'BOTHER', user: 'UOTHER', metadata: metadata('turn/1') }]);
  expect(await new MessageHistory(scene.client).findOwnPost(request)).toBeUndefined();
});

test('history ignores messages with other metadata or none', async () => {
  scene = await startSlackClientScene();
  pages([
    root,
    { ts: '2.000000', user: 'UBOT' },
    { ts: '3.000000', user: 'UBOT', metadata: { event_type: 'other', event_payload: { key: 'turn/1' } } },
  ]);
  expect(await new MessageHistory(scene.client).findOwnPost(request)).toBeUndefined();
});

test('history finds the bot’s stream, which has neither a key nor files, among other messages', async () => {
  scene = await startSlackClientScene();
  pages([
    root,
    { ts: '2.000000', user: 'UBOT', metadata: metadata('turn/0') },
    { ts: '3.000000', user: 'UBOT', files: [{ id: 'F1' }] },
    { ts: '4.000000', user: 'UBOT' },
    { ts: '5.000000', user: 'UBOT' },
  ]);
  const streamsExcept = new Set(['4.000000']);
  const found = new MessageHistory(scene.client).findOwnPost({ ...request, streamsExcept });
  expect(await found).toEqual({ ts: '5.000000' });
});

test('history reads the channel itself for a message outside threads', async () => {
  scene = await startSlackClientScene();
  scene.slack.on('conversations.history', {
    body: { ok: true, messages: [{ ts: '4.000000', bot_id: 'BBOT', metadata: metadata('turn/1') }] },
  });
  expect(await new MessageHistory(scene.client).findOwnPost({ ...request, threadTs: undefined })).toEqual({
    ts: '4.000000',
  });
});

test('a distributed app reads 15 messages, once a minute', async () => {
  scene = await startSlackClientScene({ distributed: true });
  pages([root]);
  const readBack = new MessageHistory(scene.client, true);
  await readBack.findOwnPost(request);
  expect(scene.slack.calls[0]?.args.limit).toBe('15');
  const second = new AbortController();
  const waiting = readBack.findOwnPost({ ...request, signal: second.signal });
  setTimeout(() => second.abort(new Error('still waiting')), 100);
  await expect(waiting).rejects.toThrow('still waiting');
  expect(scene.slack.calls).toHaveLength(1);
});
