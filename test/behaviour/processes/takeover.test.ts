import { describe, expect, test } from 'vitest';
import { pause } from '../../support/app-scene.ts';
import { openProcessScene } from '../../support/process-scene.ts';

/** Longer than a lease (8 s) and than the queue waits for a process (10 s); FROZEN_SECONDS=<number> tries others. */
const frozenMs = Number(process.env.FROZEN_SECONDS ?? 14) * 1_000;
/** 15 s, and what a busy machine adds. */
const takeOverMs = 20_000;
/** 3 s on an idle machine; the other tests that run beside this one take their share. */
const restartMs = 8_000;
const drainMs = 10_000;
/** Milliseconds after its start at which a process is killed. */
const startUpMoments = [40, 190, 330, 480, 640, 770, 900, 990];

describe.concurrent('a process', () => {
  test('that was frozen in the middle of a send and of live replies does no harm when it wakes', async ({
    onTestFinished,
  }) => {
    const crew = await openProcessScene(onTestFinished);
    const frozen = await crew.start();
    await crew.observer.start();
    // They must not have ended when it wakes, also where the machine is busy.
    const seconds = frozenMs / 1_000 + 20;
    const live = [crew.ask('a live one', seconds), crew.ask('another live one', seconds)];
    await crew.until('the replies grow', () => live.every((root) => crew.grows(root)));
    const send = /^POST .*\/messages$/;
    crew.agent.faults.add({ call: send, fault: { kind: 'latency', ms: 300 }, times: 1 });
    const heard = crew.waitForCall('agent', send);
    const sending = crew.ask('one that is being sent');
    await heard;
    frozen.freeze();
    const asleep = pause(frozenMs);
    await crew.start();
    const takenUp = crew.takenUpAfter([...live, sending]);
    await asleep;
    await takenUp;
    expect(live.map((root) => JSON.stringify(crew.replies(root)).includes('End of'))).toEqual([false, false]);
    frozen.thaw();
    for (const root of live) crew.reply(root, 'and now');
    expect(await crew.damage()).toEqual({});
    expect(crew.replies(sending)).toHaveLength(1);
  });

  test('of two that dies: its turns go on in the other within 15 s, and what waits is not forgotten', async ({
    onTestFinished,
  }) => {
    const crew = await openProcessScene(onTestFinished);
    const first = await crew.start();
    await crew.observer.start();
    const live = ['this', 'that', 'and that'].map((text) => crew.ask(text, 16));
    await crew.until('the replies grow', () => live.every((root) => crew.grows(root)));
    for (const root of live) crew.reply(root, 'one that waits');
    await crew.slack.settled();
    await crew.start();
    await first.kill();
    expect(await crew.takenUpAfter(live)).toBeLessThan(takeOverMs);
    expect(await crew.damage()).toEqual({});
  });

  test('after the other, restarted under load, loses and repeats nothing, and goes within 10 s', async ({
    onTestFinished,
  }) => {
    const crew = await openProcessScene(onTestFinished);
    const old = [await crew.start(), await crew.start()];
    await crew.observer.start();
    const stops: { inTime: boolean; ms: number }[] = [];
    const roll = async () => {
      for (const bot of old) {
        await pause(1_000);
        const began = performance.now();
        const inTime = await bot.stop();
        stops.push({ inTime, ms: performance.now() - began });
        await crew.start();
      }
    };
    const rolling = roll();
    for (let i = 0; i < 24; i += 1) {
      const root = crew.ask(`question ${i}`, i % 4);
      await pause(150);
      if (i % 2 === 0) crew.reply(root, 'go on');
      await pause(100);
    }
    await rolling;
    expect(stops.map(({ inTime, ms }) => inTime && ms < drainMs)).toEqual([true, true]);
    expect(await crew.damage()).toEqual({});
  });

  test('killed at moments of its start starts again, and on the embedded database its turns are taken up within 3 s of the start', async ({
    onTestFinished,
  }) => {
    const crew = await openProcessScene(onTestFinished, 'embedded');
    const interrupted = async (moments: number[]) => {
      for (const ms of moments) {
        const bot = crew.spawn();
        await pause(ms);
        await bot.kill();
      }
    };
    // First while there is no database yet.
    await interrupted(startUpMoments);
    const bot = await crew.start();
    await crew.observer.start();
    const live = ['this', 'that'].map((text) => crew.ask(text, 10));
    await crew.until('the replies grow', () => live.every((root) => crew.grows(root)));
    await bot.kill();
    await interrupted(startUpMoments.filter((_, index) => index % 2 === 1));
    const starting = performance.now();
    const takenUp = crew.takenUpAfter(live);
    await crew.start();
    const startMs = performance.now() - starting;
    expect((await takenUp) - startMs).toBeLessThan(restartMs);
    for (const root of live) crew.reply(root, 'and now');
    expect(await crew.damage()).toEqual({});
  });
});
