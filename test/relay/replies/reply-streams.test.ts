import { beforeEach, expect, test, vi } from 'vitest';
import type { IdempotentPosts } from '../../../src/relay/replies/idempotent-posts.ts';
import { ReplyStreams } from '../../../src/relay/replies/reply-streams.ts';
import type { ShowRequest } from '../../../src/slack/live-edits.ts';
import { intendedPost } from '../../../src/store/threads/posts.ts';

const turn = { workspace: 'T1', id: 'turn', channel: 'D1', thread_ts: '1.000000' };
const lease = {
  signal: new AbortController().signal,
  draining: new AbortController().signal,
  remainingMs: () => 8_000,
};
const state = () => ({ isFinal: false, isBlank: false, unseenSinceMs: 0 });
const added: string[] = [];
let stops = 0;

/** The streams of a turn whose message an earlier process has begun (`known`), or none has. */
function streamsOf(known: boolean): ReplyStreams {
  const slack = {
    start: async () => ({ ts: '2.000000' }),
    append: async ({ render }: ShowRequest<string>) => {
      // Slack has throttled a first attempt.
      await render();
      const more = await render();
      if (more !== undefined) added.push(more);
      return more === undefined ? ('unchanged' as const) : ('shown' as const);
    },
    stop: async () => {
      stops += 1;
      return true;
    },
  };
  const post = { ...intendedPost(turn, 'reply:0'), ts: '2.000000', is_stream: true };
  const sendOnce: IdempotentPosts['sendOnce'] = async (_part, send) =>
    known || (await send({ channel: 'D1', key: 'k' })) !== undefined;
  return new ReplyStreams(slack, lease, { find: () => post, sendOnce });
}

const message = (markdown: string) => ({ text: '', blocks: [], markdown });
const append = (streams: ReplyStreams, markdown: string) =>
  streams.append('reply:0', { state, render: async () => message(markdown) });

beforeEach(() => {
  added.length = 0;
  stops = 0;
});

test('a stream gets what is missing, and nothing where the text has changed', async () => {
  const streams = streamsOf(false);
  expect(await streams.start('reply:0', message('one '))).toBe(true);
  expect(await append(streams, 'one two ')).toBe('shown');
  expect(await append(streams, 'one two three')).toBe('shown');
  expect(added).toEqual(['two ', 'three']);
  expect(await append(streams, 'one other three')).toBe('unchanged');
  expect(streams.shownBy('reply:0')).toBe('one two three');
});

test('after four minutes nothing is added to a stream, which can be stopped', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const streams = streamsOf(false);
    await streams.start('reply:0', message('one '));
    vi.advanceTimersByTime(239_000);
    expect(await append(streams, 'one two ')).toBe('shown');
    vi.advanceTimersByTime(2_000);
    expect(await append(streams, 'one two three')).toBe('unchanged');
    expect(await streams.stop('reply:0')).toBe(true);
    expect(await streams.stop('reply:0')).toBe(true);
    expect(stops).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});

test('nothing is added to a stream that another call has begun: nobody knows what it shows', async () => {
  const streams = streamsOf(true);
  expect(await streams.start('reply:0', message('one '))).toBe(true);
  expect(await append(streams, 'one two ')).toBe('unchanged');
  expect(added).toEqual([]);
});

test('a stream starts with text', async () => {
  const streams = streamsOf(false);
  expect(await streams.start('reply:0', message(' \n'))).toBe(false);
  expect(streams.shownBy('reply:0')).toBeUndefined();
  expect(await streams.start('reply:0', message('one '))).toBe(true);
});
