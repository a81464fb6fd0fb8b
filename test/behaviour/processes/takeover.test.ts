import { describe, expect, test } from 'vitest';
import { OWN_HOST_SETTINGS } from '../../../sandbox/bot-settings.ts';
import { pause } from '../../support/app-scene.ts';
import { withinMs } from '../../support/busy-machine.ts';
import { openProcessScene } from '../../support/process-scene.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Longer than a lease (8 s) and than a claim (10 s); FROZEN_SECONDS=<number> tries others. */
const frozenMs = Number(process.env.FROZEN_SECONDS ?? 11) * 1_000;
/** 15 s, and what a busy machine adds. */
const takeOverMs = 20_000;
/** 3 s on an idle machine; the other tests that run beside this one take their share. */
const restartMs = 8_000;
/** Under 1 s on an idle machine, from when the new process is ready. */
const hostTakeOverMs = 5_000;
/** 3 to 4 s on an idle machine; without its lock, 10 s and more. */
const otherHostTakeOverMs = 7_000;
/** Milliseconds after its start at which a process is killed. */
const startUpMoments = [40, 700];

describe.concurrent('a process', () => {
  test('that was frozen during a send and live replies is followed within 15 s, and does no harm when it wakes', async ({
    onTestFinished,
  }) => {
    const crew = await openProcessScene(onTestFinished);
    const frozen = await crew.start();
    await crew.observer.start();
    const live = [crew.askWithoutEnd('a live one'), crew.askWithoutEnd('another live one')];
    await crew.until('the replies grow', () => live.every((root) => crew.grows(root)));
    for (const root of live) crew.reply(root, 'one that waits');
    await crew.slack.settled();
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
    expect(await takenUp).toBeLessThan(withinMs(takeOverMs));
    expect(live.map((root) => JSON.stringify(crew.replies(root)).includes('End of'))).toEqual([false, false]);
    frozen.thaw();
    for (const root of live) crew.reply(root, 'and now');
    crew.finishReplies();
    expect(await crew.damage()).toEqual({});
    expect(crew.replies(sending)).toHaveLength(1);
  });

  test('that is killed between a stop and what is sent instead is followed by one that sends it once', async ({
    onTestFinished,
  }) => {
    const crew = await openProcessScene(onTestFinished);
    const bot = await crew.start();
    await crew.observer.start();
    const root = crew.askWithoutEnd('a wrong one');
    await crew.until('the reply grows', () => crew.grows(root));
    const { user: person } = crew.reply(root, 'the right one');
    const channel = crew.said[0]?.channel ?? '';
    const notes = () => crew.slack.ephemerals(person, channel);
    await crew.until('there is a note', () => notes().length === 1);
    const cancel = /cancel$/;
    crew.agent.faults.add({ call: cancel, fault: { kind: 'latency', ms: 60_000 }, times: 1 });
    const heard = crew.waitForCall('agent', cancel);
    await crew.slack.click({ person, channel, ts: notes()[0]?.ts ?? '', actionId: 'send_instead' });
    await heard;
    await bot.kill();
    const texts = () =>
      crew.agent.tasks.flatMap(({ messages }) => messages.filter(({ role }) => role === 'user'));
    expect(texts()).toHaveLength(1);
    await crew.start();
    await crew.until('it is sent', () => texts().length > 1);
    crew.finishReplies();
    expect(await crew.damage()).toEqual({});
    expect(texts()).toHaveLength(2);
    expect(JSON.stringify(crew.replies(root))).toContain('Stopped by ada');
  });

  test('that is killed during its start starts again, and on the embedded database resumes its turns within 3 s', async ({
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
    const live = ['this', 'that'].map((text) => crew.askWithoutEnd(text));
    await crew.until('the replies grow', () => live.every((root) => crew.grows(root)));
    await bot.kill();
    await interrupted(startUpMoments.filter((_, index) => index % 2 === 1));
    const starting = performance.now();
    const takenUp = crew.takenUpAfter(live);
    await crew.start();
    const startMs = performance.now() - starting;
    expect((await takenUp) - startMs).toBeLessThan(withinMs(restartMs));
    for (const root of live) crew.reply(root, 'and now');
    crew.finishReplies();
    expect(await crew.damage()).toEqual({});
  });

  test('that is killed is followed at once by those that start on its host, and only it', async ({
    onTestFinished,
  }) => {
    const crew = await openProcessScene(onTestFinished);
    const [bot] = [await crew.start(), await crew.start()];
    await crew.observer.start();
    const live = ['these', 'those', 'others', 'more'].map((text) => crew.askWithoutEnd(text));
    await crew.until('the replies grow', () => live.every((root) => crew.grows(root)));
    await bot.kill();
    const holders = () =>
      crew.query(
        "select claim_id::text as id, holder::text from jobs where kind = 'turn' and holder is not null",
      );
    const [before, processes] = [await holders(), await crew.query('select id::text from processes')];
    expect(processes).toHaveLength(2);
    await Promise.all([crew.start(), crew.start()]);
    const lengths = live.map((root) => crew.length(root));
    const began = performance.now();
    await crew.until('all replies go on', () =>
      live.every((root, index) => crew.length(root) > (lengths[index] ?? 0)),
    );
    expect(performance.now() - began).toBeLessThan(withinMs(hostTakeOverMs));
    // The other process that lived has kept what it held.
    const [after, now] = [await holders(), await crew.query('select id::text from processes')];
    const left = processes.filter(({ id }) => now.some((row) => row.id === id));
    expect(left).toHaveLength(1);
    const ofSurvivor = (rows: typeof before) => rows.filter(({ holder }) => holder === left[0]?.id);
    expect(ofSurvivor(after).map(({ id }) => id)).toEqual(
      expect.arrayContaining(ofSurvivor(before).map(({ id }) => id)),
    );
    for (const root of live) crew.reply(root, 'and now');
    crew.finishReplies();
    expect(await crew.damage()).toEqual({});
  });

  test('that is killed on a host of its own is followed within 5 s by those that live', async ({
    onTestFinished,
  }) => {
    const crew = await openProcessScene(onTestFinished);
    const start = () => crew.start(undefined, OWN_HOST_SETTINGS);
    const [bot] = [await start(), await start()];
    await crew.observer.start();
    const live = ['these', 'those', 'others', 'more'].map((text) => crew.askWithoutEnd(text));
    await crew.until('the replies grow', () => live.every((root) => crew.grows(root)));
    const unlocked = 'select id from processes where locked_at is null';
    await waitFor(async () => expect(await crew.query(unlocked)).toEqual([]));
    await bot.kill();
    const killed = performance.now();
    const lengths = live.map((root) => crew.length(root));
    await crew.until('all replies go on', () =>
      live.every((root, index) => crew.length(root) > (lengths[index] ?? 0)),
    );
    expect(performance.now() - killed).toBeLessThan(withinMs(otherHostTakeOverMs));
    for (const root of live) crew.reply(root, 'and now');
    crew.finishReplies();
    expect(await crew.damage()).toEqual({});
  });

  test('whose lock is lost while it works goes on with its turns, and nobody else does', async ({
    onTestFinished,
  }) => {
    const crew = await openProcessScene(onTestFinished);
    for (const _ of [1, 2]) await crew.start(undefined, OWN_HOST_SETTINGS);
    await crew.observer.start();
    const live = ['these', 'those', 'others', 'more'].map((text) => crew.askWithoutEnd(text));
    await crew.until('the replies grow', () => live.every((root) => crew.grows(root)));
    const held = () =>
      crew.query(
        "select claim_id::text, holder::text from jobs where kind = 'turn' and holder is not null order by 1",
      );
    const before = await held();
    await crew.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'taskthread process' and datname = current_database()",
    );
    await pause(otherHostTakeOverMs);
    expect(await held()).toEqual(before);
    for (const root of live) crew.reply(root, 'and now');
    crew.finishReplies();
    expect(await crew.damage()).toEqual({});
  });
});
