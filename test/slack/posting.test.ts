import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  ChannelGoneError,
  MessageGoneError,
  SlackLeaseError,
  SlackUnavailableError,
} from '../../src/slack/errors.ts';
import { Posting, type PostRequest } from '../../src/slack/posting.ts';
import { clientMsgId } from '../../src/slack/slack-message.ts';
import { withinMs } from '../support/busy-machine.ts';
import { silentLog } from '../support/silent-log.ts';
import { type SlackClientScene, startSlackClientScene } from '../support/slack-client-scene.ts';
import { lease } from '../support/slack-installation.ts';

let scene: SlackClientScene;
let posting: Posting;

beforeEach(async () => {
  scene = await startSlackClientScene();
  posting = new Posting(scene.client, silentLog);
  scene.slack.on('chat.postMessage', { body: { ok: true, ts: '100.000001' } });
});
afterEach(() => scene.slack.stop());

const hello: PostRequest = {
  channel: 'C1',
  threadTs: '99.000001',
  message: { text: 'Hello', blocks: [{ type: 'divider' }] },
  key: 'turn/0',
  kind: 'first',
};
const live = () => ({ isFinal: false, isBlank: false, unseenSinceMs: 0 });

describe('a post', () => {
  test('contains its key twice and unfurls nothing', async () => {
    expect(await posting.post(hello)).toEqual({ ts: '100.000001' });
    const args = scene.slack.calls[0]?.args ?? {};
    expect(args).toMatchObject({
      channel: 'C1',
      thread_ts: '99.000001',
      client_msg_id: clientMsgId('turn/0'),
      unfurl_links: 'false',
      unfurl_media: 'false',
    });
    expect(JSON.parse(args.metadata ?? '')).toEqual({
      event_type: 'taskthread_post',
      event_payload: { key: 'turn/0' },
    });
  });

  test('uses a permit of the workspace and one of the channel', async () => {
    await posting.post(hello);
    expect(scene.rateLimits.rules.map((rule) => rule.limitKey)).toEqual([
      'chat.postMessage',
      'chat.postMessage.channel/C1',
    ]);
  });

  test('asks for no other permits than those it was given', async () => {
    const permit = await posting.permitToPost(hello);
    await posting.post({ ...hello, permit });
    expect(scene.rateLimits.rules).toHaveLength(2);
  });

  test('leaves a second after the response to the previous post in the channel, however late that is', async () => {
    scene.slack.on('chat.postMessage', (_call, _request, response) => {
      setTimeout(() => response.end(JSON.stringify({ ok: true, ts: '1.0' })), 600);
      return undefined;
    });
    await Promise.all([posting.post({ ...hello, key: 'a' }), posting.post({ ...hello, key: 'b' })]);
    const [first, second] = scene.slack.callsOf('chat.postMessage');
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(1_500);
  });

  test('is not retried after an unknown outcome', async () => {
    scene.slack.on('chat.postMessage', { body: { ok: false, error: 'fatal_error' } });
    const error = await posting.post(hello).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(SlackUnavailableError);
    expect(error).toMatchObject({ outcome: 'unknown' });
    expect(scene.slack.calls).toHaveLength(1);
  });

  test('is retried after the pause of a 429', async () => {
    let calls = 0;
    scene.slack.on('chat.postMessage', () => {
      calls += 1;
      if (calls === 1) return { status: 429, headers: { 'retry-after': '1' } };
      return { body: { ok: true, ts: '5.0' } };
    });
    expect(await posting.post(hello)).toEqual({ ts: '5.0' });
    const [first, second] = scene.slack.calls;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990);
  });

  test('is not sent when the lease ends while it waits for its permit', async () => {
    scene.rateLimiter.backOff('chat.postMessage', 60_000);
    const guard = lease(60_000);
    const pending = posting.post({ ...hello, guard }).catch((caught: unknown) => caught);
    guard.lose();
    const error = await pending;
    expect(error).toBeInstanceOf(SlackLeaseError);
    expect(error).toMatchObject({ outcome: 'none' });
    expect(scene.slack.calls).toHaveLength(0);
  });

  test('that lands outside its thread is deleted, and fails as one whose thread is gone', async () => {
    const tries = [{ status: 503 }, { body: { ok: true } }];
    scene.slack.on('chat.delete', () => tries.shift() ?? { status: 500 });
    scene.slack.on('chat.postMessage', { body: { ok: true, ts: '100.000001', message: { text: 'Hello' } } });
    const error = await posting.post(hello).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(MessageGoneError);
    expect(error).toMatchObject({ slackCode: 'thread_not_found', outcome: 'none' });
    const deletions = scene.slack.callsOf('chat.delete').map(({ args }) => args);
    expect(deletions).toEqual([expect.objectContaining({ ts: '100.000001' }), expect.anything()]);
    scene.slack.on('chat.postMessage', {
      body: { ok: true, ts: '100.000002', message: { thread_ts: hello.threadTs } },
    });
    expect(await posting.post({ ...hello, key: 'turn/1' })).toEqual({ ts: '100.000002' });
  });

  test('to a channel that is gone fails with ChannelGoneError', async () => {
    scene.slack.on('chat.postMessage', { body: { ok: false, error: 'is_archived' } });
    await expect(posting.post(hello)).rejects.toBeInstanceOf(ChannelGoneError);
  });
});

