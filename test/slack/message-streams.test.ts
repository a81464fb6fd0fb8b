import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SlackLeaseError, SlackUnavailableError } from '../../src/slack/errors.ts';
import { MessageStreams } from '../../src/slack/message-streams.ts';
import { silentLog } from '../support/silent-log.ts';
import { type SlackClientScene, startSlackClientScene } from '../support/slack-client-scene.ts';
import { lease } from '../support/slack-installation.ts';

let scene: SlackClientScene;
let streams: MessageStreams;
let ages: number[];

beforeEach(async () => {
  scene = await startSlackClientScene();
  ages = [];
  streams = new MessageStreams(scene.client, silentLog, (ms) => ages.push(ms));
});
afterEach(() => scene.slack.stop());

const start = { channel: 'D1', threadTs: '99.000001', markdown: 'one' };
const message = { channel: 'D1', ts: '100.000001' };
const growing = {
  ...message,
  state: () => ({ isFinal: false, isBlank: false, unseenSinceMs: Date.now() - 50 }),
  render: async () => ' two',
};
const refuse = (method: string, error: string) => scene.slack.on(method, { body: { ok: false, error } });

describe('the start of a stream', () => {
  test('needs a permit of the workspace and one of the channel, after which its intent is recorded', async () => {
    const order: string[] = [];
    scene.slack.on('chat.startStream', () => {
      order.push('sent');
      return { body: { ok: true, ts: '100.000001' } };
    });
    const beforeSend = async () => void order.push('recorded');
    expect(await streams.start({ ...start, beforeSend })).toMatchObject({ ts: '100.000001' });
    expect(order).toEqual(['recorded', 'sent']);
    expect(scene.slack.calls[0]?.args).toMatchObject({ thread_ts: '99.000001', markdown_text: 'one' });
    expect(scene.rateLimits.rules.map((rule) => rule.limitKey)).toEqual([
      'chat.startStream',
      'chat.postMessage.channel/D1',
    ]);
  });

  test('is left out where no permit comes soon', async () => {
    await scene.rateLimits.pause('T1', 'chat.startStream', 60_000);
    expect(await streams.start(start)).toBeUndefined();
    expect(scene.slack.calls).toEqual([]);
  });

  test.each([
    ['unknown_method', false],
    ['missing_scope', false],
    ['internal_error', true],
    ['thread_not_found', true],
  ])('that Slack refuses with %s leaves the next one to be tried: %s', async (error, isAvailable) => {
    refuse('chat.startStream', error);
    await expect(streams.start(start)).rejects.toMatchObject({ slackCode: error });
    expect(streams.isAvailable).toBe(isAvailable);
  });
});

describe('an addition to a stream', () => {
  test('is rendered with its permit, and tells how old the text was', async () => {
    scene.slack.on('chat.appendStream', { body: { ok: true } });
    expect(await streams.append(growing)).toBe('shown');
    expect(scene.slack.calls[0]?.args).toMatchObject({ ...message, markdown_text: ' two' });
    expect(ages[0]).toBeGreaterThanOrEqual(50);
  });

  test('of nothing returns its permit', async () => {
    expect(await streams.append({ ...growing, render: async () => undefined })).toBe('unchanged');
    scene.slack.on('chat.appendStream', { body: { ok: true } });
    expect(await streams.append(growing)).toBe('shown');
    expect(scene.rateLimits.asked).toBe(1);
  });

  test.each(['stopped_by_user', 'message_not_in_streaming_state', 'msg_too_long', 'internal_error'])(
    'that fails with %s is refused',
    async (error) => {
      refuse('chat.appendStream', error);
      expect(await streams.append(growing)).toBe('refused');
    },
  );

  test('is not sent after the lease has ended', async () => {
    const guard = lease(5_000);
    guard.lose();
    await expect(streams.append({ ...growing, guard })).rejects.toBeInstanceOf(SlackLeaseError);
    expect(scene.slack.calls).toEqual([]);
  });
});

describe('the stop of a stream', () => {
  test('succeeds where there is none', async () => {
    refuse('chat.stopStream', 'message_not_in_streaming_state');
    expect(await streams.stop(message)).toBe(true);
  });

  test.each([['processing' as const], [undefined]])(
    'tells Slack of work that goes on: %s',
    async (status) => {
      scene.slack.on('chat.stopStream', { body: { ok: true } });
      expect(await streams.stop({ ...message, session_status: status })).toBe(true);
      expect(scene.slack.calls[0]?.args.session_status).toBe(status);
    },
  );

  test('is tried again by the caller where Slack may still do it', async () => {
    refuse('chat.stopStream', 'internal_error');
    await expect(streams.stop(message)).rejects.toBeInstanceOf(SlackUnavailableError);
    await scene.rateLimits.pause('T1', 'chat.stopStream', 60_000);
    expect(await streams.stop({ ...message, maxWaitMs: 10 })).toBe(false);
  });
});
