import { readFile } from 'node:fs/promises';
import { WebClient } from '@slack/web-api';
import { expect, test } from 'vitest';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene, pause } from '../../support/app-scene.ts';
import { withinMs } from '../../support/busy-machine.ts';
import { NEXT_RELEASE } from '../../support/compiled-programs.ts';
import { openProcessScene } from '../../support/process-scene.ts';

const drainMs = 10_000;

test('the next release migrates the database while this one works: both go on, stop within 10 s under load, and this one starts again on it', async ({
  onTestFinished,
}) => {
  const crew = await openProcessScene(onTestFinished);
  const before = await crew.start();
  await crew.observer.start();
  const live = ['this', 'that'].map((text) => crew.askWithoutEnd(text));
  await crew.until('the replies grow', () => live.every((root) => crew.grows(root)));

  const after = await crew.start(NEXT_RELEASE);
  const applied = await crew.query('select name from kysely_migration order by name');
  expect(applied.at(-1)).toEqual({ name: '0002-next-release' });

  const lengths = live.map((root) => crew.length(root));
  await crew.until('the replies of the older release grow', () =>
    live.every((root, index) => crew.length(root) > (lengths[index] ?? 0)),
  );
  const tasksAt = (log: string) => log.split('"msg":"task started"').length - 1;
  const already = tasksAt(await readFile(before.logFile, 'utf8'));
  for (let asked = 0; ; asked += 1) {
    const [older, newer] = await Promise.all(
      [before, after].map(async ({ logFile }) => tasksAt(await readFile(logFile, 'utf8'))),
    );
    if ((older ?? 0) > already && (newer ?? 0) > 0) break;
    if (asked === 60) throw new Error(`Of 60 questions, ${older} and ${newer} were taken.`);
    const root = crew.ask(`question ${asked}`);
    await crew.until('it is answered', () => crew.length(root) > 0);
  }
  const noted = await crew.query(
    'select (select count(*)::int from next_release_notes) + 2 as noted, count(*)::int as turns from turns',
  );
  expect(noted[0]?.noted).toBe(noted[0]?.turns);

  // The rollback: the older release starts on the newer tables, and the newer one stops.
  const again = await crew.start();
  const stops: { inTime: boolean; ms: number }[] = [];
  const stopEach = async () => {
    for (const bot of [after, before]) {
      await pause(500);
      const began = performance.now();
      const inTime = await bot.stop();
      stops.push({ inTime, ms: performance.now() - began });
    }
  };
  const stopping = stopEach();
  for (let asked = 0; asked < 8; asked += 1) {
    const root = crew.ask(`one while they stop, ${asked}`, asked % 4);
    await pause(150);
    if (asked % 2 === 0) crew.reply(root, 'go on');
    await pause(100);
  }
  await stopping;
  expect(stops.map(({ inTime, ms }) => inTime && ms < withinMs(drainMs))).toEqual([true, true]);
  crew.reply(crew.ask('one after the rollback'), 'and one more');
  crew.finishReplies();
  expect(await crew.damage()).toEqual({});
  const log = await readFile(again.logFile, 'utf8');
  expect(log).toMatch(/"migrations":\["0002-next-release"\].*its tables are left as they are/);
  const left = await crew.query('select name from kysely_migration order by name');
  expect(left).toEqual(applied);
  const logs = await Promise.all([before, after, again].map(({ logFile }) => readFile(logFile, 'utf8')));
  expect(logs.join('').match(/.*"level":"(?:error|fatal)".*/g)).toBeNull();
});

test('a button, or an item of a menu, that only another release knows tells who presses it', async ({
  onTestFinished,
}) => {
  const scene = await openAppScene({}, onTestFinished);
  const { slack, ada: person } = scene;
  const channel = scene.channel();
  const text = { type: 'plain_text' as const, text: 'Something new' };
  const elements = [
    { type: 'button' as const, text, action_id: 'open_thread', url: 'https://example.org' },
    { type: 'button' as const, text, action_id: 'something_new', value: '1' },
    { type: 'overflow' as const, action_id: 'menu', options: [{ text, value: 'something_new/1' }] },
  ];
  const bot = new WebClient(slack.botToken, { slackApiUrl: slack.apiUrl });
  const blocks = [{ type: 'actions' as const, elements }];
  const { ts = '' } = await bot.chat.postMessage({ channel: channel.id, text: 'An answer', blocks });
  await slack.click({ person, channel, ts, actionId: 'open_thread' });
  await slack.click({ person, channel, ts, actionId: 'something_new' });
  await slack.click({ person, channel, ts, actionId: 'menu', value: 'something_new/1' });
  const told = () => slack.ephemerals(person, channel).map((message) => message.text);
  await scene.until('both are told', () => told().length === 2);
  expect(told()).toEqual([strings.controlFailed.unknown, strings.controlFailed.unknown]);

  // A note that only they see keeps its other buttons.
  const note = { channel: channel.id, user: person.id, text: 'A note', blocks };
  const { message_ts: noteTs = '' } = await bot.chat.postEphemeral(note);
  await slack.click({ person, channel, ts: noteTs, actionId: 'something_new' });
  await scene.until('they are told beside the note', () => told().length === 4);
  expect(told()).toContain('A note');
});
