import { afterEach, describe, expect, test } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';
import { unpacked } from '../../support/unpacked-record.ts';

/** A table with a row for each word. */
const tableOf = (words: string[]) => ['word', ...words].join('\n');

/** Holds back what is written after the answer. */
const answered = Promise.withResolvers<void>();

/**
 * Writes a note once, and the words of its message as a table: again with each message that has any, or in the background;
 * or into a log.
 */
const writer: AgentScript = async (turn) => {
  const [, when = '', words = ''] = /\b(write|later|log) (.*)/.exec(turn.text) ?? [];
  if (turn.task.results.length === 0) await turn.result('note.txt', 'text/plain', 'A note.');
  const write = () => turn.result('words.csv', 'text/csv', tableOf(words.split(' ')));
  if (when === 'write') await write();
  if (when === 'log') await turn.result('log.txt', 'text/plain', words);
  if (when === 'later') turn.background(() => answered.promise.then(write));
  turn.write('Done.');
};

const scene = await openAppScene({
  // What the service says of times is old enough to be believed at once.
  agent: { script: writer, now: () => Date.now() - 60_000 },
  limits: { watchIntervalMs: 600, maxBackgroundWaitMs: 0 },
});
const { agent, slack } = scene;
afterEach(() => scene.reset());

/** How often the thread lists the table. */
const listings = (channel: Channel, root: Message) =>
  scene.shown(channel, root).match(/words\.csv\n/g)?.length;

/** What the files hold that the bot has shared in a thread. */
async function sharedFiles(channel: Channel, root: Message): Promise<string[]> {
  const ids = scene.replies(channel, root).flatMap(({ fileIds }) => fileIds);
  return await Promise.all(ids.map(async (id) => String(await slack.fileBytes(id))));
}

async function askTwice(first: string, second: string) {
  const channel = scene.channel();
  const root = scene.ask(channel, first);
  await scene.finished(channel, root);
  expect(listings(channel, root)).toBe(1);
  await scene.finished(channel, scene.reply(channel, root, second));
  return { channel, root };
}

describe('a file that the agent writes again under its id', () => {
  test.each([
    ['size', 'write one two three'],
    ['time', 'write two one'],
  ])('is listed below the later answer, too, where its %s is another', async (_, second) => {
    agent.behaviour.rewrittenResult = 'same-id';
    const { channel, root } = await askTwice('write one two', second);
    expect(listings(channel, root)).toBe(2);
    const lists = scene.replies(channel, root).filter(({ text }) => text.includes('words.csv'));
    const [before, after] = lists.map((list) => slack.visibleText(list));
    expect(before).not.toContain(strings.resultUpdated);
    expect(after).toContain(strings.resultUpdated);
    expect(after).not.toContain('note.txt');
    const words = second.split(' ').slice(1);
    expect(await sharedFiles(channel, root)).toEqual([tableOf(['one', 'two']), tableOf(words)]);
  });

  test('in the background is listed as made after the answer', async () => {
    agent.behaviour.rewrittenResult = 'same-id-and-time';
    const { channel, root } = await askTwice('write one two', 'later one two three');
    answered.resolve();
    await scene.until('it is listed again', () => listings(channel, root) === 2);
    const list = scene.replies(channel, root).findLast(({ text }) => text.includes('words.csv'));
    expect(list && slack.visibleText(list)).toMatch(/made after the answer.*updated/s);
    await scene.expectStays(() => listings(channel, root), 2);
  });

  test('can still be had below the first answer, without what only later ones have written again', async () => {
    agent.behaviour.rewrittenResult = 'same-id';
    const { channel, root } = await askTwice('write one two', 'write one two three');
    for (const question of ['log a', 'log b c'])
      await scene.finished(channel, scene.reply(channel, root, question));
    const list = scene.replies(channel, root).find(({ text }) => text.includes('words.csv'));
    await slack.click({ person: scene.ada, channel, ts: list?.ts ?? '', actionId: 'fresh_links' });
    await scene.until('there are links', () =>
      JSON.stringify(slack.modal(scene.ada) ?? '').includes('note.txt'),
    );
    expect(JSON.stringify(slack.modal(scene.ada))).toContain('words.csv');
    expect(JSON.stringify(slack.modal(scene.ada))).not.toContain('log.txt');
    await slack.closeView(scene.ada);
    await slack.click({ person: scene.ada, channel, ts: list?.ts ?? '', actionId: 'download_all' });
    const archives = () => slack.messages(slack.openDm(scene.ada)).flatMap(({ fileIds }) => fileIds);
    const id = await scene.until('the archive is there', () => archives().at(-1));
    expect([...(await unpacked(await slack.fileBytes(id))).keys()].sort()).toEqual(['note.txt', 'words.csv']);
  });
});

test('a file that stays as it is is listed once, although its time is that of each answer of the service', async () => {
  agent.behaviour.oddHttp = () => ({
    rewrite: (json) => json.replaceAll(/"created_at":"[^"]*"/g, `"created_at":"${new Date().toISOString()}"`),
  });
  const { channel, root } = await askTwice('write one two', 'nothing');
  await scene.expectStays(() => listings(channel, root), 1);
});
