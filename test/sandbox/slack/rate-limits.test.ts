import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RateLimits, SlidingWindow } from '../../../sandbox/slack/rate-limits.ts';
import { client, SteppedClock, workspaceWithBot } from '../../support/slack-workspace-fixture.ts';

async function status(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'ok';
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'retryAfter' in error)
      return `retry after ${String(error.retryAfter)}`;
    throw error;
  }
}

describe('rate limits', () => {
  test('no window of a minute ever holds more than the limit, and what fits is granted', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 300 });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 20 }), (waits, most) => {
        const window = new SlidingWindow(most, 60_000);
        const granted: number[] = [];
        let now = 0;
        for (const wait of waits) {
          now += wait;
          const inWindow = granted.filter((at) => at > now - 60_000).length;
          expect(window.fits(now)).toBe(inWindow < most);
          if (inWindow >= most) continue;
          window.add(now);
          granted.push(now);
        }
      }),
    );
  });

  test('a refused call takes no place, and is refused again until Retry-After is over', () => {
    const clock = new SteppedClock();
    const limits = new RateLimits({ tier3: 2, retryAfterSeconds: 10 }, clock, false);
    const edit = () => limits.take('chat.update', 'tier3', 'T1', 'C1');
    expect([edit(), edit(), edit()]).toEqual([0, 0, 10]);
    clock.pass(4000);
    expect(edit()).toBe(6);
    clock.pass(56_000);
    expect([edit(), edit()]).toEqual([0, 0]);
    expect(limits.refused).toEqual({ 'chat.update': 2 });
  });

  test('chat.update is refused at the 51st call of a minute, with 429 and Retry-After', async () => {
    const clock = new SteppedClock();
    const { slack, channel, client } = await workspaceWithBot({ clock, limits: {} });
    const { ts = '' } = await client.chat.postMessage({ channel: channel.id, text: 'x' });
    const edit = () => status(client.chat.update({ channel: channel.id, ts, text: 'y' }));
    for (let i = 0; i < 50; i += 1) expect(await edit()).toBe('ok');
    expect(await edit()).toBe('retry after 10');
    expect(slack.throttledCalls).toEqual({ 'chat.update': 1 });
    expect(slack.calls.at(-1)).toMatchObject({ status: 429, error: 'ratelimited' });
    clock.pass(60_001);
    expect(await edit()).toBe('ok');
  });

  test('other methods and other workspaces are not held', async () => {
    const {
      slack,
      channel,
      client: one,
    } = await workspaceWithBot({
      teams: [{ name: 'One' }, { id: 'T2', name: 'Two' }],
      limits: { methods: { 'auth.test': 1 } },
    });
    const two = client(slack, slack.teams[1]?.installation.token);
    expect(await status(one.auth.test())).toBe('ok');
    expect(await status(one.auth.test())).toBe('retry after 10');
    expect(await status(two.auth.test())).toBe('ok');
    expect(await status(one.chat.postMessage({ channel: channel.id, text: 'x' }))).toBe('ok');
  });

  test('posts are counted per channel and over the whole workspace', async () => {
    const clock = new SteppedClock();
    const { slack, channel, client } = await workspaceWithBot({
      clock,
      limits: { postsPerMinute: 5, retryAfterSeconds: 1 },
    });
    const other = slack.createChannel({ name: 'other' });
    const post = (where: string) => status(client.chat.postMessage({ channel: where, text: 'x' }));
    for (let i = 0; i < 3; i += 1) expect(await post(channel.id)).toBe('ok');
    expect(await post(channel.id)).toBe('retry after 1');
    expect([await post(other.id), await post(other.id), await post(other.id)]).toEqual([
      'ok',
      'ok',
      'retry after 1',
    ]);
    clock.pass(60_001);
    expect(await post(channel.id)).toBe('ok');
  });

  test('a distributed app reads threads once a minute, 15 objects at a time', async () => {
    const { slack, ann, channel, client } = await workspaceWithBot({ commercial: true, limits: {} });
    const root = slack.say({ person: ann, channel, text: 'root' });
    for (let i = 0; i < 20; i += 1) slack.say({ person: ann, channel, text: 'more', thread: root.ts });
    const read = () => client.conversations.replies({ channel: channel.id, ts: root.ts, limit: 200 });
    const first = await read();
    expect(first.messages).toHaveLength(15);
    expect(first.has_more).toBe(true);
    expect(await status(read())).toBe('retry after 10');
  });
});