describe('an edit', () => {
  test('shows the latest state when it is sent', async () => {
    scene.rateLimiter.backOff('chat.update', 200);
    let text = 'early';
    const done = posting.edit({ channel: 'C1', ts: '1.0', state: live, render: () => ({ text }) });
    text = 'late';
    expect(await done).toBe('shown');
    expect(scene.slack.calls.map((call) => call.args.text)).toEqual(['late']);
  });

  test('that changes nothing is not sent and returns its permit', async () => {
    const edit = { channel: 'C1', ts: '1.0', state: live };
    expect(await posting.edit({ ...edit, render: () => undefined })).toBe('unchanged');
    expect(await posting.edit({ ...edit, render: () => ({ text: 'now' }) })).toBe('shown');
    expect(scene.rateLimits.asked).toBe(1);
    expect(scene.slack.calls).toHaveLength(1);
  });

  test('without blocks omits the argument, so that Slack removes the old ones', async () => {
    await posting.edit({
      channel: 'C1',
      ts: '1.0',
      state: live,
      render: () => ({ text: 'plain', blocks: [] }),
    });
    expect(Object.keys(scene.slack.calls[0]?.args ?? {}).sort()).toEqual(['channel', 'text', 'ts']);
  });

  test('of a new message waits; a final one waits only a second', async () => {
    const { ts } = await posting.post(hello);
    const posted = performance.now();
    const run = vi.spyOn(scene.rateLimiter, 'run');
    const shown = posting.edit({
      channel: 'C1',
      ts,
      state: () => ({ ...live(), isFinal: true }),
      render: () => ({ text: 'end' }),
    });
    const notBefore = run.mock.lastCall?.[1].notBefore?.();
    await shown;
    const waited = (scene.slack.callsOf('chat.update')[0]?.at ?? 0) - posted;
    expect(notBefore).toBeLessThanOrEqual(posted + 1_000);
    expect(waited).toBeGreaterThan(900);
  });

  test('is skipped if there is no permit within its time limit', async () => {
    scene.rateLimiter.backOff('chat.update', 60_000);
    const edit = { channel: 'C1', ts: '1.0', state: live, render: () => ({ text: 'end' }), maxWaitMs: 100 };
    expect(await posting.edit(edit)).toBe('left_out');
    expect(scene.slack.callsOf('chat.update')).toHaveLength(0);
  });

  test('can be withdrawn', async () => {
    scene.rateLimiter.backOff('chat.update', 60_000);
    const withdraw = new AbortController();
    const done = posting.edit({
      channel: 'C1',
      ts: '1.0',
      state: live,
      render: () => ({ text: 'x' }),
      signal: withdraw.signal,
    });
    withdraw.abort(new Error('posted instead'));
    await expect(done).rejects.toThrow('posted instead');
  });
});

describe('reactions', () => {
  const mark = { channel: 'C1', ts: '1.0', name: 'eyes' };

  test('succeed if they are already there or already gone', async () => {
    scene.slack.on('reactions.add', { body: { ok: false, error: 'already_reacted' } });
    scene.slack.on('reactions.remove', { body: { ok: false, error: 'no_reaction' } });
    expect(await posting.addReaction(mark)).toBe('done');
    expect(await posting.removeReaction(mark)).toBe('done');
  });

  test.each(['message_not_found', 'channel_not_found', 'is_archived'])(
    'are gone with what they were on: %s',
    async (error) => {
      scene.slack.on('reactions.remove', { body: { ok: false, error } });
      expect(await posting.removeReaction(mark)).toBe('done');
    },
  );

  test('can be retried if Slack failed, but not if it refuses them', async () => {
    scene.slack.on('reactions.remove', { body: { ok: false, error: 'internal_error' } });
    expect(await posting.removeReaction(mark)).toBe('later');
    scene.slack.on('reactions.remove', { body: { ok: false, error: 'not_reactable' } });
    expect(await posting.removeReaction(mark)).toBe('refused');
  });

  test('are skipped if Slack refuses them', async () => {
    scene.slack.on('reactions.add', {
      body: { ok: false, error: 'missing_scope', needed: 'reactions:write' },
    });
    expect(await posting.addReaction(mark)).toBe('refused');
  });

  test('are skipped at once if no permit is available soon', async () => {
    scene.rateLimiter.backOff('reactions.add', 30_000);
    const start = performance.now();
    expect(await posting.addReaction(mark)).toBe('later');
    expect(performance.now() - start).toBeLessThan(withinMs(1_900));
    expect(scene.slack.calls).toHaveLength(0);
  });
});

describe('other calls', () => {
  test('deleting a message that is gone succeeds, deleting another’s message fails', async () => {
    scene.slack.on('chat.delete', { body: { ok: false, error: 'message_not_found' } });
    await posting.delete({ channel: 'C1', ts: '1.0' });
    scene.slack.on('chat.delete', { body: { ok: false, error: 'cant_delete_message' } });
    await expect(posting.delete({ channel: 'C1', ts: '1.0' })).rejects.toMatchObject({
      code: 'message_gone',
    });
  });

  test('ephemeral messages, permalinks and direct message channels work', async () => {
    scene.slack.on('chat.postEphemeral', { body: { ok: true, message_ts: '7.0' } });
    scene.slack.on('chat.getPermalink', { body: { ok: true, permalink: 'https://x.slack.com/p1' } });
    scene.slack.on('conversations.open', { body: { ok: true, channel: { id: 'D1' } } });
    await posting.postEphemeral({ channel: 'C1', user: 'U1', message: { text: 'psst' } });
    expect(scene.slack.calls).toHaveLength(1);
    expect(await posting.getPermalink({ channel: 'C1', ts: '1.0' })).toBe('https://x.slack.com/p1');
    expect(await posting.openDm('U1')).toBe('D1');
  });
});
