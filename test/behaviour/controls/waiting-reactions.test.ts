import { describe, expect, test } from 'vitest';
import type { Fault } from '../../../sandbox/faults.ts';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import { WAITING_EMOJI } from '../../../src/relay/runtime/incoming-message.ts';
import { type AppScene, openAppScene } from '../../support/app-scene.ts';

/** As many waiting reactions as a workspace has at one time. */
const most = 5;

const hasReaction = ({ reactions }: Message) => (reactions.get(WAITING_EMOJI)?.length ?? 0) > 0;

/** A thread whose agent works until it is stopped. */
async function busyThread(scene: AppScene, text: string): Promise<{ channel: Channel; root: Message }> {
  const channel = scene.channel();
  const root = scene.ask(channel, `${text}\n/slow 100000`);
  await scene.until('the turn has begun', () => scene.replies(channel, root).length > 0);
  return { channel, root };
}

/** The calls that were to take the waiting reaction from a message. */
function removals(scene: AppScene, ts: string) {
  return scene.slack.calls.filter(
    ({ method, args }) => method === 'reactions.remove' && args.timestamp === ts,
  );
}

test('a waiting reaction that Slack adds only after its message was taken back is removed all the same', async ({
  onTestFinished,
}) => {
  const scene = await openAppScene({}, onTestFinished);
  const { channel, root } = await busyThread(scene, 'one to wait for');
  const adding = Promise.withResolvers<void>();
  const { promise, resolve: add } = Promise.withResolvers<void>();
  const fault: Fault = {
    kind: 'hold',
    get until() {
      adding.resolve();
      return promise;
    },
  };
  scene.slack.faults.add({ call: 'reactions.add', fault, times: 1 });
  const waiting = scene.reply(channel, root, 'not this');
  await adding.promise;
  scene.slack.react(scene.ada, channel, waiting.ts, 'octagonal_sign');
  await scene.slack.settled();
  add();
  await scene.until('it was removed', () => removals(scene, waiting.ts).length > 0);
  expect(hasReaction(waiting)).toBe(false);
});

describe.concurrent('a waiting reaction that cannot be removed', () => {
  test('because its message was deleted is never tried, and new ones still appear', async ({
    onTestFinished,
  }) => {
    const scene = await openAppScene({}, onTestFinished);
    const { channel, root } = await busyThread(scene, 'one to wait for');
    const deleted = Array.from({ length: most }, (_, index) =>
      scene.reply(channel, root, `not this ${index}`),
    );
    await scene.until('they have waiting reactions', () => deleted.every(hasReaction));
    const other = await busyThread(scene, 'one more to wait for');
    const unmarked = scene.reply(other.channel, other.root, 'one too many');
    await scene.slack.settled();
    await scene.expectStays(() => hasReaction(unmarked), false);
    for (const { ts } of deleted) scene.slack.remove(channel.id, ts);
    await scene.slack.settled();
    // By the time the second of these is removed, whatever was tried again has been.
    const later: Message[] = [];
    for (let index = 0; index < 2; index += 1) {
      const { channel: other, root: working } = await busyThread(scene, `another one ${index}`);
      const waiting = scene.reply(other, working, 'marked all the same');
      await scene.until('a new one has a waiting reaction', () => hasReaction(waiting));
      scene.slack.react(scene.ada, other, waiting.ts, 'octagonal_sign');
      await scene.until('its reaction is removed', () => !hasReaction(waiting));
      later.push(waiting);
    }
    for (const { ts } of later) expect(removals(scene, ts)).toHaveLength(1);
    for (const { ts } of deleted) expect(removals(scene, ts)).toEqual([]);
  });

  test('because Slack refuses is given up at once, and new ones still appear', async ({ onTestFinished }) => {
    const scene = await openAppScene({}, onTestFinished);
    const refused = { kind: 'status', status: 200, body: { ok: false, error: 'not_reactable' } } as const;
    const { channel, root } = await busyThread(scene, 'one to wait for');
    const marked = Array.from({ length: most }, (_, index) => scene.reply(channel, root, `marked ${index}`));
    await scene.until('they have waiting reactions', () => marked.every(hasReaction));
    scene.slack.faults.add({ call: 'reactions.remove', fault: refused, times: most });
    for (const { ts } of marked) scene.slack.react(scene.ada, channel, ts, 'octagonal_sign');
    await scene.until('it was tried', () => marked.every(({ ts }) => removals(scene, ts).length > 0));
    const next = scene.reply(channel, root, 'one more');
    const { channel: other, root: working } = await busyThread(scene, 'another one');
    const waiting = scene.reply(other, working, 'marked all the same');
    await scene.until('a new one has a waiting reaction', () => hasReaction(waiting) || hasReaction(next));
    for (const { ts } of marked) expect(removals(scene, ts)).toHaveLength(1);
  });
});
