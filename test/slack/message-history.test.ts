import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import type { z } from 'zod';
import { MessageHistory } from '../../src/slack/message-history.ts';
import { RateLimitedClient } from '../../src/slack/rate-limits.ts';
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
    oldest: '1699999500.000000',
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

/** A client that gives pages of a thread as Slack does: from the oldest message of a window on, always with the root. */
class ClientOfThread extends RateLimitedClient {
  calls = 0;
  readonly #thread: readonly string[];

  constructor({ slackClient, rateLimiter }: RateLimitedClient, thread: readonly string[]) {
    super(slackClient, rateLimiter);
    this.#thread = thread;
  }

  override async call<S extends z.ZodType>(
    _method: string,
    args: Record<string, unknown>,
    { schema }: { schema: S },
  ): Promise<z.infer<S>> {
    this.calls += 1;
    const { ts: root, oldest, latest, limit, cursor = 0 } = args;
    const window = this.#thread.filter(
      (ts) => ts === root || (Number(ts) >= Number(oldest) && Number(ts) <= Number(latest)),
    );
    const end = Number(cursor) + Number(limit);
    const messages = window.slice(Number(cursor), end).map((ts) => ({ ts, text: ts }));
    const next_cursor = window.length > end ? String(end) : '';
    return schema.parse({ ok: true, messages, response_metadata: { next_cursor } });
  }
}

/** Replies of one thread, in bursts and after silences of up to ten days. */
const threadArbitrary = fc
  .array(fc.record({ silence: fc.nat(864_000), burst: fc.integer({ min: 1, max: 1_500 }) }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => {
    let end = 1_700_000_000;
    return parts.flatMap(({ silence, burst }) => {
      const start = end + silence + 1;
      end = start + burst;
      return Array.from({ length: burst }, (_, n) => (start + n).toFixed(6));
    });
  });

test('history reads the newest messages of a thread in a few calls, however long it is', async () => {
  scene = await startSlackClientScene();
  const newest = async (thread: string[], before: string, isDistributed = false) => {
    const client = new ClientOfThread(scene.client, thread);
    const [root = ''] = thread;
    const request = { channel: 'C1', threadTs: root, oldest: root, before, count: 20, isWanted: () => true };
    return {
      ...(await new MessageHistory(client, isDistributed).newestBefore(request)),
      calls: client.calls,
    };
  };
  await fc.assert(
    fc.asyncProperty(threadArbitrary, fc.nat(1_000_000), async (thread, silence) => {
      const before = (Number(thread.at(-1)) + 1 + silence).toFixed(6);
      const { messages, missing, calls } = await newest(thread, before);
      expect(messages.length).toBeGreaterThanOrEqual(Math.min(20, thread.length));
      const newestTs = thread.slice(1).slice(1 - messages.length);
      expect(messages.map(({ ts }) => ts)).toEqual([thread[0], ...newestTs]);
      expect(missing).toBe(messages.length < thread.length ? 'older' : undefined);
      expect(calls).toBeLessThanOrEqual(thread.length <= 200 ? 1 : 8 + messages.length / 199);
    }),
    { numRuns: 50 },
  );
  const long = Array.from({ length: 2_100 }, (_, n) => `${1_700_000_000 + n * 60}.000000`);
  expect(await newest(long, '1700126000.000000')).toMatchObject({ missing: 'older', calls: 4 });
  const page = await newest(long, '1700126000.000000', true);
  expect(page).toMatchObject({ messages: { length: 15 }, missing: 'later', calls: 1 });
});

test.each([
  ['the same cursor again', () => 'again', 2],
  ['cursors that lead in a circle', (page: number) => ['a', 'b', 'c'][page % 3] ?? '', 4],
  ['ever new cursors', (page: number) => `page ${page}`, 50],
])('history that ends with %s counts as unread, and not as without the post', async (_, cursor, pages) => {
  scene = await startSlackClientScene();
  let calls = 0;
  class ClientWithoutEnd extends RateLimitedClient {
    override async call<S extends z.ZodType>(_method: string, _args: unknown, { schema }: { schema: S }) {
      const response_metadata = { next_cursor: cursor(calls) };
      calls += 1;
      if (calls > 100) throw new Error('It is read without an end.');
      return schema.parse({ ok: true, messages: [root], response_metadata });
    }
  }
  const client = new ClientWithoutEnd(scene.client.slackClient, scene.client.rateLimiter);
  const found = new MessageHistory(client).findOwnPost(request);
  await expect(found).rejects.toMatchObject({ method: 'conversations.replies', code: 'unavailable' });
  expect(calls).toBe(pages);
});
