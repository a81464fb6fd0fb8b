import { expect, test, vi } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import type { Fault } from '../../../sandbox/faults.ts';
import { LiveReply } from '../../../src/relay/replies/live-reply.ts';
import { openAppScene } from '../../support/app-scene.ts';

test.concurrent('a restart in the middle of an answer removes no text that people could read', async ({
  onTestFinished,
}) => {
  const scene = await openAppScene({}, onTestFinished);
  const channel = scene.channel();
  const root = scene.ask(channel, '/slow 9000');
  const first = () => scene.replies(channel, root)[0];
  const words = /Second 1 of/;
  await scene.until('the answer grows', () => words.test(first()?.text ?? ''));
  const before = first()?.versions.length ?? 0;
  await scene.sandbox.restartBot();
  await scene.until('the answer grows again', () => (first()?.versions.length ?? 0) > before);
  await scene.hurry('/slow 9000');
  await scene.finished(channel, root);
  const versions = first()?.versions ?? [];
  const begun = versions.findIndex(({ text }) => words.test(text));
  expect(begun).toBeGreaterThan(0);
  expect(versions.slice(begun).filter(({ text }) => !words.test(text))).toEqual([]);
  expect(scene.replies(channel, root).filter(({ text }) => /working/.test(text))).toEqual([]);
});

test.concurrent('a stopping process waits for no call that can be repeated, and hands its turns over meanwhile', async ({
  onTestFinished,
}) => {
  const limits = { watchIntervalMs: 200, maxBackgroundWaitMs: 0 };
  const scene = await openAppScene({ settings: { DRAIN_SECONDS: '60' }, limits }, onTestFinished);
  const { faults } = scene.agent;
  const channel = scene.channel();
  const watched = scene.ask(channel, 'watched from now on');
  await scene.finished(channel, watched);
  /** Since when the look is tried that is under way, in whatever process. */
  const triedSince = async () => {
    const { db } = scene.sandbox.bot.store;
    const row = await db
      .selectFrom('jobs')
      .select('tried_since')
      .where('kind', '=', 'follow_up')
      .where('thread_ts', '=', watched.ts)
      .execute();
    return row[0]?.tried_since;
  };
  const [root, other] = [scene.ask(channel, '/slow 9000 one'), scene.ask(channel, '/slow 9000 two')];
  for (const slow of [root, other])
    await scene.until('the answer grows', () => scene.shown(channel, slow).includes('Second'));
  const hits = vi.spyOn(faults, 'hit');
  const hangs = (fault: Fault) => hits.mock.results.some(({ value }) => value === fault);
  const look: Fault = { kind: 'latency', ms: 600_000 };
  const stop = { ...look };
  const mend = [
    faults.add({ call: /^GET .*results$/, fault: look }),
    faults.add({ call: /^POST .*cancel$/, fault: stop }),
  ];
  scene.reply(channel, other, 'stop');
  await scene.until('a look and a stop hang', () => hangs(look) && hangs(stop));
  const before = await triedSince();
  await scene.sandbox.restartBot();
  expect(before).toBeInstanceOf(Date);
  expect(await triedSince()).toEqual(before);
  for (const end of mend) end();
  await scene.hurry('/slow 9000 one');
  for (const slow of [root, other]) await scene.finished(channel, slow);
  expect(scene.shown(channel, root)).toContain('Second 9000 of 9000');
  expect(scene.shown(channel, other)).toContain('Stopped by ada.');
});

test('a stopping process begins no further message of a growing answer, and the next one shows the rest', async ({
  onTestFinished,
}) => {
  const rest = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const script: AgentScript = async (turn) => {
    turn.write('To begin with. ');
    await rest.promise;
    turn.write(Array.from({ length: 2_000 }, (_, at) => `Paragraph ${at} stands here.\n\n`).join(''));
    await end.promise;
  };
  const scene = await openAppScene({ agent: { script } }, onTestFinished);
  const channel = scene.channel();
  const root = scene.ask(channel, 'a long answer');
  await scene.until('the answer begins', () => scene.shown(channel, root).includes('To begin with'));
  const sent = Promise.withResolvers<void>();
  const held: Fault = { kind: 'hold', until: sent.promise };
  const hits = vi.spyOn(scene.slack.faults, 'hit');
  const close = vi.spyOn(LiveReply.prototype, 'close');
  onTestFinished(() => close.mockRestore());
  scene.slack.faults.add({ call: 'chat.postMessage', about: root.ts, fault: held, times: 1 });
  rest.resolve();
  const isHeld = () => hits.mock.results.some(({ value }) => value === held);
  await scene.until('the second message is on its way', isHeld);
  const stopped = scene.sandbox.bot.stop();
  await scene.until('the reply is closed', () => close.mock.calls.length > 0);
  sent.resolve();
  await stopped;
  expect(scene.replies(channel, root)).toHaveLength(2);
  await scene.sandbox.restartBot();
  end.resolve();
  await scene.finished(channel, root);
  expect(scene.shown(channel, root)).toContain('Paragraph 1999 stands here.');
});
